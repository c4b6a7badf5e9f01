"""Decides which records of a key belong to one session.

Kafka 0.10.2: streams/.../kstream/SessionWindows.java · book 9.2.4
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from kafka_lite.streams.kstream.dsl_arguments import ensure_milliseconds
from kafka_lite.streams.kstream.windows import DEFAULT_MAINTAIN_MS


@dataclass(frozen=True)
class SessionWindows:
    """Records of a key belong to one session as long as no gap between them is longer than ``inactivity_gap_ms``::

        gap 5       records    0  3      9          20
                    sessions   [──]      []         []
        a record of time 6     [─────────]          []      merges two sessions

    The bounds of a session are the times of its first and its last record.
    """

    inactivity_gap_ms: int
    _maintain_ms: int = DEFAULT_MAINTAIN_MS

    @classmethod
    def with_gap(cls, inactivity_gap_ms: int) -> Self:
        """Sessions that end after a gap of more than ``inactivity_gap_ms``, kept for a day. (Kafka: ``with``.)

        Raises ValueError unless the gap is positive.
        """
        ensure_milliseconds("the gap between sessions", inactivity_gap_ms)
        if inactivity_gap_ms <= 0:
            raise ValueError(f"Gap time cannot be zero or negative: {inactivity_gap_ms}")
        return cls(inactivity_gap_ms)

    def until(self, duration_ms: int) -> Self:
        """Keep sessions for ``duration_ms``. Raises ValueError for less than the gap."""
        if duration_ms < self.inactivity_gap_ms:
            raise ValueError(
                f"Window retention time {duration_ms} cannot be smaller than window gap {self.inactivity_gap_ms}"
            )
        return replace(self, _maintain_ms=duration_ms)

    @property
    def maintain_ms(self) -> int:
        """How long a session is kept, at least, after its end; never less than the gap."""
        return max(self._maintain_ms, self.inactivity_gap_ms)
