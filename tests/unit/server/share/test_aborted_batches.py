"""Records of aborted transactions are not delivered."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from kafka_lite.log.producers.aborted_txn import AbortedTxn
from kafka_lite.server.share.aborted_batches import aborted_batches, without_aborted
from kafka_lite.server.share.acquisition import Acquired, Acquisition
from kafka_lite.server.share.in_flight_records import InFlightRecords
from kafka_lite.server.share.record_state import RecordState
from tests.unit.server.share.test_in_flight_state import Lock


class Batch(NamedTuple):
    base_offset: int
    last_offset: int
    producer_id: int = -1
    is_transactional: bool = True
    is_control: bool = False
    is_abort: bool = False


def aborted(producer_id: int, first: int) -> AbortedTxn:
    return AbortedTxn(producer_id, first, first + 100, first + 100)


def found(batches: list[Batch], *transactions: AbortedTxn) -> list[int]:
    return [each.base_offset for each in aborted_batches(batches, transactions, lambda batch: batch.is_abort)]


def test_a_transaction_is_aborted_up_to_its_marker() -> None:
    marker = Batch(10, 10, 1, is_control=True, is_abort=True)
    batches = [Batch(0, 4, 1), Batch(5, 9, 1), marker, Batch(11, 14, 1)]
    assert found(batches, aborted(1, 5)) == [5]
    assert found(batches, aborted(1, 0)) == [0, 5]
    assert found(batches, aborted(1, 0), aborted(1, 11)) == [0, 5, 11]


def test_other_producers_and_other_markers_do_not_matter() -> None:
    commit = Batch(10, 10, 1, is_control=True)
    batches = [Batch(0, 4, 1), Batch(5, 9, 2), commit, Batch(11, 14), Batch(15, 19, 2, is_transactional=False)]
    assert found(batches, aborted(2, 5)) == [5]
    assert found(batches) == []


@pytest.mark.parametrize(
    ("batch", "rest"),
    [
        ((0, 9), []),
        ((0, 4), [(5, 9, 2), (20, 24, 1)]),
        ((3, 5), [(0, 2, 2), (6, 9, 2), (20, 24, 1)]),
        ((8, 21), [(0, 7, 2), (22, 24, 1)]),
        ((10, 19), [(0, 9, 2), (20, 24, 1)]),
    ],
)
def test_the_rest_is_delivered(batch: tuple[int, int], rest: list[tuple[int, int, int]]) -> None:
    ranges = [Acquired(0, 9, 2)] if not rest else [Acquired(0, 9, 2), Acquired(20, 24, 1)]
    assert without_aborted(InFlightRecords(0), ranges, [Batch(*batch)], Lock()) == rest


def test_only_what_was_acquired_now_is_archived() -> None:
    records, old, new = InFlightRecords(0), Lock(), Lock()
    Acquisition(records, "a", old).acquire([Batch(0, 4)], 0, 100, 100)
    acquired = Acquisition(records, "b", new).acquire([Batch(5, 9), Batch(10, 14)], 5, 100, 100)
    assert without_aborted(records, acquired, [Batch(3, 6)], new) == [Acquired(7, 14, 1)]
    archived = [
        first for batch in records.batches for first, _, state in batch.parts() if state.state is RecordState.ARCHIVED
    ]
    assert archived == [5, 6]
    assert (old.holders, new.holders) == (1, 8)
