"""Task 3: begin, and then commit or roll back."""

import pytest

from kafka_lite.server.share.record_state import RecordState

AVAILABLE, ACQUIRED, ACKNOWLEDGED, ARCHIVED = RecordState
LIMIT = 5


@pytest.mark.points(8, task=3)
def test_begin(acquired, lock, seen):
    """A record is released, and that is being written"""
    state = acquired(2)
    state.begin(AVAILABLE, LIMIT)
    assert seen(state) == "AVAILABLE:2:None", (
        f"what is written is the new state, AVAILABLE, 2, None; yours {seen(state)}"
    )
    assert state.is_changing, "the change is being written: is_changing"
    assert not state.is_available, "nobody may acquire it before it is written: the write may fail"
    assert (state.lock, lock.held) == (lock, 1), "the lock stays until it is written"
    state = acquired(5)
    state.begin(AVAILABLE, LIMIT)
    assert state.state is ARCHIVED, f"it was delivered five times of five: ARCHIVED, not {seen(state)}"
    state = acquired(5)
    state.begin(AVAILABLE, LIMIT, undelivered=True)
    assert seen(state) == "AVAILABLE:4:None", f"its delivery does not count: AVAILABLE, 4, None; yours {seen(state)}"


@pytest.mark.points(8, task=3)
def test_commit(acquired, lock, seen):
    """It is written"""
    state = acquired(2)
    state.begin(AVAILABLE, LIMIT)
    state.commit()
    assert seen(state) == "AVAILABLE:2:None", f"the state is what was written; yours {seen(state)}"
    assert state.is_available, "it is written, so another member may acquire it"
    assert (state.lock, lock.held) == (None, 0), f"nothing is left to wait for: no lock; yours holds {lock.held}"


@pytest.mark.points(9, task=3)
def test_roll_back(acquired, lock, seen):
    """It cannot be written"""
    for undelivered in (False, True):
        state = acquired(2)
        held = lock.held
        state.begin(AVAILABLE, LIMIT, undelivered=undelivered)
        state.roll_back()
        assert seen(state) == "ACQUIRED:2:a", (
            f"nothing was written: it is still a's, ACQUIRED, with 2 deliveries; yours {seen(state)}"
        )
        assert not state.is_changing, "nothing is being written any more"
        assert (state.lock, lock.held) == (lock, held), "and the lock still runs, as before"
    state.begin(ACKNOWLEDGED, LIMIT)
    state.commit()
    assert state.state is ACKNOWLEDGED, f"the member may try once more; yours {seen(state)}"
