"""The records of a partition that are in flight in a share group, and what is fetched next: no I/O.

Kafka 4.1: core/.../server/share/SharePartition.java (nextFetchOffset, maybeUpdateCachedStateAndOffsets,
updateCacheAndOffsets, InitialReadGapOffset) · book 5.4.1
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kafka_lite.server.share.in_flight_batch import InFlightBatch, InFlightBatches
from kafka_lite.server.share.in_flight_state import InFlightState
from kafka_lite.server.share.record_state import RecordState


class StateBatch(NamedTuple):
    """Records of one state, as the persister keeps them."""

    first_offset: int
    last_offset: int
    state: RecordState
    delivery_count: int


class InFlightRecords:
    """The records between the start offset (SPSO) and the end offset (SPEO) of a share partition::

                   start_offset                              end_offset
                        ▼                                         ▼
        │ done with     │ acquired │ done with │ available │ acquired │ not delivered yet …
                                               ▲                      ▲
                                  next_fetch_offset first;   then end_offset + 1

    Without records in flight both offsets are the next one to deliver. Records before the start offset are done with,
    or the log no longer has them.
    """

    def __init__(self, start_offset: int, batches: Iterable[StateBatch] = ()) -> None:
        """``batches``: what the persister has, in order, from ``start_offset`` on.

        Raises ValueError if there is a batch before that, or if batches overlap.
        """
        self.batches = InFlightBatches()
        self.start_offset = self.end_offset = start_offset
        self.has_available = False
        """Whether there may be records to deliver again, or a gap to fill, so that one must look for them."""
        self._gap: int | None = None
        self._gap_end = 0
        self._load(batches)

    def _load(self, batches: Iterable[StateBatch]) -> None:
        """A leader that failed may have persisted nothing of records between others: these are delivered again."""
        expected = self.start_offset
        for first, last, state, count in batches:
            if not expected <= first <= last:
                raise ValueError(f"the batch {first}-{last} begins below {expected}, or ends before it begins")
            if self._gap is None and first > expected:
                self._gap = expected
            self.batches.add(InFlightBatch(first, last, InFlightState(state, count)))
            expected = last + 1
        if len(self.batches):
            self.has_available = True
            self.end_offset = self._gap_end = expected - 1
            self.move_start_offset()

    @property
    def gap_offset(self) -> int | None:
        """Where to look for records that an earlier leader delivered without persisting anything of them.

        That is over once records beyond those that the persister had are in flight.
        """
        if self._gap is None or self._gap_end != self.end_offset:
            return None
        return max(self._gap, self.start_offset)

    def fill_gap(self, up_to_offset: int) -> None:
        """Records below the offset need not be looked for any more."""
        gap = self.gap_offset
        self._gap = None if gap is None else max(gap, up_to_offset)

    @property
    def count(self) -> int:
        """How many records are in flight, those between others that are done with included."""
        return self.end_offset - self.start_offset + 1 if len(self.batches) else 0

    @property
    def first_after(self) -> int:
        """The first offset that was not delivered yet."""
        if len(self.batches) and self.start_offset <= self.batches.last.last_offset:
            return self.end_offset + 1
        return self.end_offset

    def can_acquire(self, max_in_flight: int) -> bool:
        """Whether a fetch may find records that may be delivered now: others than new ones, or few are in flight."""
        return self.next_fetch_offset() != self.end_offset + 1 or self.count < max_in_flight

    def next_fetch_offset(self) -> int:
        """The lowest offset that may be delivered: again, or for the first time."""
        if self.has_available:
            found = self._first_available()
            if found is not None:
                return found
            self.has_available = False
        return self.first_after

    def _first_available(self) -> int | None:
        gap = self.gap_offset
        for batch in self.batches:
            if batch.last_offset < self.start_offset:
                continue
            if gap is not None:
                if batch.first_offset > gap:
                    return gap
                gap = max(gap, batch.last_offset + 1)
            for first, last, state in batch.parts():
                if state.is_available and last >= self.start_offset:
                    return max(first, self.start_offset)
        return None

    def move_start_offset(self) -> bool:
        """Forget records that are done with, if all before them are, too. Returns whether there were any."""
        if not len(self.batches):
            return False
        gap = self.gap_offset
        done = self.batches.first.first_offset
        for batch in self.batches:
            if gap is not None:
                if gap < batch.first_offset:
                    break
                gap = max(gap, batch.last_offset + 1)
            if batch.first_offset > done:
                done = batch.first_offset  # there are no records in between
            done = batch.done_up_to()
            if done <= batch.last_offset:
                break
        if done == self.batches.first.first_offset:
            return False
        self._forget_below(done)
        return True

    def _forget_below(self, done: int) -> None:
        gap = self.gap_offset
        self.batches.remove_below(done)
        if not len(self.batches):
            self.start_offset = self.end_offset = max(self.start_offset, done)
            return
        first = self.batches.first.first_offset
        start = first if gap is None else min(max(gap, done), first)
        self.start_offset = max(self.start_offset, start, done)

    def archive_missing(self, first_offset: int, end_offset: int) -> None:
        """The log has no records from ``first_offset`` to below ``end_offset``: give up those that are available."""
        if first_offset >= end_offset:
            return
        for batch in self.batches.overlapping(first_offset, end_offset - 1):
            if batch.whole is not None and not batch.is_within(first_offset, end_offset - 1):
                if not batch.whole.is_available:
                    continue
                batch.divide()
            for _, _, state in batch.parts_within(first_offset, end_offset - 1):
                if state.is_available:
                    state.archive()

    def log_start_offset_moved(self, log_start_offset: int) -> None:
        """The log begins later than the records in flight.

        Those that are acquired stay so until they are acknowledged, or their locks expire.
        """
        if log_start_offset <= self.start_offset:
            return
        self.archive_missing(self.start_offset, log_start_offset)
        self.start_offset = log_start_offset
        self.end_offset = max(self.end_offset, log_start_offset)
        if not len(self.batches):
            self.end_offset = log_start_offset
        self.has_available = True
        self.move_start_offset()
