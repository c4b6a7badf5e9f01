"""The segments of a log, sorted by their base offsets.

Kafka 0.10.2: core/.../log/Log.scala (its ConcurrentSkipListMap); since 3.0 LogSegments · book 6.1.1
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator

from kafka_lite.log.log_segment import LogSegment


class LogSegments:
    """A sorted map base offset → segment that readers use without a lock.

    ::

        base offsets   0      20      45      70
        segments       │ 0-19 │ 20-44 │ 45-69 │ 70- ...
                                ▲
                       floor(33): the segment that has offset 33, if any has

    A change makes a new tuple and puts it in place of the old one at once, so that a reader has the segments from
    before or from after it. Only one thread changes it at a time: who holds the log's lock.
    """

    def __init__(self) -> None:
        self._segments: tuple[LogSegment, ...] = ()

    def add(self, segment: LogSegment) -> None:
        """Add a segment; one with the same base offset is replaced."""
        others = (s for s in self._segments if s.base_offset != segment.base_offset)
        self._segments = tuple(sorted((*others, segment), key=_base_offset))

    def replace(self, new: LogSegment, old: Iterable[LogSegment]) -> None:
        """Put a segment in the place of those that its messages come from."""
        gone = {segment.base_offset for segment in old} | {new.base_offset}
        others = (s for s in self._segments if s.base_offset not in gone)
        self._segments = tuple(sorted((*others, new), key=_base_offset))

    def remove(self, base_offset: int) -> None:
        """Take a segment out."""
        self._segments = tuple(s for s in self._segments if s.base_offset != base_offset)

    def clear(self) -> None:
        """Take all segments out."""
        self._segments = ()

    @property
    def first(self) -> LogSegment:
        """The oldest segment. A log has at least one."""
        return self._segments[0]

    @property
    def active(self) -> LogSegment:
        """The newest segment, the only one that is appended to."""
        return self._segments[-1]

    def floor(self, offset: int) -> LogSegment | None:
        """The segment with the greatest base offset that is not greater than ``offset``."""
        segments = self._segments
        index = bisect.bisect_right(segments, offset, key=_base_offset)
        return segments[index - 1] if index > 0 else None

    def from_offset(self, offset: int) -> tuple[LogSegment, ...]:
        """The segment that may have ``offset``, and all newer ones."""
        segments = self._segments
        if segments and segments[-1].base_offset <= offset:  # as for most readers: they are near the end
            return segments[-1:]
        return segments[max(0, bisect.bisect_right(segments, offset, key=_base_offset) - 1) :]

    def between(self, start: int, end: int) -> tuple[LogSegment, ...]:
        """The segments that may have offsets from ``start`` up to ``end`` (not included)."""
        if start >= end:
            return ()
        return tuple(segment for segment in self.from_offset(start) if segment.base_offset < end)

    def non_active_from(self, offset: int) -> tuple[LogSegment, ...]:
        """The segment that may have ``offset``, and all newer ones, but for the active one."""
        return self.between(offset, self.active.base_offset)

    def __iter__(self) -> Iterator[LogSegment]:
        return iter(self._segments)

    def __len__(self) -> int:
        return len(self._segments)

    def __contains__(self, base_offset: object) -> bool:
        return any(segment.base_offset == base_offset for segment in self._segments)


def _base_offset(segment: LogSegment) -> int:
    return segment.base_offset
