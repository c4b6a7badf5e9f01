"""Partitions are added to a running manager, follow their leaders, and go, while the others are fetched."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.ureplicator.worker.compact_consumer_fetcher_manager import CompactConsumerFetcherManager
from kafka_lite.old_consumer.consumer_stats import ConsumerStats
from kafka_lite.old_consumer.fetched_data_queue import FetchedDataQueue
from kafka_lite.old_consumer.partition_topic_info import FetchedDataChunk, PartitionTopicInfo
from tests.support.blocking_brokers import BlockingBrokers
from tests.support.eventually import eventually
from tests.support.leaders_and_logs import NO_LEADER, LeadersAndLogs, consumer_config
from tests.support.message_chunks import topic_info

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


class Fetching:
    """A manager, and the one queue of all its partitions."""

    def __init__(self, cluster: LeadersAndLogs) -> None:
        self.cluster = cluster
        config = consumer_config(fetch_wait_max_ms=1)
        self.stats = ConsumerStats(config)
        self.manager = CompactConsumerFetcherManager("g_c", config, cluster.zk, self.stats)
        self.queue: FetchedDataQueue[FetchedDataChunk] = FetchedDataQueue(1000)
        self.infos: dict[TopicPartition, PartitionTopicInfo] = {}
        self.manager.start_connections()

    def add(self, *partitions: TopicPartition, offset: int = 0) -> None:
        for each in partitions:
            self.infos[each] = topic_info(self.queue, *each, offset=offset)
            self.manager.add_topic_partition(self.infos[each])

    def remove(self, partition: TopicPartition) -> None:
        self.manager.remove_topic_partition(self.infos[partition])

    def await_offset(self, partition: TopicPartition, offset: int) -> None:
        info = self.infos[partition]
        assert eventually(lambda: info.fetch_offset == offset, lambda: f"{info} at {offset}")

    def sources(self) -> set[int]:
        return {key.broker.id for key in self.manager.fetcher_thread_map}


@pytest.fixture
def fetching(brokers: BlockingBrokers) -> Iterator[Fetching]:
    cluster = LeadersAndLogs(brokers, p0=1, p1=1)
    cluster.ends = {T0: (0, 3), T1: (0, 3)}
    fetching = Fetching(cluster)
    yield fetching
    fetching.manager.stop_connections()


def test_a_partition_is_added_to_the_thread_that_fetches_the_other(fetching: Fetching) -> None:
    fetching.add(T0)
    fetching.await_offset(T0, 3)
    (thread,) = fetching.manager.fetcher_thread_map.values()
    fetching.add(T1, offset=1)
    fetching.await_offset(T1, 3)
    assert list(fetching.manager.fetcher_thread_map.values()) == [thread], "nothing was stopped"


def test_a_removed_partition_is_fetched_no_more_and_the_other_goes_on(fetching: Fetching) -> None:
    fetching.add(T0, T1)
    fetching.await_offset(T0, 3)
    fetching.await_offset(T1, 3)
    fetching.remove(T0)
    fetching.cluster.ends = {T0: (0, 9), T1: (0, 9)}
    fetching.await_offset(T1, 9)
    assert fetching.infos[T0].fetch_offset == 3
    fetching.remove(T1)
    assert eventually(lambda: not fetching.manager.fetcher_thread_map), "a thread without partitions ends"


def test_a_partition_that_returns_starts_at_its_new_offset(fetching: Fetching) -> None:
    fetching.add(T0)
    fetching.await_offset(T0, 3)
    fetching.cluster.ends[T0] = (0, 6)
    fetching.remove(T0)
    fetching.add(T0, offset=5)
    fetching.await_offset(T0, 6)
    chunks = [fetching.queue.take() for _ in range(len(fetching.queue))]
    offsets = [
        chunk.fetch_offset
        for chunk in chunks
        if isinstance(chunk, FetchedDataChunk) and not chunk.topic_info.is_revoked
    ]
    assert offsets == [5]


def test_a_partition_follows_its_leader(fetching: Fetching) -> None:
    fetching.add(T0, T1)
    fetching.await_offset(T0, 3)
    fetching.cluster.leaders[T0] = 2
    fetching.cluster.ends[T0] = (0, 5)
    fetching.await_offset(T0, 5)
    assert eventually(lambda: fetching.sources() == {1, 2})


def test_a_partition_without_a_leader_waits_and_can_be_removed(fetching: Fetching) -> None:
    fetching.cluster.leaders[T0] = NO_LEADER
    fetching.add(T0, T1)
    fetching.await_offset(T1, 3)
    fetching.remove(T0)
    fetching.cluster.leaders[T0] = 1
    fetching.cluster.ends[T1] = (0, 4)
    fetching.await_offset(T1, 4)
    assert fetching.infos[T0].fetch_offset == 0


def test_the_partitions_of_a_dead_broker_wait_for_its_successor(fetching: Fetching) -> None:
    fetching.add(T0)
    fetching.await_offset(T0, 3)
    fetching.cluster.brokers.stop(9001)
    fetching.cluster.ends[T0] = (0, 4)
    fetching.cluster.leaders[T0] = 2
    fetching.await_offset(T0, 4)
    assert eventually(lambda: fetching.sources() == {2})


def test_nothing_is_left_after_the_connections_are_stopped(fetching: Fetching) -> None:
    fetching.add(T0, T1)
    fetching.await_offset(T0, 3)
    fetching.manager.stop_connections()
    assert (fetching.manager.fetcher_thread_map, fetching.cluster.brokers.open) == ({}, 0)
    fetching.manager.add_partitions_with_error([T0])  # a fetcher's last words
    fetching.manager.start_connections([topic_info(fetching.queue, *T1, offset=3)])
    assert eventually(lambda: fetching.sources() == {1})


def test_the_number_of_partitions_is_a_metric(fetching: Fetching) -> None:
    fetching.add(T0, T1)
    fetching.await_offset(T1, 3)
    values = {
        name.name: attributes["Value"]
        for name, attributes in fetching.stats.beans().items()
        if name.type == "CompactConsumerFetcherManager"
    }
    assert values["OwnedPartitionsCount"] == 2
    assert values.keys() == {"OwnedPartitionsCount", "MaxLag", "MinFetchRate"}
