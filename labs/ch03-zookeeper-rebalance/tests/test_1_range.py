"""Task 1: topic by topic, in runs."""

import pytest

from kafka_lite.old_consumer.partition_assignor import AssignmentContext, RangeAssignor, runs
from kafka_lite.old_consumer.topic_count import StaticTopicCount


def assign(member, subscriptions, partitions):
    """What ``member`` computes: thread by partition; and the members that are in the answer."""
    counts = [StaticTopicCount(each, topics) for each, topics in subscriptions.items()]
    context = AssignmentContext.of(member, counts, {topic: list(range(n)) for topic, n in partitions.items()})
    assignment = RangeAssignor().assign(context)
    owners = {str(partition): str(thread) for mine in assignment.values() for partition, thread in mine.items()}
    return owners, assignment


@pytest.mark.points(5, task=1)
def test_runs():
    """So many partitions in so many runs"""
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
            f"{partitions} partitions in {count} runs: every partition is in one run, and in one only; yours: {cut}"
        )
        assert cut == wanted, (
            f"{partitions} partitions in {count} runs: no run is longer than another by two, and the longer ones come "
            f"first: {wanted}, not {cut}"
        )


@pytest.mark.points(5, task=1)
def test_threads():
    """Five partitions, two consumers with two threads each"""
    owners, _ = assign("C1", {"C2": {"t": 2}, "C1": {"t": 2}}, {"t": 5})
    wanted = {"t-0": "C1-0", "t-1": "C1-0", "t-2": "C1-1", "t-3": "C2-0", "t-4": "C2-1"}
    assert owners == wanted, f"threads share the partitions, not consumers: {wanted}, not {owners}"


@pytest.mark.points(5, task=1)
def test_topics():
    """Only b reads u; and there are more threads than partitions"""
    subscriptions = {"a": {"t": 2}, "b": {"t": 2, "u": 1}}
    owners, assignment = assign("a", subscriptions, {"t": 1, "u": 3})
    assert owners == {"t-0": "a-0"}, (
        f"a computes: of the topics that a subscribes to, which u is not, t has one partition; yours: {owners}"
    )
    assert assignment.get("b") == {}, f"b gets nothing of it, and has an empty map; yours: {assignment.get('b')}"
    owners, _ = assign("b", subscriptions, {"t": 1, "u": 3})
    wanted = {"t-0": "a-0", **{f"u-{number}": "b-0" for number in range(3)}}
    assert owners == wanted, f"b computes: {wanted}, not {owners}"
    owners, _ = assign("b", subscriptions, {"t": 1})
    assert owners == {"t-0": "a-0"}, f"nobody knows of u yet: it has no partitions, and that is no error; {owners}"
