"""Task 1: MinTimestampTracker."""

import random
from collections import deque

import pytest

from kafka_lite.streams.tasks.min_timestamp_tracker import MinTimestampTracker, StampedRecord


def stamped(timestamp):
    """A record that only has a time."""
    return StampedRecord(None, timestamp)


@pytest.mark.points(8, task=1)
def test_the_smallest_of_all():
    """7 3 9 4 8: the smallest is 3, and only 3 4 8 are kept"""
    tracker = MinTimestampTracker()
    assert tracker.get() == -1, "before the first record the time is NOT_KNOWN"
    smallest = []
    for timestamp in (7, 3, 9, 4, 8):
        tracker.add(stamped(timestamp))
        smallest.append(tracker.get())
    assert smallest == [7, 3, 3, 3, 3], f"after each add the smallest is 7, 3, 3, 3, 3; yours says {smallest}"
    kept = [each.timestamp for each in tracker._ascending]
    assert kept == [3, 4, 8], f"a record with a smaller one behind it is not kept: 3 4 8 are; you keep {kept}"


@pytest.mark.points(8, task=1)
def test_the_queue_is_emptied():
    """The first record leaves, then the next: the smallest of the rest"""
    tracker = MinTimestampTracker()
    queue = deque(map(stamped, (7, 3, 9, 4, 8)))
    for each in queue:
        tracker.add(each)
    found = []
    while queue:
        tracker.remove(queue.popleft())
        found.append(tracker.get())
    assert found[:-1] == [3, 4, 4, 8], (
        f"7, 3, 9, 4 leave one by one: 3, 4, 4, 8 are the smallest; yours says {found[:-1]}"
    )
    assert found[-1] == 8, f"an empty queue keeps the time of its last record, 8; yours says {found[-1]}"


@pytest.mark.points(6, task=1)
def test_equal_timestamps():
    """Four records with the time 5"""
    tracker = MinTimestampTracker()
    queue = deque(stamped(5) for _ in range(4))
    for each in queue:
        tracker.add(each)
    assert len(tracker._ascending) == 1, "of equal timestamps only the last must be kept: it leaves last"
    for _ in range(3):
        tracker.remove(queue.popleft())
        assert len(tracker._ascending) == 1, "the removed record is equal to the kept one, but not the same: use `is`"
        assert tracker.get() == 5, f"5 stays the smallest timestamp, even once all are removed; not {tracker.get()}"


@pytest.mark.points(8, task=1)
def test_against_min():
    """A thousand random steps beside a plain min()"""
    tracker, queue, chance, last = MinTimestampTracker(), deque(), random.Random(4), -1
    for step in range(1000):
        if queue and chance.random() < 0.5:
            removed = queue.popleft()
            tracker.remove(removed)
            last = removed.timestamp
        else:
            queue.append(stamped(chance.randrange(20)))
            tracker.add(queue[-1])
        right = min((each.timestamp for each in queue), default=last)
        times = [each.timestamp for each in queue]
        assert tracker.get() == right, (
            f"step {step}: the queue is {times}, its smallest is {right}, not {tracker.get()}"
        )
