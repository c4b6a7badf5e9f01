"""Task 1: topics, a pattern, or partitions; and the topics that a group's leader watches."""

import re

import pytest

from kafka_lite.consumer.consumer_rebalance_listener import NO_LISTENER, ConsumerRebalanceListener
from kafka_lite.consumer.subscription_state import SubscriptionType


@pytest.mark.points(8, task=1)
def test_one_way_excludes_the_others(state, subscribe, partitions, is_illegal):
    """Topics, then a pattern, then partitions, then unsubscribe"""
    subscribe("t")
    assert state.type is SubscriptionType.AUTO_TOPICS, f"topics were subscribed to: AUTO_TOPICS, not {state.type.name}"
    ways = (
        lambda: state.subscribe_pattern(re.compile("t.*"), NO_LISTENER),
        lambda: state.assign_from_user(partitions("t-0")),
    )
    for way in ways:
        assert is_illegal(way), "one way excludes the others until unsubscribe: raise IllegalConsumerStateError"
    assert state.type is SubscriptionType.AUTO_TOPICS, "a rejected call must not change anything"
    assert not is_illegal(lambda: subscribe("u")), "other topics by the same way are allowed"
    state.unsubscribe()
    assert not is_illegal(ways[1]), "after unsubscribe every way is allowed"


@pytest.mark.points(9, task=1)
def test_whether_the_subscription_has_changed(state, subscribe):
    """The same topics, other ones, fewer"""
    listener = ConsumerRebalanceListener()
    assert subscribe("t", "u") is True, "t and u are new: True, their metadata is needed"
    assert state.subscribe(["u", "t"], listener) is False, "u and t are the same topics as before: False"
    assert state.listener is listener, "the topics are the same, but the listener is new: it must be used"
    assert subscribe("t") is True, "fewer topics are a change, too: True"
    assert state.subscription == {"t"}, f"the subscription is replaced: t, not {sorted(state.subscription)}"


@pytest.mark.points(8, task=1)
def test_the_leader_watches_all_topics(state, subscribe, is_illegal, partitions):
    """Another member subscribes to u"""
    subscribe("t")
    assert state.group_subscribe(["t", "u"]) is True, "u is new to the leader: True, its metadata is needed"
    assert state.group_subscribe(["u"]) is False, "u is already watched: False"
    assert state.metadata_topics == {"t", "u"}, f"t and u are watched; you watch {sorted(state.metadata_topics)}"
    assert state.subscription == {"t"}, "this consumer has not subscribed to the topics of the others"
    subscribe("v")
    assert state.metadata_topics >= {"u", "v"}, "the others' topics are watched until another member leads"
    state.unsubscribe()
    state.assign_from_user(partitions("t-0"))
    assert is_illegal(lambda: state.group_subscribe(["u"])), "a consumer that assigns by hand has no group"
