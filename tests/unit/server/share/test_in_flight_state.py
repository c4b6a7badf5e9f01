"""One record: delivered, acknowledged, rolled back, given up."""

from __future__ import annotations

import pytest

from kafka_lite.server.share.in_flight_state import InFlightState
from kafka_lite.server.share.record_state import RecordState

AVAILABLE, ACQUIRED = RecordState.AVAILABLE, RecordState.ACQUIRED
ACKNOWLEDGED, ARCHIVED = RecordState.ACKNOWLEDGED, RecordState.ARCHIVED
LIMIT = 3


class Lock:
    """Counts the states that have it."""

    def __init__(self) -> None:
        self.is_expired = False
        self.holders = 0

    def held_by(self, states: int) -> None:
        self.holders += states


def facts(state: InFlightState) -> tuple[RecordState, int, str | None]:
    return state.state, state.delivery_count, state.member_id


def test_a_record_is_acquired_and_accepted() -> None:
    lock, state = Lock(), InFlightState(AVAILABLE, 0)
    assert state.is_available
    state.acquire("a", lock)
    assert facts(state) == (ACQUIRED, 1, "a")
    assert lock.holders == 1
    state.begin(ACKNOWLEDGED, LIMIT)
    assert facts(state) == (ACKNOWLEDGED, 1, None)
    assert state.is_changing
    assert lock.holders == 1, "the write may fail"
    state.commit()
    assert (state.is_changing, lock.holders) == (False, 0)


def test_a_change_that_fails_leaves_the_record_with_its_member() -> None:
    lock = Lock()
    state = InFlightState(ACQUIRED, 2, "a", lock)
    state.begin(AVAILABLE, LIMIT)
    assert not state.is_available, "not before it is written"
    state.roll_back()
    assert facts(state) == (ACQUIRED, 2, "a")
    assert lock.holders == 1


@pytest.mark.parametrize(("count", "becomes"), [(LIMIT - 1, AVAILABLE), (LIMIT, ARCHIVED)])
def test_the_last_delivery_archives_a_record(count: int, becomes: RecordState) -> None:
    released, timed_out = InFlightState(ACQUIRED, count, "a"), InFlightState(ACQUIRED, count, "a", Lock())
    released.begin(AVAILABLE, LIMIT)
    timed_out.time_out(LIMIT, is_archived=False)
    assert facts(released) == facts(timed_out) == (becomes, count, None)


def test_a_delivery_to_a_closed_session_does_not_count() -> None:
    state = InFlightState(ACQUIRED, LIMIT, "a")
    state.begin(AVAILABLE, LIMIT, undelivered=True)
    assert facts(state) == (AVAILABLE, LIMIT - 1, None)
    below_start = InFlightState(ACQUIRED, LIMIT, "a")
    below_start.begin(ARCHIVED, LIMIT, undelivered=True)
    assert facts(below_start) == (ARCHIVED, LIMIT, None)


def test_a_lock_times_out() -> None:
    lock = Lock()
    state = InFlightState(ACQUIRED, 1, "a", lock)
    state.time_out(LIMIT, is_archived=True)
    assert (state.state, lock.holders) == (ARCHIVED, 0)


def test_a_record_is_archived_while_its_release_is_written() -> None:
    lock = Lock()
    state = InFlightState(ACQUIRED, 1, "a", lock)
    state.begin(AVAILABLE, LIMIT)
    state.archive()
    assert lock.holders == 1, "the write may fail"
    state.commit()
    assert (state.state, lock.holders) == (ARCHIVED, 0)


def test_a_copy_has_the_lock_as_well() -> None:
    lock = Lock()
    state = InFlightState(ACQUIRED, 1, "a", lock)
    assert facts(state.copy()) == facts(state)
    assert lock.holders == 2


@pytest.mark.parametrize("state", [ACKNOWLEDGED, ARCHIVED])
def test_what_is_done_with_does_not_change(state: RecordState) -> None:
    with pytest.raises(AssertionError, match="cannot become"):
        InFlightState(state, 1).acquire("a", Lock())
    with pytest.raises(AssertionError, match="cannot become"):
        InFlightState(state, 1).begin(AVAILABLE, LIMIT)


def test_only_a_change_that_has_begun_is_rolled_back() -> None:
    with pytest.raises(AssertionError, match="nothing has begun"):
        InFlightState(ACQUIRED, 1, "a").roll_back()
