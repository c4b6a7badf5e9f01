"""When a source task writes an offset sync: not for each record, but before a translation becomes too old or wrong.

Kafka 2.4: connect/mirror/.../connect/mirror/MirrorSourceTask.java (PartitionState) · book 8.1.1
"""

from __future__ import annotations

UNKNOWN = -1


class OffsetSyncDue:
    """The offsets of one partition, record by record, in both clusters. Kafka: PartitionState.

    ::

        upstream     5   6   7   9  10      a sync is due at 5 (the first one), and at 9: 8 was a marker of a
        downstream   0   1   2   3   4      transaction or was compacted, so that the difference has changed
    """

    def __init__(self, max_offset_lag: int) -> None:
        """``max_offset_lag`` (``offset.lag.max``): so many records at most lie between the last sync and the next."""
        self._max_offset_lag = max_offset_lag
        self._previous_upstream = self._previous_downstream = self._last_synced = UNKNOWN
        self.is_due = False

    def update(self, upstream_offset: int, downstream_offset: int) -> bool:
        """Note a record that was copied. Returns whether a sync is due, which it stays until ``written``."""
        is_first = self._last_synced == UNKNOWN
        # A translation goes at most one record beyond a sync, hence the one.
        is_too_old = downstream_offset - (self._last_synced + 1) >= self._max_offset_lag
        has_skipped = upstream_offset - self._previous_upstream != 1
        was_truncated = downstream_offset < self._previous_downstream
        if is_first or is_too_old or has_skipped or was_truncated:
            self._last_synced = downstream_offset
            self.is_due = True
        self._previous_upstream, self._previous_downstream = upstream_offset, downstream_offset
        return self.is_due

    def written(self) -> None:
        """The sync has been written."""
        self.is_due = False
