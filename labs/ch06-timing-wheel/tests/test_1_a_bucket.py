"""Task 1: a bucket."""

import pytest

from kafka_lite.common.purgatory.timing_wheel import TimerTaskList


@pytest.mark.points(4, task=1)
def test_an_entry_and_its_bucket_know_each_other(entry):
    """Add two, remove one"""
    bucket, first, second = TimerTaskList(), entry(3), entry(3)
    bucket.add(first)
    bucket.add(second)
    assert len(bucket) == 2, f"two entries were added, the bucket has {len(bucket)}"
    assert first.bucket is bucket, "an entry must know its bucket: its cancel() asks the bucket to remove it"
    bucket.remove(first)
    assert len(bucket) == 1, "one of two was removed, and one is left"
    assert first.bucket is None, "a removed entry is in no bucket, otherwise cancel() would remove it a second time"


@pytest.mark.points(4, task=1)
def test_set_expiration_returns_whether_it_changed():
    """A bucket is armed once per tick"""
    bucket = TimerTaskList()
    assert bucket.set_expiration(12) is True, "the bucket was free, now it is used for the tick that begins at 12: True"
    assert bucket.expiration_ms == 12, f"expiration_ms must be 12, it is {bucket.expiration_ms}"
    assert bucket.set_expiration(12) is False, "12 again is no change: the bucket would be armed twice for one tick"
    assert bucket.set_expiration(28) is True, "28 is another tick, one turn later: True"
    assert bucket.expiration_ms == 28, (
        f"the bucket is now used for the tick that begins at 28, not {bucket.expiration_ms}"
    )


@pytest.mark.points(7, task=1)
def test_flush_empties_and_frees_the_bucket(entry):
    """All entries are returned, and the bucket can be used again"""
    bucket, entries = TimerTaskList(), [entry(12), entry(15), entry(13)]
    for one in entries:
        bucket.add(one)
    bucket.set_expiration(12)
    flushed = bucket.flush()
    assert flushed == entries, "flush returns all entries, in the order in which they were added"
    assert len(bucket) == 0, "no entry may be left in a flushed bucket"
    assert all(one.bucket is None for one in entries), "flushed entries are in no bucket: entry.bucket is None"
    assert bucket.expiration_ms == -1, (
        "a flushed bucket is free: expiration_ms is -1, otherwise it is never armed again"
    )
    bucket.set_expiration(28)
    assert bucket.flush() == [], "all tasks of a bucket may have been cancelled when it is flushed: an empty list"
    assert bucket.expiration_ms == -1, "a flushed bucket is free, even if it was empty: expiration_ms is -1"
