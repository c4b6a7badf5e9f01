"""Divides the entries of a store by time, so that expired ones are dropped many at once.

Kafka 0.10.2: streams/.../state/internals/Segments.java, Segment.java · book 9.2.4
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Generic, TypeVar

MIN_SEGMENT_INTERVAL_MS = 60_000


class Segment(ABC):
    """The entries of one interval of time."""

    @abstractmethod
    def put(self, key: bytes, value: bytes | None) -> None:
        """Set or delete the value of a binary key."""

    @abstractmethod
    def get(self, key: bytes) -> bytes | None:
        """The value of a binary key, or None."""

    @abstractmethod
    def fetch(self, key: bytes, lower: bytes, upper: bytes) -> Iterator[tuple[bytes, bytes]]:
        """The suffixes and values of a record's key, with suffixes from ``lower`` to below ``upper``, in their order.

        The entries are those of the moment of the call.
        """

    @abstractmethod
    def flush(self) -> None:
        """Make all writes durable, if the segment is persistent."""

    @abstractmethod
    def close(self) -> None:
        """Close the segment."""

    @abstractmethod
    def destroy(self) -> None:
        """Delete what a closed segment has left on disk."""


S = TypeVar("S", bound=Segment)


class Segments(Generic[S]):
    """The ``num_segments`` newest intervals. A put into a newer one drops the oldest.

    ::

        retention 10 min, 3 segments: an interval is 10 / (3 - 1) = 5 min, but never under a minute

           0     5     10    15    20 min
           |  0  |  1  |  2  |  3  |          a time in segment 3 drops segment 0

    So an entry is kept for at least the retention period, and at most one interval longer. Time advances with the puts.

    0.10.2 never reads segments that are older than the first one: late records at the start of an application do not
    find each other. (That was a bug, mended later; here they do.)
    """

    def __init__(self, retention_ms: int, num_segments: int, open_segment: Callable[[int], S]) -> None:
        """``open_segment(id)`` opens a segment. Raises ValueError for fewer than two segments."""
        if num_segments < 2:
            raise ValueError(f"Number of segments must be at least 2, not {num_segments}")
        self._num_segments = num_segments
        self._open_segment = open_segment
        self.segment_interval_ms = max(retention_ms // (num_segments - 1), MIN_SEGMENT_INTERVAL_MS)
        self._segments: dict[int, S] = {}
        self._max_segment_id = -1

    def segment_for(self, timestamp: int) -> S | None:
        """The segment of a time, or None if there is none."""
        return self._segments.get(timestamp // self.segment_interval_ms)

    def get_or_create(self, timestamp: int) -> S | None:
        """The segment of a time in ms, opened if there is none. None if that time has expired.

        A time in a newer segment than all before drops those that expire by it.
        """
        segment_id = timestamp // self.segment_interval_ms
        segment = self._segments.get(segment_id)
        if segment is None and segment_id > self._max_segment_id - self._num_segments:
            self._max_segment_id = max(segment_id, self._max_segment_id)
            self._drop_expired()
            segment = self._segments[segment_id] = self._open_segment(segment_id)
        return segment

    def segments(self, time_from: int, time_to: int) -> list[S]:
        """The open segments with a part of this range of time in ms, both bounds included, oldest first."""
        first, last = time_from // self.segment_interval_ms, time_to // self.segment_interval_ms
        if first == last:
            segment = self._segments.get(first)
            return [] if segment is None else [segment]
        found = [self._segments.get(each) for each in sorted(self._segments) if first <= each <= last]
        return [segment for segment in found if segment is not None]  # the task's thread may drop one meanwhile

    def flush(self) -> None:
        """Flush all segments."""
        for segment in self._segments.values():
            segment.flush()

    def close(self) -> None:
        """Close all segments, even if one of them fails."""
        with ExitStack() as closing:
            for segment in self._segments.values():
                closing.callback(segment.close)
            self._segments.clear()

    def _drop_expired(self) -> None:
        for segment_id in [each for each in self._segments if each <= self._max_segment_id - self._num_segments]:
            segment = self._segments.pop(segment_id)
            segment.close()
            segment.destroy()
