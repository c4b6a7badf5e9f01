"""Task 1: pending is not committed."""

import pytest

from kafka_lite.coordinator.group.offset_and_metadata import OffsetAndMetadata


@pytest.mark.points(8, task=1)
def test_pending_offsets_are_not_returned(cache, zero, one):
    """A pending commit"""
    assert cache.number() is None, "nothing was committed: None"
    cache.commit(7)
    assert cache.number() is None, "7 is not in the log yet: if the broker died now, it would be lost"
    assert cache.is_pending(zero), "a commit of t-0 is pending"
    assert not cache.is_pending(one), "none of t-1 is pending"
    assert not cache.is_empty, "a group with a pending commit must not be deleted"


@pytest.mark.points(2, task=1)
def test_a_commit_of_two_partitions(cache, zero, one):
    """One request commits t-0 and t-1"""
    offsets = {zero: OffsetAndMetadata(7, "", 1000), one: OffsetAndMetadata(17, "", 1000)}
    cache.prepare_commit(offsets)
    pending = [str(each) for each in (zero, one) if cache.is_pending(each)]
    assert pending == ["t-0", "t-1"], f"one request commits t-0 and t-1: both are pending, not only {pending}"
    cache.on_commit_append(offsets, 100)
    found = cache.number(), cache.number(one)
    assert found == (7, 17), f"both are in the log: t-0 at 7, t-1 at 17, not {found}"


@pytest.mark.points(5, task=1)
def test_two_pending_commits(cache, zero):
    """A second commit before the first has completed"""
    first, second = cache.commit(7), cache.commit(8)
    cache.on_commit_append(first, 100)
    assert cache.number() == 7, f"both are pending, and the first one is in the log now: 7, not {cache.number()}"
    assert cache.is_pending(zero), "the second one is still pending"
    cache.on_commit_append(second, 101)
    assert cache.number() == 8, f"the second is in the log: 8, not {cache.number()}"
    assert not cache.is_pending(zero), "both have completed"
