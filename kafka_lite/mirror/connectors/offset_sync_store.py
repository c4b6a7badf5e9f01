"""Translates a group's offsets of the source into offsets of the target, by the pairs in the topic of offset syncs.

Kafka 2.4: connect/mirror/.../connect/mirror/OffsetSyncStore.java · book 8.1.1
"""

from __future__ import annotations

from collections.abc import Iterable

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.connectors.mirror_records import OffsetSync

TOO_EARLY = -1


class OffsetSyncStore:
    """A few syncs of each partition: many near its end, where most groups are, and fewer before.

    ::

        distance from the newest sync   0   1   2-3   4-7   8-15   …      one sync of each class at most

        source   ──s──────────g─────      a group at g is translated by the last sync s that is not after it:
        target   ──s+1──────────────      to one record after it, since what follows may have been left out

    A translation is never after the true one, so that a group that fails over skips nothing. It reads again what it has
    read since the sync. (Java keeps 64 syncs for each partition, whose distances grow in the same way.)
    """

    def __init__(self) -> None:
        self._syncs: dict[TopicPartition, list[OffsetSync]] = {}
        self._is_read_to_end = False

    def read_to_end(self) -> None:
        """The topic was read once up to its end. Nothing is translated before."""
        self._is_read_to_end = True

    def handle_record(self, sync: OffsetSync) -> None:
        """Take a sync. If the source's offsets have gone back, all earlier ones are wrong, and forgotten.

        Until the end is reached, only the last sync counts: an earlier one may have been used by a former store, which
        had more of them, so that translations by both would not ascend.
        """
        known = self._syncs.get(sync.topic_partition, [])
        if not self._is_read_to_end or not known or known[0].upstream_offset > sync.upstream_offset:
            self._syncs[sync.topic_partition] = [sync]
        else:
            self._syncs[sync.topic_partition] = thinned([sync, *known])

    def translate_downstream(self, source: TopicPartition, upstream_offset: int) -> int | None:
        """The offset in the target; None if nothing is known, TOO_EARLY if all syncs are after the offset."""
        known = self._syncs.get(source)
        if not self._is_read_to_end or known is None:
            return None
        sync = next((each for each in known if each.upstream_offset <= upstream_offset), None)
        if sync is None:
            return TOO_EARLY
        return sync.downstream_offset + (0 if sync.upstream_offset == upstream_offset else 1)


def thinned(syncs: Iterable[OffsetSync]) -> list[OffsetSync]:
    """Of syncs from the newest to the oldest, the oldest of each class of distances.

    An older sync is worth more than a younger one of its class: offsets that it translates would have no sync at all.
    """
    by_class: dict[int, OffsetSync] = {}
    newest: int | None = None
    for sync in syncs:
        newest = sync.upstream_offset if newest is None else newest
        by_class[(newest - sync.upstream_offset).bit_length()] = sync
    return list(by_class.values())
