"""Task 4: a lock has expired."""

import pytest

from kafka_lite.server.share.acknowledgement import time_out
from kafka_lite.server.share.in_flight_state import InFlightState
from kafka_lite.server.share.record_state import RecordState

AVAILABLE, ACQUIRED, ACKNOWLEDGED, ARCHIVED = RecordState
LIMIT = 5


def parts(records):
    """The states of all batches, in words."""
    return [f"{first}–{last}:{state.state.name}" for each in records.batches for first, last, state in each.parts()]


@pytest.mark.points(7, task=4)
def test_one_state(acquired, lock, seen):
    """A state whose time is over"""
    for deliveries, is_archived, expected in ((2, False, "AVAILABLE"), (5, False, "ARCHIVED"), (2, True, "ARCHIVED")):
        state = acquired(deliveries)
        state.time_out(LIMIT, is_archived)
        assert seen(state) == f"{expected}:{deliveries}:None", (
            f"after {deliveries} deliveries of {LIMIT}, is_archived={is_archived}: {expected}, {deliveries}, None; "
            f"yours {seen(state)}"
        )
        assert not state.is_changing, "that is not rolled back: it counts at once"
        assert (state.lock, lock.held) == (None, 0), f"the lock is over: dropped; yours holds {lock.held}"


@pytest.mark.points(7, task=4)
def test_the_records_of_the_lock(acquired, in_flight, lock, other_lock):
    """Two batches of the lock, one of another lock, one that is accepted"""
    accepted = acquired()
    accepted.begin(ACKNOWLEDGED, LIMIT)
    accepted.commit()
    records = in_flight(
        (5, 9, acquired()), (10, 14, acquired(1, other_lock)), (15, 19, accepted), (20, 24, acquired(2))
    )
    change = time_out(records, lock, 5, 24, LIMIT)
    expected = ["5–9:AVAILABLE", "10–14:ACQUIRED", "15–19:ACKNOWLEDGED", "20–24:AVAILABLE"]
    assert parts(records) == expected, f"only what is acquired under this lock: {expected}, not {parts(records)}"
    written = [(5, 9, AVAILABLE, 1), (20, 24, AVAILABLE, 2)]
    assert change.batches == written, f"both are to be written, {written}; yours {change.batches}"
    assert records.has_available, "there are records to deliver again: has_available, or nobody looks for them"


@pytest.mark.points(4, task=4)
def test_single_records(acquired, in_flight, lock):
    """A batch of which the member has accepted one record"""
    records = in_flight((5, 7, acquired()))
    batch = records.batches.first
    batch.divide()
    batch.offsets[6].begin(ACKNOWLEDGED, LIMIT)
    change = time_out(records, lock, 5, 7, LIMIT)
    expected = ["5–5:AVAILABLE", "6–6:ACKNOWLEDGED", "7–7:AVAILABLE"]
    assert parts(records) == expected, f"6 is being written, and stays as it is: {expected}, not {parts(records)}"
    assert batch.offsets[6].is_changing, "the write of 6 is not over"
    assert [each[:2] for each in change.batches] == [(5, 5), (7, 7)], f"5 and 7 are written; yours {change.batches}"


@pytest.mark.points(4, task=4)
def test_the_log_begins_in_a_batch(acquired, in_flight, lock, other_lock):
    """The log has lost two records of four"""
    records = in_flight((3, 4, acquired()), (5, 8, acquired()))
    records.start_offset = 7
    time_out(records, lock, 3, 8, LIMIT)
    expected = ["3–4:ARCHIVED", "5–5:ARCHIVED", "6–6:ARCHIVED", "7–7:AVAILABLE", "8–8:AVAILABLE"]
    assert parts(records) == expected, f"3 to 6 are not in the log any more: {expected}, not {parts(records)}"
    others = in_flight((5, 8, acquired(1, other_lock)))
    others.start_offset = 7
    time_out(others, lock, 5, 8, LIMIT)
    assert parts(others) == ["5–8:ACQUIRED"], f"a batch of another lock stays whole: {parts(others)}"


@pytest.mark.points(3, task=4)
def test_nothing_is_left_of_the_lock(acquired, in_flight, lock, other_lock):
    """All is acknowledged, or not among the offsets"""
    records = in_flight((5, 9, acquired(1, other_lock)), (10, 14, acquired()))
    change = time_out(records, lock, 5, 9, LIMIT)
    assert parts(records) == ["5–9:ACQUIRED", "10–14:ACQUIRED"], (
        f"10 is beyond the offsets of the lock; {parts(records)}"
    )
    assert change.batches == [], f"nothing has changed, so there is nothing to write; yours {change.batches}"
    assert not records.has_available, "and nothing to look for: has_available stays"
    other = in_flight((5, 9, InFlightState(AVAILABLE, 1, None, lock)))
    time_out(other, lock, 5, 9, LIMIT)
    assert parts(other) == ["5–9:AVAILABLE"], f"what is not acquired stays: {parts(other)}"
