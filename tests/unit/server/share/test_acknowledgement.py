"""Who may acknowledge what, and what a request changes as a whole."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.server.share.acknowledgement import ShareAcknowledgementBatch, acknowledge, release, time_out
from kafka_lite.server.share.acquisition import Acquisition
from kafka_lite.server.share.in_flight_records import InFlightRecords
from kafka_lite.server.share.record_state import ACCEPT, REJECT, RELEASE, RecordState
from tests.support.share_partitions import Batch
from tests.unit.server.share.test_in_flight_state import Lock

AVAILABLE, ACQUIRED = RecordState.AVAILABLE, RecordState.ACQUIRED
ACKNOWLEDGED, ARCHIVED = RecordState.ACKNOWLEDGED, RecordState.ARCHIVED
LIMIT = 5


@pytest.fixture
def records() -> InFlightRecords:
    """The member a has 5–9 and 15–19, b has 10–14."""
    made = InFlightRecords(5)
    for member, first in (("a", 5), ("b", 10), ("a", 15)):
        Acquisition(made, member, Lock()).acquire([Batch(first, first + 4)], first, 100, 100)
    return made


def said(first: int, last: int, *types: int) -> ShareAcknowledgementBatch:
    return ShareAcknowledgementBatch(first, last, types)


def states(records: InFlightRecords) -> list[tuple[int, int, RecordState]]:
    return [(first, last, state.state) for batch in records.batches for first, last, state in batch.parts()]


def test_a_whole_batch_has_one_fate(records: InFlightRecords) -> None:
    change = acknowledge(records, "a", [said(5, 9, ACCEPT), said(15, 19, RELEASE)], LIMIT)
    assert change.batches == [(5, 9, ACKNOWLEDGED, 1), (15, 19, AVAILABLE, 1)]
    assert states(records) == [(5, 9, ACKNOWLEDGED), (10, 14, ACQUIRED), (15, 19, AVAILABLE)]


def test_records_of_the_same_fate_are_written_as_a_range(records: InFlightRecords) -> None:
    change = acknowledge(records, "a", [said(5, 9, ACCEPT, ACCEPT, REJECT, REJECT, ACCEPT)], LIMIT)
    assert change.batches == [(5, 6, ACKNOWLEDGED, 1), (7, 8, ARCHIVED, 1), (9, 9, ACKNOWLEDGED, 1)]


def test_part_of_a_batch_divides_it(records: InFlightRecords) -> None:
    change = acknowledge(records, "a", [said(6, 7, ACCEPT)], LIMIT)
    assert change.batches == [(6, 7, ACKNOWLEDGED, 1)]
    assert states(records)[:4] == [(5, 5, ACQUIRED), (6, 6, ACKNOWLEDGED), (7, 7, ACKNOWLEDGED), (8, 8, ACQUIRED)]


@pytest.mark.parametrize(
    ("batches", "error"),
    [
        ([said(5, 9, ACCEPT), said(10, 14, ACCEPT)], Errors.INVALID_RECORD_STATE),
        ([said(5, 12, ACCEPT)], Errors.INVALID_RECORD_STATE),
        ([said(15, 19, ACCEPT), said(16, 16, ACCEPT)], Errors.INVALID_RECORD_STATE),
        ([said(5, 6, ACCEPT), said(20, 24, ACCEPT)], Errors.INVALID_REQUEST),
        ([said(5, 9, ACCEPT), said(18, 20, ACCEPT)], Errors.INVALID_REQUEST),
    ],
)
def test_all_of_a_request_or_nothing(
    records: InFlightRecords, batches: list[ShareAcknowledgementBatch], error: Errors
) -> None:
    with pytest.raises(ApiError) as failure:
        acknowledge(records, "a", batches, LIMIT)
    assert failure.value.error is error
    assert {state for _, _, state in states(records)} == {ACQUIRED}
    acknowledge(records, "a", [said(5, 9, ACCEPT)], LIMIT)


def test_offsets_that_nobody_has_acquired_are_refused() -> None:
    with pytest.raises(ApiError, match="not found in the cache") as failure:
        acknowledge(InFlightRecords(5), "a", [said(5, 9, ACCEPT)], LIMIT)
    assert failure.value.error is Errors.INVALID_RECORD_STATE


def test_below_the_start_offset_anything_goes(records: InFlightRecords) -> None:
    assert acknowledge(records, "b", [said(0, 4, ACCEPT)], LIMIT).batches == []
    change = acknowledge(records, "a", [said(3, 6, ACCEPT)], LIMIT)
    assert change.batches == [(5, 6, ACKNOWLEDGED, 1)]


def test_a_closed_session_releases_what_the_member_has(records: InFlightRecords) -> None:
    records.log_start_offset_moved(7)
    change = release(records, "a", LIMIT)
    assert change.batches == [(5, 6, ARCHIVED, 1), (7, 9, AVAILABLE, 0), (15, 19, AVAILABLE, 0)]
    assert change.roll_back() == []
    assert {state for _, _, state in states(records)} == {ACQUIRED}


def test_an_expired_lock_frees_only_its_records(records: InFlightRecords) -> None:
    lock = next(iter(records.batches)).whole.lock  # type: ignore[union-attr]
    assert lock is not None
    begun = acknowledge(records, "a", [said(6, 6, ACCEPT)], LIMIT)
    lock.is_expired = True
    change = time_out(records, lock, 5, 9, LIMIT)
    assert change.batches == [(5, 5, AVAILABLE, 1), (7, 9, AVAILABLE, 1)]
    late = begun.roll_back()
    assert [state.lock for state in late] == [lock]
    assert time_out(records, lock, 5, 9, LIMIT).batches == [(6, 6, AVAILABLE, 1)]
    assert time_out(records, lock, 5, 9, LIMIT).batches == []
