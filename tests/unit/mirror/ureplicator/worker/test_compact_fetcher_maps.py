"""Every order in which a partition is added, removed, fails and gets a leader between two rounds."""

from __future__ import annotations

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.ureplicator.worker.compact_fetcher_maps import AddedPartition, FetcherMaps, ManagerMaps
from kafka_lite.old_consumer.fetched_data_queue import FetchedDataQueue
from kafka_lite.old_consumer.partition_topic_info import FetchedDataChunk, PartitionTopicInfo
from tests.support.message_chunks import topic_info

QUEUE: FetchedDataQueue[FetchedDataChunk] = FetchedDataQueue(1)
T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def an_info(partition: TopicPartition = T0) -> PartitionTopicInfo:
    return topic_info(QUEUE, *partition)


def owning(*partitions: TopicPartition) -> ManagerMaps:
    """Maps whose partitions have their leaders."""
    maps = ManagerMaps()
    for partition in partitions:
        maps.add(an_info(partition))
    maps.begin_round()
    maps.leaders_found(partitions)
    return maps


class TestManager:
    def test_a_change_counts_from_the_next_round_on(self) -> None:
        maps, info = ManagerMaps(), an_info()
        maps.add(info)
        assert (maps.owned, maps.without_leader) == ({}, set())
        assert maps.begin_round() == frozenset()
        assert (maps.owned, maps.without_leader) == ({T0: info}, {T0})
        maps.leaders_found([T0])
        assert maps.without_leader == set()
        maps.remove(T0)
        assert maps.owned == {T0: info}
        assert maps.begin_round() == {T0}
        assert maps.owned == {}
        assert maps.begin_round() == frozenset(), "a round happens once"

    def test_a_new_partition_does_not_concern_the_others(self) -> None:
        maps = owning(T0)
        maps.add(an_info(T1))
        maps.begin_round()
        assert maps.without_leader == {T1}

    def test_a_partition_with_an_error_looks_for_its_leader(self) -> None:
        maps = owning(T0, T1)
        maps.failed([T1])
        assert maps.begin_round() == frozenset()
        assert maps.without_leader == {T1}

    def test_a_partition_that_is_removed_does_not_look_for_a_leader(self) -> None:
        maps = owning(T0)
        maps.failed([T0])
        maps.begin_round()
        maps.remove(T0)
        maps.failed([T0])  # the fetcher did not know it yet
        assert maps.begin_round() == {T0}
        assert maps.without_leader == set()
        maps.failed([T0])  # the fetcher's last words
        maps.begin_round()
        assert maps.without_leader == set()

    def test_added_and_removed_in_one_round_is_nothing(self) -> None:
        maps = ManagerMaps()
        maps.add(an_info())
        maps.remove(T0)
        assert (maps.begin_round(), maps.owned, maps.without_leader) == (frozenset(), {}, set())

    def test_removed_and_added_in_one_round_starts_afresh(self) -> None:
        maps, again = owning(T0), an_info()
        maps.remove(T0)
        maps.add(again)
        assert maps.begin_round() == {T0}, "its fetcher gives up the old offset"
        assert maps.owned[T0] is again
        assert maps.without_leader == {T0}

    def test_removed_added_and_removed_again_is_gone(self) -> None:
        maps = owning(T0)
        maps.remove(T0)
        maps.add(an_info())
        maps.remove(T0)
        assert maps.begin_round() == {T0}
        assert (maps.owned, maps.without_leader) == ({}, set())

    def test_the_map_of_owned_partitions_stays_the_same_object(self) -> None:
        maps = owning(T0)
        owned = maps.owned
        maps.remove(T0)
        maps.add(an_info(T1))
        maps.begin_round()
        assert owned is maps.owned, "fetchers hold it"


class TestFetcher:
    def test_added_and_removed_count_from_the_next_round_on(self) -> None:
        maps, added = FetcherMaps(), AddedPartition(an_info(), 7)
        maps.add(T0, added)
        assert maps.count({T1}) == 2
        assert maps.begin_round({T1}) == (set(), {T0: added})
        maps.remove([T0])
        assert maps.count({T0, T1}) == 1
        assert maps.begin_round({T0, T1}) == ({T0}, {})
        assert maps.begin_round({T1}) == (set(), {})

    def test_a_partition_that_is_fetched_already_keeps_its_offset(self) -> None:
        maps = FetcherMaps()
        maps.add(T0, AddedPartition(an_info(), 3))
        assert maps.begin_round({T0}) == (set(), {})

    def test_removed_and_added_in_one_round_starts_at_the_new_offset(self) -> None:
        maps, added = FetcherMaps(), AddedPartition(an_info(), 3)
        maps.remove([T0])
        maps.add(T0, added)
        assert maps.count({T0}) == 1
        assert maps.begin_round({T0}) == ({T0}, {T0: added})

    def test_added_and_removed_in_one_round_is_nothing(self) -> None:
        maps = FetcherMaps()
        maps.add(T0, AddedPartition(an_info(), 3))
        maps.remove([T0, T1])
        assert maps.count(set()) == 0
        assert maps.begin_round(set()) == (set(), {})
