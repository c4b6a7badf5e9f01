"""Decides by its time which windows a record belongs to.

Kafka 0.10.2: streams/.../kstream/Windows.java, TimeWindows.java, UnlimitedWindows.java · book 9.2.4
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Self

from kafka_lite.streams.kstream.dsl_arguments import ensure_milliseconds
from kafka_lite.streams.windowed import MAX_TIME, TimeWindow, UnlimitedWindow, Window

DEFAULT_MAINTAIN_MS = 24 * 60 * 60 * 1000
DEFAULT_NUM_SEGMENTS = 3


class Windows(ABC):
    """A way to cut time into windows, and how long the windows are kept for late records."""

    num_segments = DEFAULT_NUM_SEGMENTS
    """The number of segments in which a store keeps the windows."""

    @property
    @abstractmethod
    def size_ms(self) -> int:
        """The size of a window."""

    @property
    @abstractmethod
    def maintain_ms(self) -> int:
        """The least time that a window is kept, counted from its start. A later record starts it over."""

    @abstractmethod
    def windows_for(self, timestamp: int) -> dict[int, Window]:
        """The windows to which a time in ms belongs, by their starts, in order."""


@dataclass(frozen=True)
class TimeWindows(Windows):
    """Windows of a fixed size. Each time belongs to one (tumbling windows), or to several that overlap (hopping)::

        TimeWindows.of(10)                      0─────────10────────20────────30
        TimeWindows.of(10).advance_by(5)        0─────────10────────20────────30
                                                     5─────────15────────25

    All windows start at a multiple of the advance.
    """

    _size_ms: int
    advance_ms: int
    """From the start of one window to the start of the next."""
    _maintain_ms: int = DEFAULT_MAINTAIN_MS

    @classmethod
    def of(cls, size_ms: int) -> Self:
        """Tumbling windows, kept for a day. Raises ValueError unless the size is positive."""
        ensure_milliseconds("the size of a window", size_ms)
        if size_ms <= 0:
            raise ValueError(f"Window size must be larger than zero: {size_ms}")
        return cls(size_ms, size_ms)

    def advance_by(self, advance_ms: int) -> Self:
        """Hopping windows of this size. Raises ValueError unless 0 < ``advance_ms`` <= size."""
        if not 0 < advance_ms <= self._size_ms:
            raise ValueError(f"The advance must lie within interval (0, {self._size_ms}]: {advance_ms}")
        return replace(self, advance_ms=advance_ms)

    def until(self, duration_ms: int) -> Self:
        """Keep windows for ``duration_ms``. Raises ValueError for less than the size.

        (0.10.2 forgets it if ``advanceBy`` follows.)
        """
        if duration_ms < self._size_ms:
            raise ValueError(
                f"Window retention time {duration_ms} cannot be smaller than the window size {self._size_ms}"
            )
        return replace(self, _maintain_ms=duration_ms)

    @property
    def size_ms(self) -> int:
        """The size of a window."""
        return self._size_ms

    @property
    def maintain_ms(self) -> int:
        """How long a window is kept; never less than its size."""
        return max(self._maintain_ms, self._size_ms)

    def windows_for(self, timestamp: int) -> dict[int, Window]:
        """The windows to which a time in ms belongs, by their starts, in order. None starts before 0."""
        size, advance = self._size_ms, self.advance_ms
        first = max(0, timestamp - size + advance) // advance * advance
        return {start: TimeWindow(start, start + size) for start in range(first, timestamp + 1, advance)}


@dataclass(frozen=True)
class UnlimitedWindows(Windows):
    """One window that has a start and no end. Records before its start belong to none."""

    start_ms: int = 0

    @classmethod
    def of(cls) -> Self:
        """The window of all time since 1970."""
        return cls()

    def start_on(self, start_ms: int) -> Self:
        """The window from ``start_ms`` on. Raises ValueError for a negative time."""
        if start_ms < 0:
            raise ValueError(f"Window start time cannot be negative: {start_ms}")
        return replace(self, start_ms=start_ms)

    @property
    def size_ms(self) -> int:
        """The greatest time that there is."""
        return MAX_TIME

    @property
    def maintain_ms(self) -> int:
        """Forever: the greatest possible time."""
        return MAX_TIME

    def windows_for(self, timestamp: int) -> dict[int, Window]:
        """The window by its start, or nothing for a time before it."""
        return {self.start_ms: UnlimitedWindow(self.start_ms)} if timestamp >= self.start_ms else {}
