"""Knows which records of a partition of ``__share_group_state`` are not needed any more.

Kafka 4.1: share-coordinator/.../coordinator/share/ShareCoordinatorOffsetsManager.java · book 10.3
"""

from __future__ import annotations

from kafka_lite.coordinator.share.persister import SharePartitionKey


class ShareCoordinatorOffsetsManager:
    """The offset of each share partition's last snapshot. All records before the lowest of them are redundant.

    ::

        offset      0    1    2    3    4    5    6
        record      A    B    a    A    b    B    b         A, B: snapshots; a, b: updates
                    ╰─ redundant ─╯    │
                                       ╰ the lowest of the last snapshots, A at 3 and B at 5

    The topic is not compacted, because an update does not replace the one before. A partition whose state does not
    change would keep all records after its snapshot, so it gets another one from time to time.
    """

    def __init__(self) -> None:
        self._offsets: dict[SharePartitionKey, int] = {}
        self._last_tombstone = 0

    def update(self, key: SharePartitionKey, offset: int, *, is_tombstone: bool = False) -> None:
        """A snapshot, or the tombstone of a partition, is in the log at this offset."""
        if is_tombstone:
            # Kafka keeps the tombstone's offset for ever. Yet all that it deletes lies before it.
            self._offsets.pop(key, None)
            self._last_tombstone = max(self._last_tombstone, offset)
        else:
            self._offsets[key] = offset

    def last_redundant_offset(self) -> int | None:
        """The offset before which all records may be deleted; None if there are none."""
        lowest = min(self._offsets.values(), default=self._last_tombstone)
        return lowest if lowest > 0 else None
