"""The segments of a log, sorted by base offset.

Kafka 0.10.2: core/.../log/Log.scala (its ConcurrentSkipListMap); since 3.0 LogSegments · book 6.1.1
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator

from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.log.producers.aborted_txn import AbortedTxn


class LogSegments:
    """A sorted map from base offsets to segments that can be read without a lock.

    ::

        base offsets   0      20      45      70
        segments       │ 0-19 │ 20-44 │ 45-69 │ 70- ...
                                ▲
                       floor(33): the segment that contains offset 33, if it exists

    A change replaces the tuple atomically, so a reader sees the segments either before or after it. Only one thread at
    a time makes changes: the one that holds the log's lock.
    """

    def __init__(self) -> None:
        self._segments: tuple[LogSegment, ...] = ()

    def add(self, segment: LogSegment) -> None:
        """Add a segment, replacing one with the same base offset."""
        others = (s for s in self._segments if s.base_offset != segment.base_offset)
        self._segments = tuple(sorted((*others, segment), key=_base_offset))

    def replace(self, new: LogSegment, old: Iterable[LogSegment]) -> None:
        """Replace segments by the one that has their messages."""
        gone = {segment.base_offset for segment in old} | {new.base_offset}
        others = (s for s in self._segments if s.base_offset not in gone)
        self._segments = tuple(sorted((*others, new), key=_base_offset))

    def remove(self, base_offset: int) -> None:
        """Remove a segment."""
        self._segments = tuple(s for s in self._segments if s.base_offset != base_offset)

    def clear(self) -> None:
        """Remove all segments."""
        self._segments = ()

    @property
    def first(self) -> LogSegment:
        """The oldest segment. A log has at least one segment."""
        return self._segments[0]

    @property
    def active(self) -> LogSegment:
        """The newest segment, the only one to which messages are appended."""
        return self._segments[-1]

    def floor(self, offset: int) -> LogSegment | None:
        """The segment with the greatest base offset that is less than or equal to ``offset``, or None."""
        segments = self._segments
        index = bisect.bisect_right(segments, offset, key=_base_offset)
        return segments[index - 1] if index > 0 else None

    def from_offset(self, offset: int) -> tuple[LogSegment, ...]:
        """The segment that may contain ``offset``, and all newer ones."""
        segments = self._segments
        if segments and segments[-1].base_offset <= offset:  # true for most readers: they are near the end
            return segments[-1:]
        return segments[max(0, bisect.bisect_right(segments, offset, key=_base_offset) - 1) :]

    def between(self, start: int, end: int) -> tuple[LogSegment, ...]:
        """The segments that may contain offsets from ``start`` up to ``end`` (exclusive)."""
        if start >= end:
            return ()
        return tuple(segment for segment in self.from_offset(start) if segment.base_offset < end)

    def non_active_from(self, offset: int) -> tuple[LogSegment, ...]:
        """The segment that may contain ``offset``, and all newer ones except the active one."""
        return self.between(offset, self.active.base_offset)

    def aborted_transactions(
        self, start: LogOffsetMetadata, size_in_bytes: int, log_end_offset: int
    ) -> list[AbortedTxn]:
        """The aborted transactions that overlap the ``size_in_bytes`` that were read from ``start`` on.

        The end of what was read is known from the offset index, so it may be too large; then a reader gets transactions
        that it will meet only later.
        """
        segments = self.from_offset(start.segment_base_offset)
        upper = segments[0].offset_index.upper_bound_offset(start.relative_position_in_segment + size_in_bytes)
        if upper is None:
            upper = segments[1].base_offset if len(segments) > 1 else log_end_offset
        return self.aborted_between(start.message_offset, upper)

    def aborted_between(self, start: int, end: int) -> list[AbortedTxn]:
        """The aborted transactions that have offsets from ``start`` up to ``end``, in the order of their markers.

        Indexes are read until an entry says that no later marker can abort anything below the end.
        """
        found = []
        for segment in self.from_offset(start):
            for aborted in segment.txn_index.entries:
                if aborted.last_offset >= start and aborted.first_offset < end:
                    found.append(aborted)
                if aborted.last_stable_offset >= end:
                    return found
        return found

    def __iter__(self) -> Iterator[LogSegment]:
        return iter(self._segments)

    def __len__(self) -> int:
        return len(self._segments)

    def __contains__(self, base_offset: object) -> bool:
        return any(segment.base_offset == base_offset for segment in self._segments)


def _base_offset(segment: LogSegment) -> int:
    return segment.base_offset
