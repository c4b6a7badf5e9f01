"""Task 3: whether a write that failed is repeated."""

import pytest


def entry_of(statuses, status):
    return statuses.store._entries[status.id]


@pytest.mark.points(10, task=3)
def test_generations_and_deletions(statuses, report):
    """A write that is not safe"""
    status = report("RUNNING", "A", 4)
    statuses.know(status)
    entry, statuses.store._generation = entry_of(statuses, status), 4
    assert statuses.store._is_still_wanted(status, entry, None), "nothing has changed: it is still wanted"
    entry.sequence = 9
    assert statuses.store._is_still_wanted(status, entry, None), "a write that is not safe has no sequence to compare"
    statuses.store._generation = 5
    assert not statuses.store._is_still_wanted(status, entry, None), "the store has written for another generation"
    statuses.store._generation, entry.deleted = 4, True
    assert not statuses.store._is_still_wanted(status, entry, None), "the entry was deleted meanwhile"


@pytest.mark.points(10, task=3)
def test_safe_writes(statuses, report):
    """A write that is safe, with sequence 1"""
    status = report("UNASSIGNED", "B", 4)
    statuses.know(report("RUNNING", "B", 4))
    entry, statuses.store._generation = entry_of(statuses, status), 4
    entry.sequence = 1
    assert statuses.store._is_still_wanted(status, entry, 1), "nothing has changed: it is still wanted"
    statuses.watch_entries()
    statuses.store.put_safe(status)
    with statuses.store._lock:
        watched = entry_of(statuses, status)
    statuses.store._is_still_wanted(status, watched, 1)
    statuses.store._generation = 4
    entry.sequence = 2
    assert not statuses.store._is_still_wanted(status, entry, 1), "something newer was written by this worker"
    entry.sequence = 1
    entry.value = report("RUNNING", "A", 5)
    assert not statuses.store._is_still_wanted(status, entry, 1), "worker A has reported in generation 5 meanwhile"
