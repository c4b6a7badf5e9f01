"""A batch of records in flight, and all batches of a share partition in order.

Kafka 4.1: core/.../server/share/SharePartition.java (InFlightBatch, cachedState) · book 5.4.1
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from kafka_lite.server.share.in_flight_state import InFlightState
from kafka_lite.server.share.record_state import TERMINAL

Part = tuple[int, int, InFlightState]
"""First and last offset (inclusive) of records with one state."""


class InFlightBatch:
    """Consecutive offsets: with one state as long as all of them have the same fate, later with one for each::

    first                      last          whole:    ACQUIRED, 1 delivery
      │ 10 │ 11 │ 12 │ 13 │ 14 │
        divide()                             offsets:  10 → ACKNOWLEDGED, 11 → ACQUIRED, 12 → AVAILABLE, …
    """

    __slots__ = ("first_offset", "last_offset", "offsets", "whole")

    def __init__(self, first_offset: int, last_offset: int, state: InFlightState) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.whole: InFlightState | None = state
        """The state of all records; None once they are divided."""
        self.offsets: dict[int, InFlightState] = {}
        """The states of single records, in order, once they are divided."""

    def divide(self) -> None:
        """From now on the records have states of their own."""
        if self.whole is not None:
            self.offsets = {at: self.whole.copy() for at in range(self.first_offset, self.last_offset + 1)}
            self.whole.drop_lock()
            self.whole = None

    def is_within(self, first_offset: int, last_offset: int) -> bool:
        """Whether all records are in the range."""
        return first_offset <= self.first_offset and self.last_offset <= last_offset

    def parts(self) -> Iterator[Part]:
        """All states."""
        if self.whole is not None:
            yield self.first_offset, self.last_offset, self.whole
            return
        for offset, state in self.offsets.items():
            yield offset, offset, state

    def parts_within(self, first_offset: int, last_offset: int) -> Iterator[Part]:
        """The states in the range; a batch that is partly in it must be divided."""
        if self.whole is not None:
            assert self.is_within(first_offset, last_offset), "the batch is not divided"
            yield self.first_offset, self.last_offset, self.whole
            return
        for offset in range(max(first_offset, self.first_offset), min(last_offset, self.last_offset) + 1):
            yield offset, offset, self.offsets[offset]

    def done_up_to(self) -> int:
        """The offset after the records, from the first one on, that are done with."""
        for first, _, state in self.parts():
            if state.state not in TERMINAL or state.is_changing:
                return first
        return self.last_offset + 1


class InFlightBatches:
    """The batches by offset. They do not overlap; there may be gaps between them."""

    def __init__(self) -> None:
        self._firsts: list[int] = []
        self._batches: dict[int, InFlightBatch] = {}

    def __len__(self) -> int:
        return len(self._firsts)

    def __iter__(self) -> Iterator[InFlightBatch]:
        return map(self._batches.__getitem__, self._firsts)

    @property
    def first(self) -> InFlightBatch:
        """The batch with the lowest offsets. There must be one."""
        return self._batches[self._firsts[0]]

    @property
    def last(self) -> InFlightBatch:
        """The batch with the highest offsets. There must be one."""
        return self._batches[self._firsts[-1]]

    def add(self, batch: InFlightBatch) -> None:
        """Add a batch, which must not overlap with others."""
        at = bisect_right(self._firsts, batch.first_offset)
        assert at == 0 or self._batches[self._firsts[at - 1]].last_offset < batch.first_offset, "batches overlap"
        assert at == len(self._firsts) or batch.last_offset < self._firsts[at], "batches overlap"
        self._firsts.insert(at, batch.first_offset)
        self._batches[batch.first_offset] = batch

    def overlapping(self, first_offset: int, last_offset: int) -> list[InFlightBatch]:
        """The batches that have an offset in the range, in order."""
        begin = bisect_right(self._firsts, first_offset)
        if begin and self._batches[self._firsts[begin - 1]].last_offset >= first_offset:
            begin -= 1
        return [self._batches[first] for first in self._firsts[begin : bisect_right(self._firsts, last_offset)]]

    def remove_below(self, offset: int) -> None:
        """Forget batches whose last offset is below ``offset``."""
        count = bisect_left(self._firsts, offset)
        if count and self._batches[self._firsts[count - 1]].last_offset >= offset:
            count -= 1
        for first in self._firsts[:count]:
            del self._batches[first]
        del self._firsts[:count]
