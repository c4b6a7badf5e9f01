"""Translates a group's offsets of the source into offsets of the target, by the pairs in the topic of offset syncs.

Kafka 2.4: connect/mirror/.../connect/mirror/OffsetSyncStore.java · book 8.1.1
"""

from __future__ import annotations

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.connectors.mirror_records import OffsetSync

TOO_EARLY = -1
SYNCS_PER_PARTITION = 64
"""One for each bit of an offset."""
Syncs = tuple[OffsetSync, ...]
"""From the newest to the oldest. Neighbours may be the same object: that place has no sync of its own."""


class OffsetSyncStore:
    """A few syncs of each partition: many near its end, where most groups are, and fewer before.

    ::

        place                           0   1    2    3    4  …
        distance from place 0, at most  0   1    3    7   15  …     in offsets of the source

        source   ──s──────────g─────      a group at g is translated by the last sync s that is not after it:
        target   ──s+1──────────────      to one record after it, since what follows may have been left out

    A translation is never after the true one, so that a group that fails over skips nothing. It reads again what it has
    read since the sync.
    """

    def __init__(self) -> None:
        self._syncs: dict[TopicPartition, Syncs] = {}
        self._only_last = True
        self._is_read_to_end = False

    def begin(self, *, only_last: bool) -> None:
        """The topic will be read from its beginning. ``only_last``: up to its end, only the last sync counts.

        An earlier sync may have been used by a former store, which had more of them, so that translations by both would
        not ascend. A task that knows the former translations compares with them, and keeps all.
        """
        self._syncs.clear()
        self._only_last = only_last
        self._is_read_to_end = False

    def read_to_end(self) -> None:
        """The topic was read once up to its end. Nothing is translated before."""
        self._is_read_to_end = True

    def handle_record(self, sync: OffsetSync) -> None:
        """Take a sync. If the source's offsets have gone back, all earlier ones are wrong, and forgotten."""
        known = self._syncs.get(sync.topic_partition)
        is_alone = self._only_last and not self._is_read_to_end
        if known is None or is_alone or sync.upstream_offset < known[0].upstream_offset:
            self._syncs[sync.topic_partition] = (sync,) * SYNCS_PER_PARTITION
        else:
            self._syncs[sync.topic_partition] = with_newest(known, sync)

    def translate_downstream(self, source: TopicPartition, upstream_offset: int) -> int | None:
        """The offset in the target; None if nothing is known, TOO_EARLY if all syncs are after the offset."""
        known = self._syncs.get(source)
        if not self._is_read_to_end or known is None:
            return None
        sync = next((each for each in known if each.upstream_offset <= upstream_offset), None)
        if sync is None:
            return TOO_EARLY
        return sync.downstream_offset + (0 if sync.upstream_offset == upstream_offset else 1)


def with_newest(known: Syncs, newest: OffsetSync) -> Syncs:
    """The syncs after a new one has come: each place has the oldest one that is not too old for it.

    Places from which on nothing is too old stay as they are. Kafka: updateSyncArray.
    """
    syncs = [newest, *known[1:]]
    replacement, candidate = newest, 0
    for place in range(1, SYNCS_PER_PARTITION):
        replacement, candidate = _replacement(syncs, known, place, replacement, candidate)
        if _is_recent(syncs[place - 1], syncs[place], place - 1, place):
            break
        syncs[place] = replacement
    return tuple(syncs)


def _replacement(
    syncs: list[OffsetSync], known: Syncs, place: int, replacement: OffsetSync, candidate: int
) -> tuple[OffsetSync, int]:
    """The sync that a place gets if its own is too old, and the index in ``known`` of the next one to consider.

    A known sync is better than the one that the place before it has, so that more of them are kept, unless it is too
    close to its neighbours: then it would not be worth its place.
    """
    before = place - 1
    while True:
        old = known[candidate]
        is_apart = _is_apart(syncs[before], old, before)
        is_apart_from_next = place + 1 == SYNCS_PER_PARTITION or _is_apart(old, syncs[place + 1], place)
        fits = is_apart and is_apart_from_next and _is_recent(syncs[before], old, before, place)
        is_repeated = candidate + 1 < SYNCS_PER_PARTITION and old is known[candidate + 1]
        is_useless = is_repeated or not is_apart
        if fits:
            replacement = old
        if fits or is_useless:
            candidate += 1
        if not is_useless or candidate >= place:
            return replacement, candidate


def _is_recent(newer: OffsetSync, older: OffsetSync, newer_place: int, place: int) -> bool:
    """Whether a sync is not too old for a place, beside that of a place before it. Kafka: invariantB."""
    most = (1 << place) - (1 << newer_place)
    return newer is older or newer.upstream_offset <= older.upstream_offset + most


def _is_apart(newer: OffsetSync, older: OffsetSync, newer_place: int) -> bool:
    """Whether a sync is far enough from that of a place before it. Kafka: invariantC."""
    least = 1 << max(newer_place - 2, 0)
    return newer is older or newer.upstream_offset >= older.upstream_offset + least
