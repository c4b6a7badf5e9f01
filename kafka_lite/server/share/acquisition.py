"""Decides which of the records that a fetch has read are delivered to the member.

Kafka 4.1: core/.../server/share/SharePartition.java (acquire, acquireNewBatchRecords, createBatches,
acquireSubsetBatchRecords) · book 5.4.1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from kafka_lite.server.share.in_flight_batch import InFlightBatch, Part
from kafka_lite.server.share.in_flight_records import InFlightRecords
from kafka_lite.server.share.in_flight_state import AcquisitionLock, InFlightState
from kafka_lite.server.share.record_state import RecordState


class LogBatch(Protocol):
    """The header of a batch of the log."""

    @property
    def base_offset(self) -> int:
        """The first offset."""
        ...

    @property
    def last_offset(self) -> int:
        """The last offset, inclusive."""
        ...


class Acquired(NamedTuple):
    """Offsets that a member has acquired, with the number of deliveries, this one included."""

    first_offset: int
    last_offset: int
    delivery_count: int

    @property
    def size(self) -> int:
        """How many offsets."""
        return self.last_offset - self.first_offset + 1


class Acquisition:
    """One member acquires records of one read of the log::

        read from the log      │ batch 10–14     │ batch 15–19     │ batch 20–29     │
        in flight              │ done │ available│ acquired        │
                                       └────┬───┘                   └───────┬───────┘
                                        acquired once more                acquired

    ``max_records`` is exceeded to the end of a batch of the log, so that batches are not divided for nothing. Offsets
    without a record in a batch are acquired, too: the member sees the gap, and says so.
    """

    def __init__(self, records: InFlightRecords, member_id: str, lock: AcquisitionLock) -> None:
        """``lock`` is that of all records which are acquired now."""
        self._records = records
        self._member_id = member_id
        self._lock = lock
        self._acquired: list[Acquired] = []
        self._count = 0

    def acquire(
        self, batches: Sequence[LogBatch], fetch_offset: int, max_records: int, batch_size: int
    ) -> list[Acquired]:
        """Acquire what is available, then what is new. ``batches``, at least one, were read from ``fetch_offset`` on.

        Records that begin a batch are told apart if the batch before has ``batch_size`` records or more.
        """
        records = self._records
        first, last = batches[0].base_offset, batches[-1].last_offset
        records.archive_missing(fetch_offset, first)
        gap = records.gap_offset
        if gap is not None and fetch_offset <= gap < first:
            records.fill_gap(first)
        position = max(first, records.start_offset)
        for batch in records.batches.overlapping(position, last):
            if self._count >= max_records:
                break
            if records.gap_offset is not None and position < batch.first_offset:
                self._acquire_new(batches, position, batch.first_offset - 1, max_records - self._count, batch_size)
            position = batch.last_offset + 1
            if self._count < max_records:
                self._acquire_again(batch, first, last)
        else:
            if self._count < max_records and position <= last:
                self._acquire_new(batches, position, last, max_records - self._count, batch_size)
        if self._acquired:
            records.fill_gap(self._acquired[-1].last_offset + 1)
        return self._acquired

    def _acquire_new(
        self, batches: Sequence[LogBatch], first: int, last: int, max_records: int, batch_size: int
    ) -> None:
        records = self._records
        if not len(records.batches):
            first = max(first, records.end_offset)
        if first > last:
            return
        last = min(last, _end_of_batch(batches, first + max_records - 1))
        for begin, end in _divided(batches, first, last, batch_size):
            state = InFlightState(RecordState.ACQUIRED, 1, self._member_id, self._lock)
            records.batches.add(InFlightBatch(begin, end, state))
            self._add(begin, end, 1)
        if records.batches.first.first_offset == first:
            records.start_offset = first
        records.end_offset = max(records.end_offset, last)

    def _acquire_again(self, batch: InFlightBatch, first: int, last: int) -> None:
        first = max(first, self._records.start_offset)
        for begin, end, state in list(_available(batch, first, last)):
            state.acquire(self._member_id, self._lock)
            self._add(begin, end, state.delivery_count)

    def _add(self, first: int, last: int, delivery_count: int) -> None:
        """Single records that were divided are told as a range again."""
        self._count += last - first + 1
        if self._acquired and first == last:
            before = self._acquired[-1]
            if before.last_offset == first - 1 and before.delivery_count == delivery_count:
                self._acquired[-1] = before._replace(last_offset=last)
                return
        self._acquired.append(Acquired(first, last, delivery_count))


def _available(batch: InFlightBatch, first: int, last: int) -> Iterator[Part]:
    """The records in the range that may be acquired. Divides an available batch if not all of it was read."""
    if batch.whole is not None and not batch.is_within(first, last):
        if not batch.whole.is_available:
            return
        batch.divide()
    for part in batch.parts_within(first, last):
        if part[2].is_available:
            yield part


def _end_of_batch(batches: Sequence[LogBatch], offset: int) -> int:
    """The last offset of the batch of the log that has the offset; the offset itself if there is none."""
    for batch in reversed(batches):
        if batch.base_offset <= offset:
            return max(offset, batch.last_offset)
    return offset


def _divided(batches: Sequence[LogBatch], first: int, last: int, batch_size: int) -> Iterator[tuple[int, int]]:
    """The range in pieces of at least ``batch_size`` offsets, each of which ends where a batch of the log does."""
    if last - first + 1 > batch_size:
        for batch in batches:
            if batch.base_offset > last:
                break
            if batch.base_offset - first >= max(batch_size, 1):
                yield first, batch.base_offset - 1
                first = batch.base_offset
    yield first, last
