"""Task 3: PartitionGroup."""

import random

import pytest

from kafka_learn.labs.raising import must_raise
from kafka_lite.common.topic_partition import TopicPartition

LEFT, RIGHT = TopicPartition("left", 0), TopicPartition("right", 0)


@pytest.mark.points(6, task=3)
def test_by_time(group, records, taken):
    """1 3 5 and 2 4 6: in turn"""
    group.add_raw_records(LEFT, records("left", 1, 3, 5))
    assert group.timestamp == -1, "stream time is not known until every partition has had a record"
    group.add_raw_records(RIGHT, records("right", 2))
    length = group.add_raw_records(RIGHT, records("right", 4, 6))
    assert length == 3, f"one record waits, two are added: returns the new length of the queue, 3, not {length}"
    assert group.num_buffered == 6, f"six records wait, not {group.num_buffered}"
    times = [timestamp for _, timestamp in taken(group)]
    assert times == [1, 2, 3, 4, 5, 6], f"the queue with the least time is next; your order is {times}"
    assert group.num_buffered == 0, f"nothing waits any more, not {group.num_buffered}"


@pytest.mark.points(8, task=3)
def test_the_time_is_the_smallest(group, records, taken):
    """9 2 7 beside 4"""
    group.add_raw_records(LEFT, records("left", 9, 2, 7))
    group.add_raw_records(RIGHT, records("right", 4))
    times = [timestamp for _, timestamp in taken(group)]
    assert times == [9, 2, 4, 7], f"the left queue waits with its smallest time, 2: 9, 2, 4, 7; yours is {times}"


@pytest.mark.points(7, task=3)
def test_equal_times(group, records, taken):
    """Queues with the same time take turns"""
    group.add_raw_records(LEFT, records("left", 5, 5))
    group.add_raw_records(RIGHT, records("right", 5, 5))
    topics = [topic for topic, _ in taken(group)]
    assert topics == ["left", "right", "left", "right"], (
        f"of queues with the same time the one that has waited longest is first; yours are {topics}"
    )
    for partition in (LEFT, RIGHT, LEFT):
        group.add_raw_records(partition, records(partition.topic, 6))
    topics = [topic for topic, _ in taken(group)]
    assert topics == ["left", "right", "left"], (
        f"left waits longer, also after it got one more record: left, right, left; yours are {topics}"
    )


@pytest.mark.points(3, task=3)
def test_nothing_to_add(group, records, taken):
    """No records, only skipped ones, and an unknown partition"""
    for batch in ((), (-1,)):
        length = group.add_raw_records(LEFT, records("left", *batch))
        assert length == 0, f"nothing was appended, so the length is 0, not {length}"
        assert taken(group) == [], "a queue that is still empty is not in the heap"
    must_raise(KeyError, "the group has no such partition", group.add_raw_records, TopicPartition("none", 0), [])


@pytest.mark.points(6, task=3)
def test_random_histories(group, records):
    """Two hundred random steps: nothing is lost, nothing comes twice"""
    chance, offsets, added, found = random.Random(9), {LEFT: 0, RIGHT: 0}, 0, []
    for _ in range(200):
        if chance.random() < 0.5:
            partition = chance.choice([LEFT, RIGHT])
            group.add_raw_records(partition, records(partition.topic, -1, *chance.choices(range(30), k=2)))
            added += 2
        elif (following := group.next_record()) is not None:
            found.append((following.queue.partition, following.stamped.timestamp))
        assert group.num_buffered == added - len(found), (
            f"{added} records were added (those with a negative time do not count) and {len(found)} taken, "
            f"so {added - len(found)} wait; num_buffered is {group.num_buffered}"
        )
        assert len(group._queues_by_time) <= len(offsets), "a queue is in the heap once, not once for each record"
    while group.next_record() is not None:
        found.append(None)
        assert len(found) <= added, "a record came twice"
    assert len(found) == added, f"{added} records were added, and {len(found)} came out"
