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
    state.assign_from_subscribed(partitions("t-1"))
    assert is_illegal(ways[1]), "one way excludes the others until unsubscribe: raise IllegalConsumerStateError"
    assert state.assigned_partitions == set(partitions("t-1")), "a rejected call must not change the assignment either"
    assert not is_illegal(lambda: subscribe("u")), "other topics by the same way are allowed"
    state.unsubscribe()
    assert not is_illegal(ways[1]), "after unsubscribe every way is allowed"
    before = state.listener
    assert is_illegal(lambda: state.subscribe(["t"], ConsumerRebalanceListener())), "the user assigns: no topics"
    assert state.listener is before, "a rejected call must not change the listener either: check the type first"


@pytest.mark.points(7, task=1)
def test_whether_the_subscription_has_changed(state, subscribe):
    """The same topics, other ones, fewer"""
    listener = ConsumerRebalanceListener()
    assert subscribe("t", "u") is True, "t and u are new: True, their metadata is needed"
    assert state.subscribe(["u", "t"], listener) is False, "u and t are the same topics as before: False"
    assert state.listener is listener, "the topics are the same, but the listener is new: it must be used"
    assert subscribe("t") is True, "fewer topics are a change, too: True"
    assert state.subscription == {"t"}, f"the subscription is replaced: t, not {sorted(state.subscription)}"


@pytest.mark.points(6, task=1)
def test_the_leader_watches_all_topics(state, subscribe, is_illegal, partitions):
    """Another member subscribes to u"""
    subscribe("t")
    assert state.group_subscribe(["t", "u"]) is True, "u is new to the leader: True, its metadata is needed"
    assert state.group_subscribe(["u"]) is False, "u is already watched: False"
    assert state.metadata_topics == {"t", "u"}, f"t and u are watched; you watch {sorted(state.metadata_topics)}"
    state.group_subscribe(["w"])
    assert "u" in state.metadata_topics, "the topics of a member are added to those of the others: u is still watched"
    assert state.subscription == {"t"}, "this consumer has not subscribed to the topics of the others"
    subscribe("v")
    assert state.metadata_topics >= {"u", "v"}, "the others' topics are watched until another member leads"
    state.unsubscribe()
    subscribe("t")
    subscribe("v")
    assert state.metadata_topics == {"t", "v"}, (
        "without a pattern, the group's topics are extended: t stays until the group says otherwise; you watch "
        f"{sorted(state.metadata_topics)}"
    )
    state.unsubscribe()
    state.assign_from_user(partitions("t-0"))
    assert is_illegal(lambda: state.group_subscribe(["u"])), "a consumer that assigns by hand has no group"


@pytest.mark.points(4, task=1)
def test_a_pattern(state):
    """What no longer matches is not watched"""
    state.subscribe_pattern(re.compile("t.*"), NO_LISTENER)
    assert state._change_subscription({"t", "tt"}) is True, "two topics match: True"
    assert state._change_subscription({"t"}) is True, "only t matches now, since tt was deleted: True"
    assert state.metadata_topics == {"t"}, (
        f"with a pattern the group's topics are replaced: t; yours are {sorted(state.metadata_topics)}"
    )
    state.group_subscribe(["tu"])
    state._change_subscription({"t", "tv"})
    assert state.metadata_topics == {"t", "tv"}, (
        "with a pattern, the topics that match now replace those of the group: tu is not watched any more; you watch "
        f"{sorted(state.metadata_topics)}"
    )
    state._change_subscription({"t"})
    state.group_subscribe(["u"])
    assert state.subscription == {"t"}, "the group's topics are another set: u is not in this consumer's subscription"
