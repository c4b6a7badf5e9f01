"""Leaves out records of aborted transactions, for groups with ``share.isolation.level=read_committed``.

Kafka 4.1: core/.../server/share/SharePartition.java (fetchAbortedTransactionRecordBatches,
filterRecordBatchesFromAcquiredRecords) · book 5.4.1
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from kafka_lite.log.producers.aborted_txn import AbortedTxn
from kafka_lite.server.share.acquisition import Acquired, LogBatch
from kafka_lite.server.share.in_flight_records import InFlightRecords
from kafka_lite.server.share.in_flight_state import AcquisitionLock
from kafka_lite.server.share.record_state import RecordState


class ProducerBatch(LogBatch, Protocol):
    """A batch of the log, with its producer."""

    @property
    def producer_id(self) -> int:
        """The producer's id; -1 without one."""
        ...

    @property
    def is_transactional(self) -> bool:
        """Whether the records are part of a transaction."""
        ...

    @property
    def is_control(self) -> bool:
        """Whether it has a marker that ends a transaction."""
        ...


B = TypeVar("B", bound=ProducerBatch)


def aborted_batches(
    batches: Iterable[B], aborted: Iterable[AbortedTxn], is_abort_marker: Callable[[B], bool]
) -> list[B]:
    """The batches of aborted transactions, their markers left out, as a consumer finds them.

    A transaction is aborted from its first offset on to the producer's next abort marker.
    """
    to_come = [(each.first_offset, each.producer_id) for each in aborted]
    heapq.heapify(to_come)
    producers: set[int] = set()
    found: list[B] = []
    for batch in batches:
        if batch.producer_id < 0:
            continue
        while to_come and to_come[0][0] <= batch.last_offset:
            producers.add(heapq.heappop(to_come)[1])
        if batch.is_control:
            if is_abort_marker(batch):
                producers.discard(batch.producer_id)
        elif batch.is_transactional and batch.producer_id in producers:
            found.append(batch)
    return found


def without_aborted(
    records: InFlightRecords, acquired: Sequence[Acquired], aborted: Sequence[LogBatch], lock: AcquisitionLock
) -> list[Acquired]:
    """Archive what has just been acquired of aborted batches; returns the rest of ``acquired``."""
    for batch in aborted:
        _archive(records, batch.base_offset, batch.last_offset, lock)
    return [piece for each in acquired for piece in _rest(each, aborted)]


def _archive(records: InFlightRecords, first_offset: int, last_offset: int, lock: AcquisitionLock) -> None:
    for batch in records.batches.overlapping(first_offset, last_offset):
        if batch.whole is not None and not batch.is_within(first_offset, last_offset):
            if batch.whole.lock is not lock:
                continue
            batch.divide()
        for _, _, state in batch.parts_within(first_offset, last_offset):
            if state.lock is lock and state.state is RecordState.ACQUIRED:
                state.archive()


def _rest(acquired: Acquired, aborted: Sequence[LogBatch]) -> list[Acquired]:
    """The range without the aborted batches, which are in order."""
    rest = []
    first, last, count = acquired
    for batch in aborted:
        if batch.last_offset < first:
            continue
        if batch.base_offset > last:
            break
        if first < batch.base_offset:
            rest.append(Acquired(first, batch.base_offset - 1, count))
        first = batch.last_offset + 1
    if first <= last:
        rest.append(Acquired(first, last, count))
    return rest
