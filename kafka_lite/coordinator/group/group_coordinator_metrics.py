"""What the coordinator counts: rebalances, and offsets that are committed, deleted or expire.

Kafka 3.9: core/.../coordinator/group/GroupMetadataManager.scala, GroupCoordinator.scala (metrics) · book 5.2.1
"""

from __future__ import annotations

import threading


class GroupCoordinatorMetrics:
    """Plain counters; ``measure_groups`` makes beans of them. A commit only counts, see the architecture."""

    def __init__(self) -> None:
        self.offset_commits = 0
        self.expired_offsets = 0
        self.deleted_offsets = 0
        self.completed_rebalances = 0
        self._load_times_ms: list[float] = []
        self._lock = threading.Lock()

    def committed(self) -> None:
        """A commit was appended."""
        with self._lock:
            self.offset_commits += 1

    def expired(self, offsets: int) -> None:
        """So many offsets have expired."""
        with self._lock:
            self.expired_offsets += offsets

    def deleted(self, offsets: int) -> None:
        """So many offsets were deleted by OffsetDelete."""
        with self._lock:
            self.deleted_offsets += offsets

    def rebalanced(self) -> None:
        """A leader has brought its assignment."""
        with self._lock:
            self.completed_rebalances += 1

    def loaded(self, time_ms: float) -> None:
        """A partition was loaded."""
        with self._lock:
            self._load_times_ms.append(time_ms)

    def take_load_times(self) -> list[float]:
        """The times of loads since the last call."""
        with self._lock:
            times, self._load_times_ms = self._load_times_ms, []
        return times
