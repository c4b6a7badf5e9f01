"""Task 1: topic by topic, in runs."""

import pytest

from kafka_lite.old_consumer.rebalance.partition_assignor import AssignmentContext, RangeAssignor, runs
from kafka_lite.old_consumer.topic_count import StaticTopicCount


def assign(member, subscriptions, partitions):
    """The assignment that ``member`` computes: thread by partition; and the members in the result."""
    counts = [StaticTopicCount(each, topics) for each, topics in subscriptions.items()]
    context = AssignmentContext.of(member, counts, {topic: list(range(n)) for topic, n in partitions.items()})
    assignment = RangeAssignor().assign(context)
    assert set(assignment) == set(subscriptions), (
        f"every member has a map, even if it is empty; yours: {sorted(assignment)}"
    )
    owners = {str(partition): str(thread) for mine in assignment.values() for partition, thread in mine.items()}
    return owners, assignment


@pytest.mark.points(5, task=1)
def test_runs():
    """Various numbers of partitions and runs"""
    cases = [
        (4, 2, [[0, 1], [2, 3]]),
        (5, 2, [[0, 1, 2], [3, 4]]),
        (8, 3, [[0, 1, 2], [3, 4, 5], [6, 7]]),
        (2, 3, [[0], [1], []]),
        (0, 2, [[], []]),
    ]
    for partitions, count, wanted in cases:
        cut = [list(run) for run in runs(range(partitions), count)]
        assert sorted(number for run in cut for number in run) == list(range(partitions)), (
            f"{partitions} partitions in {count} runs: every partition is in exactly one run; yours: {cut}"
        )
        assert cut == wanted, (
            f"{partitions} partitions in {count} runs: the lengths differ by at most one, and the longer "
            f"runs come first: {wanted}, not {cut}"
        )
    assign("a", {"a": {"t": 1}, "b": {"u": 1}}, {"t": 2, "u": 1})  # b reads another topic, and has an empty map


@pytest.mark.points(5, task=1)
def test_threads():
    """Five partitions, two consumers with two threads each"""
    owners, _ = assign("C1", {"C2": {"t": 2}, "C1": {"t": 2}}, {"t": 5})
    wanted = {"t-0": "C1-0", "t-1": "C1-0", "t-2": "C1-1", "t-3": "C2-0", "t-4": "C2-1"}
    assert owners == wanted, f"the partitions are shared among threads, not consumers: {wanted}, not {owners}"


@pytest.mark.points(5, task=1)
def test_topics():
    """Only b subscribes to u; and there are more threads than partitions"""
    subscriptions = {"a": {"t": 2}, "b": {"t": 2, "u": 1}}
    owners, assignment = assign("a", subscriptions, {"t": 1, "u": 3})
    assert owners == {"t-0": "a-0"}, (
        f"a's result: of the topics that a subscribes to (u is not one), t has one partition; yours: {owners}"
    )
    assert assignment.get("b") == {}, f"b gets none of it, but has an empty map; yours: {assignment.get('b')}"
    owners, _ = assign("b", subscriptions, {"t": 1, "u": 3})
    wanted = {"t-0": "a-0", **{f"u-{number}": "b-0" for number in range(3)}}
    assert owners == wanted, f"b's result: {wanted}, not {owners}"
    owners, _ = assign("b", subscriptions, {"t": 1})
    assert owners == {"t-0": "a-0"}, f"u is unknown so far: it has no partitions, and that is no error; {owners}"
