"""What is fetched next, and what is forgotten."""

from __future__ import annotations

import pytest

from kafka_lite.server.share.in_flight_batch import InFlightBatch
from kafka_lite.server.share.in_flight_records import InFlightRecords, StateBatch
from kafka_lite.server.share.in_flight_state import InFlightState
from kafka_lite.server.share.record_state import RecordState

AVAILABLE, ACKNOWLEDGED, ARCHIVED = RecordState.AVAILABLE, RecordState.ACKNOWLEDGED, RecordState.ARCHIVED


def records(start: int, *batches: tuple[int, int, RecordState]) -> InFlightRecords:
    return InFlightRecords(start, [StateBatch(first, last, state, 1) for first, last, state in batches])


def test_without_records_both_offsets_are_the_next_one() -> None:
    empty = records(7)
    assert (empty.start_offset, empty.end_offset, empty.next_fetch_offset()) == (7, 7, 7)
    assert (empty.count, empty.can_acquire(1)) == (0, True)
    assert not empty.move_start_offset()


def test_what_was_persisted_as_done_with_is_forgotten() -> None:
    loaded = records(0, (0, 4, ACKNOWLEDGED), (5, 9, AVAILABLE), (10, 14, ARCHIVED))
    assert (loaded.start_offset, loaded.end_offset, loaded.count) == (5, 14, 10)
    assert loaded.next_fetch_offset() == 5


def test_if_all_was_done_with_nothing_is_in_flight() -> None:
    loaded = records(0, (0, 4, ACKNOWLEDGED), (5, 9, ARCHIVED))
    assert (loaded.start_offset, loaded.end_offset, loaded.count) == (10, 10, 0)
    assert loaded.next_fetch_offset() == 10


def test_a_gap_was_delivered_and_not_persisted() -> None:
    loaded = records(0, (5, 9, ACKNOWLEDGED), (15, 19, AVAILABLE))
    assert loaded.start_offset == 0, "the records 0-4 are not done with"
    assert loaded.next_fetch_offset() == 0
    loaded.fill_gap(10)
    assert loaded.next_fetch_offset() == 10
    loaded.fill_gap(20)
    loaded.fill_gap(3)
    assert loaded.next_fetch_offset() == 15
    assert loaded.move_start_offset()
    assert loaded.start_offset == 15


def test_the_start_offset_passes_a_gap_that_was_filled() -> None:
    loaded = records(0, (1, 1, ACKNOWLEDGED), (3, 3, AVAILABLE))
    loaded.batches.add(InFlightBatch(0, 0, InFlightState(ACKNOWLEDGED, 1)))
    loaded.fill_gap(1)
    assert loaded.move_start_offset()
    assert loaded.start_offset == 2, "the record 2 was not looked for"


def test_a_gap_does_not_matter_once_later_records_are_in_flight() -> None:
    loaded = records(0, (5, 9, ACKNOWLEDGED))
    assert loaded.gap_offset == 0
    loaded.end_offset = 14
    assert loaded.gap_offset is None


@pytest.mark.parametrize("batches", [[(4, 6)], [(5, 9), (9, 12)], [(9, 8)]])
def test_a_state_that_makes_no_sense_is_refused(batches: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match="the batch"):
        records(5, *((first, last, AVAILABLE) for first, last in batches))


def test_records_that_the_log_does_not_have_are_given_up() -> None:
    loaded = records(0, (0, 4, AVAILABLE), (5, 9, AVAILABLE))
    loaded.archive_missing(3, 6)
    assert loaded.next_fetch_offset() == 0
    loaded.archive_missing(0, 3)
    assert loaded.next_fetch_offset() == 6
    assert loaded.move_start_offset()
    assert loaded.start_offset == 6
    loaded.archive_missing(6, 6)
    assert loaded.next_fetch_offset() == 6


def test_the_beginning_of_the_log_moves() -> None:
    loaded = records(0, (0, 4, AVAILABLE), (5, 9, AVAILABLE))
    loaded.log_start_offset_moved(7)
    assert (loaded.start_offset, loaded.end_offset, loaded.next_fetch_offset()) == (7, 9, 7)
    loaded.log_start_offset_moved(3)
    assert loaded.start_offset == 7
    loaded.log_start_offset_moved(20)
    assert (loaded.start_offset, loaded.end_offset, loaded.next_fetch_offset(), loaded.count) == (20, 20, 20, 0)


def test_the_beginning_of_an_idle_log_moves() -> None:
    empty = records(7)
    empty.log_start_offset_moved(9)
    assert (empty.start_offset, empty.end_offset, empty.next_fetch_offset()) == (9, 9, 9)


def test_a_gap_below_the_beginning_of_the_log_is_not_looked_for() -> None:
    loaded = records(0, (5, 9, AVAILABLE))
    loaded.log_start_offset_moved(3)
    assert loaded.next_fetch_offset() == 3
    loaded.log_start_offset_moved(6)
    assert loaded.next_fetch_offset() == 6
