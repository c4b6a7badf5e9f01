"""Which records of a read a member gets."""

from __future__ import annotations

from kafka_lite.server.share.acquisition import Acquired, Acquisition
from kafka_lite.server.share.in_flight_records import InFlightRecords, StateBatch
from kafka_lite.server.share.record_state import RecordState
from tests.support.share_partitions import Batch
from tests.unit.server.share.test_in_flight_state import Lock

AVAILABLE, ACKNOWLEDGED = RecordState.AVAILABLE, RecordState.ACKNOWLEDGED
LOG = [Batch(0, 4), Batch(5, 9), Batch(10, 14), Batch(15, 19)]


def records(start: int, *batches: tuple[int, int, RecordState]) -> InFlightRecords:
    return InFlightRecords(start, [StateBatch(first, last, state, 1) for first, last, state in batches])


def acquire(
    from_: InFlightRecords, read: list[Batch], *, max_records: int = 100, batch_size: int = 100
) -> list[tuple[int, int, int]]:
    acquisition = Acquisition(from_, "a", Lock())
    found = acquisition.acquire(read, from_.next_fetch_offset(), max_records, batch_size)
    return [tuple(each) for each in found]  # type: ignore[misc]


def test_new_records_are_acquired_to_the_end_of_a_batch() -> None:
    log = records(0)
    assert acquire(log, LOG, max_records=6) == [(0, 9, 1)]
    assert acquire(log, LOG[2:], max_records=5) == [(10, 14, 1)]
    assert (log.start_offset, log.end_offset) == (0, 14)


def test_batches_are_told_apart_if_they_are_large_enough() -> None:
    assert acquire(records(0), LOG, batch_size=6) == [(0, 9, 1), (10, 19, 1)]
    assert acquire(records(0), LOG, batch_size=5) == [(0, 4, 1), (5, 9, 1), (10, 14, 1), (15, 19, 1)]
    assert acquire(records(0), LOG, batch_size=0) == [(0, 4, 1), (5, 9, 1), (10, 14, 1), (15, 19, 1)]


def test_a_group_that_begins_within_a_batch_gets_the_rest_of_it() -> None:
    log = records(7)
    assert acquire(log, LOG[1:2]) == [(7, 9, 1)]
    assert log.start_offset == 7


def test_available_records_come_first_and_are_not_acquired_beyond_what_was_read() -> None:
    log = records(0, (0, 6, AVAILABLE), (7, 9, ACKNOWLEDGED))
    assert acquire(log, LOG[:1]) == [(0, 4, 2)]
    assert acquire(log, LOG[1:]) == [(5, 6, 2), (10, 19, 1)]


def test_enough_available_records_are_enough() -> None:
    log = records(0, (0, 4, AVAILABLE), (5, 9, AVAILABLE))
    assert acquire(log, LOG, max_records=3) == [(0, 4, 2)]
    assert acquire(log, LOG[1:], max_records=3) == [(5, 9, 2)]


def test_a_gap_is_filled_between_what_was_persisted() -> None:
    log = records(0, (5, 9, ACKNOWLEDGED), (15, 19, AVAILABLE))
    assert acquire(log, LOG) == [(0, 4, 1), (10, 14, 1), (15, 19, 2)]


def test_a_gap_is_filled_no_further_than_asked_for() -> None:
    log = records(0, (8, 9, ACKNOWLEDGED), (15, 19, ACKNOWLEDGED))
    assert acquire(log, LOG, max_records=6) == [(0, 7, 1)], "not beyond what was persisted"
    assert acquire(log, LOG[2:], max_records=1) == [(10, 14, 1)]
    assert log.next_fetch_offset() == 20


def test_a_gap_that_the_log_does_not_have_is_passed() -> None:
    log = records(0, (5, 9, ACKNOWLEDGED))
    assert acquire(log, LOG[1:2]) == []
    assert log.next_fetch_offset() == 10


def test_records_that_are_compacted_away_are_given_up() -> None:
    log = records(0, (0, 4, AVAILABLE), (5, 9, AVAILABLE))
    assert acquire(log, LOG[1:2]) == [(5, 9, 2)]
    assert log.move_start_offset()
    assert log.start_offset == 5


def test_a_hole_in_a_log_is_not_delivered() -> None:
    log = records(0)
    assert acquire(log, [LOG[0]]) == [(0, 4, 1)]
    assert acquire(log, [LOG[2]]) == [(10, 14, 1)]
    assert (log.start_offset, log.end_offset) == (0, 14)


def test_the_size_of_what_was_acquired() -> None:
    assert Acquired(3, 7, 1).size == 5
