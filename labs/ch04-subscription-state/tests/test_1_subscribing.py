"""Task 1: topics, a pattern, or partitions; and what the group's leader watches."""

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
    assert state.type is SubscriptionType.AUTO_TOPICS, "what was refused has changed nothing"
    assert not is_illegal(lambda: subscribe("u")), "other topics in the same way are fine"
    state.unsubscribe()
    assert not is_illegal(ways[1]), "after unsubscribe every way is open"


@pytest.mark.points(9, task=1)
def test_whether_it_has_changed(state, subscribe):
    """The same topics, other ones, fewer"""
    listener = ConsumerRebalanceListener()
    assert subscribe("t", "u") is True, "t and u are others than before: True, metadata are needed"
    assert state.subscribe(["u", "t"], listener) is False, "u and t are the topics of before: False"
    assert state.listener is listener, "the topics are the same, and the listener is another one: it counts"
    assert subscribe("t") is True, "fewer topics are a change as well: True"
    assert state.subscription == {"t"}, f"the subscription is replaced: t, not {sorted(state.subscription)}"


@pytest.mark.points(8, task=1)
def test_the_leader_watches_all(state, subscribe, is_illegal, partitions):
    """Another member reads u"""
    subscribe("t")
    assert state.group_subscribe(["t", "u"]) is True, "u is new to the leader: True, its metadata are needed"
    assert state.group_subscribe(["u"]) is False, "u is watched already: False"
    assert state.metadata_topics == {"t", "u"}, f"t and u are watched; you watch {sorted(state.metadata_topics)}"
    assert state.subscription == {"t"}, "what the others read is not what this consumer has subscribed to"
    subscribe("v")
    assert state.metadata_topics >= {"u", "v"}, "the others' topics are watched until somebody else leads"
    state.unsubscribe()
    state.assign_from_user(partitions("t-0"))
    assert is_illegal(lambda: state.group_subscribe(["u"])), "who assigns by hand has no group"
