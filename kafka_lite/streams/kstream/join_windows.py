"""Decides by their times which records of two streams are joined.

Kafka 0.10.2: streams/.../kstream/JoinWindows.java · book 9.2.3
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NoReturn, Self

from kafka_lite.streams.kstream.dsl_arguments import ensure_milliseconds
from kafka_lite.streams.kstream.windows import DEFAULT_MAINTAIN_MS, Windows


@dataclass(frozen=True)
class JoinWindows(Windows):
    """A record of this stream meets those of the other stream that are not too far from it in time::

        other stream       ──────┼─────────┼────────┼──────
                            ts - before   ts   ts + after
        this stream        ────────────────┼───────────────

    Both bounds are included.
    """

    before_ms: int
    """How much earlier than the record of this stream the other one may be."""
    after_ms: int
    """How much later it may be."""
    _maintain_ms: int = DEFAULT_MAINTAIN_MS

    def __post_init__(self) -> None:
        """Raises ValueError if no time lies between the bounds."""
        if self.before_ms + self.after_ms < 0:
            raise ValueError(
                f"Window interval (before + after) must not be negative: {self.before_ms} + {self.after_ms}"
            )

    @classmethod
    def of(cls, time_difference_ms: int) -> Self:
        """At most ``time_difference_ms`` earlier or later. Raises ValueError for a negative time."""
        ensure_milliseconds("the difference in time", time_difference_ms)
        return cls(time_difference_ms, time_difference_ms)

    def before(self, time_difference_ms: int) -> Self:
        """At most ``time_difference_ms`` earlier; a negative number: at least so much later. Raises ValueError."""
        return replace(self, before_ms=time_difference_ms)

    def after(self, time_difference_ms: int) -> Self:
        """At most ``time_difference_ms`` later; a negative number: at least so much earlier. Raises ValueError."""
        return replace(self, after_ms=time_difference_ms)

    def until(self, duration_ms: int) -> Self:
        """Keep records for ``duration_ms``, for late ones of the other stream. Raises ValueError if that is too short.

        (0.10.2 forgets it if ``before`` or ``after`` follows.)
        """
        if duration_ms < self.size_ms:
            raise ValueError(
                f"Window retention time {duration_ms} cannot be smaller than the window size {self.size_ms}"
            )
        return replace(self, _maintain_ms=duration_ms)

    @property
    def size_ms(self) -> int:
        """From the earliest to the latest time at which the other record may be."""
        return self.before_ms + self.after_ms

    @property
    def maintain_ms(self) -> int:
        """How long records are kept; a day by default, never less than the size."""
        return max(self._maintain_ms, self.size_ms)

    def windows_for(self, timestamp: int) -> NoReturn:  # noqa: ARG002
        """Raises TypeError: these windows depend on two records."""
        raise TypeError("windows_for is not supported by JoinWindows")
