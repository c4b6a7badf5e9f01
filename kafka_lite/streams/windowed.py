"""A window, and a key in a window.

Kafka 0.10.2: streams/.../kstream/Window.java, Windowed.java, internals/TimeWindow.java, internals/UnlimitedWindow.java,
internals/SessionWindow.java · book 9.2.4
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Generic, TypeVar

K = TypeVar("K")

MAX_TIME = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Window:
    """A range of time. Windows are equal if they are of the same kind and have the same bounds."""

    start: int
    """In ms."""
    end: int
    """In ms; whether it is included depends on the kind."""

    def __post_init__(self) -> None:
        """Raises ValueError for bounds that are negative or in the wrong order."""
        if self.start < 0:
            raise ValueError(f"Window start time cannot be negative: {self.start}")
        if self.end < self.start:
            raise ValueError(f"Window end time {self.end} cannot be smaller than window start time {self.start}")

    @abstractmethod
    def overlap(self, other: Window) -> bool:
        """Whether a time belongs to both windows. Raises TypeError for a window of another kind."""

    def _ensure_comparable(self, other: Window) -> None:
        if type(self) is not type(other):
            raise TypeError(
                f"Cannot compare windows of different type: a {type(self).__name__} and a {type(other).__name__}"
            )


class TimeWindow(Window):
    """A window of a fixed size. Its end is excluded."""

    __slots__ = ()

    def overlap(self, other: Window) -> bool:
        """Whether a time belongs to both windows."""
        self._ensure_comparable(other)
        return self.start < other.end and other.start < self.end


class UnlimitedWindow(Window):
    """A window without an end."""

    __slots__ = ()

    def __init__(self, start: int) -> None:
        super().__init__(start, MAX_TIME)

    def overlap(self, other: Window) -> bool:
        """True: neither window ends."""
        self._ensure_comparable(other)
        return True


class SessionWindow(Window):
    """From the first record of a session to its last one. Both are included."""

    __slots__ = ()

    def overlap(self, other: Window) -> bool:
        """Whether a time belongs to both windows."""
        self._ensure_comparable(other)
        return self.start <= other.end and other.start <= self.end


@dataclass(frozen=True, slots=True)
class Windowed(Generic[K]):
    """The key of an aggregate of one key in one window."""

    key: K
    window: Window

    def __str__(self) -> str:
        return f"[{self.key}@{self.window.start}]"
