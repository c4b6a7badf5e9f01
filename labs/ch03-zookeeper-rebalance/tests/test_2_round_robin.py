"""Task 2: all partitions of all topics, in turn."""

import pytest

from kafka_lite.old_consumer.rebalance.partition_assignor import AssignmentContext, RoundRobinAssignor, shuffled
from kafka_lite.old_consumer.topic_count import StaticTopicCount


def assign(member, subscriptions, partitions):
    """The assignment that ``member`` computes: thread by partition, in the order of the dealing."""
    counts = [StaticTopicCount(each, topics) for each, topics in subscriptions.items()]
    context = AssignmentContext.of(member, counts, {topic: list(range(n)) for topic, n in partitions.items()})
    assignment = RoundRobinAssignor().assign(context)
    assert set(assignment) == set(subscriptions), (
        f"every member has a map, even if it is empty; yours: {sorted(assignment)}"
    )
    return {str(partition): str(thread) for mine in assignment.values() for partition, thread in mine.items()}


@pytest.mark.points(5, task=2)
def test_the_order():
    """In the order of Java's hash codes: 105875840 is that of [weather,0]"""
    order = [str(each) for each in shuffled({"flights": [0, 1], "weather": [0, 1], "a": [2]})]
    wanted = ["a-2", "weather-0", "weather-1", "flights-0", "flights-1"]
    assert order == wanted, (
        "Scala's consumers are in the same groups, so all members sort by the hash code of the text "
        f"[topic,partition]: {wanted}, not {order}"
    )
    order = [str(each) for each in shuffled({"t": [0], "orders": [0], "BB": [0], "Aa": [0]})]
    wanted = ["Aa-0", "BB-0", "orders-0", "t-0"]
    assert order == wanted, (
        f"that of [orders,0] is negative, as Java's int may be, and comes before that of [t,0]; [Aa,0] and [BB,0] have "
        f"the same one, so the topic decides: {wanted}, not {order}"
    )


@pytest.mark.points(5, task=2)
def test_in_turn():
    """Two consumers, three threads, four partitions; and again from the other's point of view"""
    subscriptions = {"b": {"t": 2}, "a": {"t": 1}}
    wanted = {"t-0": "a-0", "t-1": "b-0", "t-2": "b-1", "t-3": "a-0"}
    for member in subscriptions:
        owners = assign(member, subscriptions, {"t": 4})
        assert owners == wanted, f"a-0, b-0, b-1, then a-0 again: {wanted}, not {owners}"
    owners = assign("a", {"a": {"t": 1, "u": 1}, "b": {"t": 1, "u": 1}}, {"t": 2, "u": 2})
    wanted = {"t-0": "a-0", "t-1": "b-0", "u-0": "a-0", "u-1": "b-0"}
    assert owners == wanted, f"a thread that reads two topics has one turn in a round, not two: {wanted}, not {owners}"


@pytest.mark.points(2, task=2)
def test_the_threads_of_all_topics_take_turns():
    """a subscribes to t and u, b to u only"""
    owners = assign("a", {"a": {"t": 1, "u": 1}, "b": {"u": 1}}, {"t": 1, "u": 4})
    readers = {thread for partition, thread in owners.items() if partition.startswith("u")}
    assert readers == {"a-0", "b-0"}, (
        f"threads of all topics take turns, not only those of the first: u goes to a and b, not to {sorted(readers)}"
    )


@pytest.mark.points(3, task=2)
def test_a_member_without_the_topic_is_skipped():
    """Only b subscribes to u"""
    owners = assign("a", {"a": {"t": 1}, "b": {"t": 1, "u": 1}}, {"t": 2, "u": 3})
    readers = {thread for partition, thread in owners.items() if partition.startswith("u")}
    assert readers == {"b-0"}, f"a does not subscribe to u: it is skipped; u goes to b, not to {sorted(readers)}"
    assert sorted(owners) == ["t-0", "t-1", "u-0", "u-1", "u-2"], (
        f"every partition has an owner, also in topics that this member does not subscribe to; yours: {sorted(owners)}"
    )
