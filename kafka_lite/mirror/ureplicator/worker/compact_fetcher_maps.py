"""The maps through which partitions come and go while the others are fetched.

A thread that adds or removes a partition only writes into a map. The thread that owns the partitions looks at its maps
when it begins a round::

    map                  filled by                       at the beginning of the next round
    ───────────────────  ──────────────────────────────  ───────────────────────────────────────────────
    the manager's, whose rounds are those of the leader finder
    removed              remove_topic_partition          leaves all maps; its fetcher is told
    added                add_topic_partition             owned, and without a leader
    with a new leader    a fetcher that had an error     without a leader, if it is still owned
    without a leader     the two above                   given to the fetcher of its leader, once that is known
    ───────────────────  ──────────────────────────────  ───────────────────────────────────────────────
    a fetcher's, whose rounds are its requests
    removed              the manager, the fetcher        not in the next request
    added                the manager                     in the next request, from its offset on

Removals come first. A partition that is removed and added again between two rounds therefore starts afresh.

uReplicator kafka-0.10.2.1: uReplicator-Worker/.../mirrormaker/CompactConsumerFetcherManager.scala,
uReplicator-Worker/.../mirrormaker/CompactConsumerFetcherThread.scala · book 8.2.3
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Set
from typing import NamedTuple

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.old_consumer.partition_topic_info import PartitionTopicInfo


class ManagerMaps:
    """The manager's maps. Not thread-safe."""

    def __init__(self) -> None:
        self.owned: dict[TopicPartition, PartitionTopicInfo] = {}
        self.without_leader: set[TopicPartition] = set()
        self._removed: set[TopicPartition] = set()
        self._added: dict[TopicPartition, PartitionTopicInfo] = {}
        self._with_new_leader: set[TopicPartition] = set()

    def add(self, info: PartitionTopicInfo) -> None:
        """Own a partition from the next round on."""
        self._added[info.topic_partition] = info

    def remove(self, partition: TopicPartition) -> None:
        """Give a partition up in the next round; at once if it has waited for that round itself."""
        self._added.pop(partition, None)
        if partition in self.owned:
            self._removed.add(partition)

    def failed(self, partitions: Iterable[TopicPartition]) -> None:
        """Look up the leaders of these partitions again."""
        self._with_new_leader.update(partitions)

    def begin_round(self) -> frozenset[TopicPartition]:
        """Empty the maps into ``owned`` and ``without_leader``. Returns the partitions that fetchers must give up."""
        removed = frozenset(self._removed)
        for partition in removed:
            del self.owned[partition]
        self.without_leader -= removed
        self.owned.update(self._added)
        self.without_leader.update(self._added)
        self.without_leader.update((self._with_new_leader - removed) & self.owned.keys())
        self._removed.clear()
        self._added.clear()
        self._with_new_leader.clear()
        return removed

    def leaders_found(self, partitions: Collection[TopicPartition]) -> None:
        """Fetchers take these partitions now."""
        self.without_leader.difference_update(partitions)


class AddedPartition(NamedTuple):
    """A partition that a fetcher shall fetch."""

    info: PartitionTopicInfo
    offset: int
    """The first offset to fetch; negative if it has to be looked up by ``auto.offset.reset``."""


class FetcherRound(NamedTuple):
    """The changes of one round."""

    removed: Set[TopicPartition]
    added: dict[TopicPartition, AddedPartition]


class FetcherMaps:
    """The maps of one fetcher thread. Not thread-safe."""

    def __init__(self) -> None:
        self._removed: set[TopicPartition] = set()
        self._added: dict[TopicPartition, AddedPartition] = {}

    def add(self, partition: TopicPartition, added: AddedPartition) -> None:
        """Fetch a partition from the next round on."""
        self._added[partition] = added

    def remove(self, partitions: Iterable[TopicPartition]) -> None:
        """Do not fetch these partitions in the next round, even those that are still to be added."""
        for partition in partitions:
            self._added.pop(partition, None)
            self._removed.add(partition)

    def begin_round(self, fetched: Set[TopicPartition]) -> FetcherRound:
        """Empty the maps. ``fetched`` are the partitions so far; those that stay keep their offsets."""
        removed = self._removed & fetched
        added = {partition: each for partition, each in self._added.items() if partition not in fetched - removed}
        self._removed.clear()
        self._added.clear()
        return FetcherRound(removed, added)

    def count(self, fetched: Set[TopicPartition]) -> int:
        """The number of partitions that the next round will have."""
        return len((fetched - self._removed) | self._added.keys())
