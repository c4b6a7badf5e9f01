"""Task 1: a member gets a record, and a lock for it."""

import pytest

from kafka_lite.server.share.in_flight_state import InFlightState
from kafka_lite.server.share.record_state import RecordState


@pytest.mark.points(9, task=1)
def test_acquire(lock, seen):
    """A record that was released once before"""
    state = InFlightState(RecordState.AVAILABLE, 1)
    state.acquire("a", lock)
    assert seen(state) == "ACQUIRED:2:a", f"ACQUIRED, for the second time, by a; yours: {seen(state)}"
    assert state.lock is lock, "the record has the lock under which it was acquired"
    assert lock.held == 1, f"the lock holds one state more, so that its timer knows when it is done: 1, not {lock.held}"


@pytest.mark.points(6, task=1)
def test_drop_lock(acquired, lock):
    """Two records of one lock drop it, one of them twice"""
    first, second = acquired(), acquired()
    first.drop_lock()
    assert first.lock is None, "the record has no lock any more"
    assert lock.held == 1, f"the lock still holds the second record: 1, not {lock.held}"
    first.drop_lock()
    assert lock.held == 1, f"a record without a lock has nothing to drop: the lock holds 1, not {lock.held}"
    second.drop_lock()
    assert lock.held == 0, f"both have dropped it: 0, not {lock.held}"
