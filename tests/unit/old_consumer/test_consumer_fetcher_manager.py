"""Partitions find their leaders, follow them, and are in nobody's hands once the connections are stopped."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.old_consumer.consumer_fetcher_manager import ConsumerFetcherManager, leaders_of
from kafka_lite.old_consumer.consumer_stats import ConsumerStats
from kafka_lite.old_consumer.fetched_data_queue import FetchedDataQueue
from kafka_lite.old_consumer.partition_topic_info import FetchedDataChunk, PartitionTopicInfo
from kafka_lite.protocol.messages.api_01_fetch import FetchRequest
from kafka_lite.protocol.messages.api_03_metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from tests.support.blocking_brokers import BlockingBrokers
from tests.support.eventually import eventually
from tests.support.leaders_and_logs import NO_LEADER, LeadersAndLogs, consumer_config
from tests.support.message_chunks import topic_info

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)


class Consuming:
    """A manager, and what its fetchers have put into the queues."""

    def __init__(self, cluster: LeadersAndLogs, capacity: int = 1000) -> None:
        self.cluster = cluster
        self.config = consumer_config()
        self.stats = ConsumerStats(self.config)
        self.manager = ConsumerFetcherManager("g_c", self.config, cluster.zk, self.stats)
        self.capacity = capacity
        self.queues: dict[TopicPartition, FetchedDataQueue[FetchedDataChunk]] = {}

    def start(self, *partitions: TopicPartition, offset: int = 0) -> list[PartitionTopicInfo]:
        self.queues = {partition: FetchedDataQueue(self.capacity) for partition in partitions}
        infos = [topic_info(self.queues[each], *each, offset=offset) for each in partitions]
        self.manager.start_connections(infos)
        return infos

    def read(self, partition: TopicPartition, count: int) -> list[int]:
        """The offsets of the next messages."""
        offsets: list[int] = []
        while len(offsets) < count:
            chunk = self.queues[partition].take(60_000)
            assert isinstance(chunk, FetchedDataChunk), f"only {offsets}"
            offsets += [record.offset for record in chunk.messages]
        return offsets

    def sources(self) -> set[int]:
        """The brokers that partitions are fetched from."""
        return {key.broker.id for key in self.manager.fetcher_thread_map}


@pytest.fixture
def cluster(brokers: BlockingBrokers) -> LeadersAndLogs:
    cluster = LeadersAndLogs(brokers, p0=1, p1=2)
    cluster.ends = {T0: (0, 3), T1: (0, 3)}
    return cluster


@pytest.fixture
def consuming(cluster: LeadersAndLogs) -> Iterator[Consuming]:
    consuming = Consuming(cluster)
    yield consuming
    consuming.manager.stop_connections()


def test_each_partition_is_fetched_from_its_leader(consuming: Consuming) -> None:
    consuming.start(T0, T1)
    assert (consuming.read(T0, 3), consuming.read(T1, 3)) == ([0, 1, 2], [0, 1, 2])
    assert consuming.sources() == {1, 2}
    brokers = consuming.cluster.brokers
    for port, partition in ((9001, 0), (9002, 1)):
        fetches = [each for each in brokers.sent_to(port) if isinstance(each, FetchRequest)]
        assert {each.partition for fetch in fetches for topic in fetch.topics for each in topic.partitions} == {
            partition
        }


def test_a_partition_follows_its_leader_and_continues_at_its_fetch_offset(consuming: Consuming) -> None:
    (info, _) = consuming.start(T0, T1)
    assert consuming.read(T0, 3) == [0, 1, 2]
    consuming.cluster.leaders[T0] = 2
    consuming.cluster.ends[T0] = (0, 5)
    assert consuming.read(T0, 2) == [3, 4]
    assert eventually(lambda: info.fetch_offset == 5)
    assert eventually(lambda: consuming.sources() == {2}), "the fetcher without partitions has ended"


def test_a_partition_without_a_leader_does_not_hold_up_the_others(consuming: Consuming) -> None:
    consuming.cluster.leaders[T0] = NO_LEADER
    consuming.start(T0, T1)
    assert consuming.read(T1, 3) == [0, 1, 2]
    assert len(consuming.queues[T0]) == 0
    consuming.cluster.leaders[T0] = 1
    assert consuming.read(T0, 3) == [0, 1, 2]


def test_partitions_of_a_dead_broker_wait_for_its_successor(consuming: Consuming) -> None:
    consuming.start(T0, T1)
    assert consuming.read(T0, 3) == [0, 1, 2]
    consuming.cluster.brokers.stop(9001)
    consuming.cluster.ends[T0] = (0, 4)
    consuming.cluster.leaders[T0] = 2
    assert consuming.read(T0, 1) == [3]


def test_the_search_for_leaders_survives_a_cluster_that_is_away(
    consuming: Consuming, caplog: pytest.LogCaptureFixture
) -> None:
    for port in (9001, 9002):
        consuming.cluster.brokers.stop(port)
    consuming.start(T0)
    eventually(lambda: "Failed to find or add leaders for t-0, will retry: fetching topic metadata" in caplog.text)
    for number in (1, 2):
        consuming.cluster.start(number)
    assert consuming.read(T0, 3) == [0, 1, 2]


def test_a_start_offset_that_nobody_committed_is_asked_for_until_the_leader_responds(consuming: Consuming) -> None:
    consuming.cluster.ends[T0] = (5, 8)
    brokers = consuming.cluster.brokers
    offsets_of = brokers.handlers[9001]
    (list_offsets,) = [each for each in offsets_of if each.__name__ == "ListOffsetsRequest"]
    working = offsets_of[list_offsets]
    brokers.answer(9001, list_offsets, ConnectionError("lost"), ConnectionError("lost"), working)
    (info,) = consuming.start(T0, offset=-1)
    assert eventually(lambda: info.fetch_offset == 8), "auto.offset.reset is largest"
    assert info.consume_offset == 8


def test_nothing_arrives_after_the_connections_are_stopped(consuming: Consuming) -> None:
    infos = consuming.start(T0, T1)
    assert consuming.read(T0, 3) == [0, 1, 2]
    consuming.manager.stop_connections()
    consuming.cluster.ends = {T0: (0, 9), T1: (0, 9)}
    requests = len(consuming.cluster.brokers.requests)
    assert consuming.manager.fetcher_thread_map == {}
    assert consuming.cluster.brokers.open == 0
    consuming.manager.add_partitions_with_error([T0, T1])  # a fetcher's last words
    consuming.manager.stop_connections()
    assert (len(consuming.cluster.brokers.requests), infos[0].fetch_offset) == (requests, 3)


def test_stopping_does_not_wait_for_room_in_a_queue(cluster: LeadersAndLogs) -> None:
    consuming = Consuming(cluster, capacity=1)
    (info,) = consuming.start(T0)
    eventually(lambda: sum(isinstance(each, FetchRequest) for each in cluster.brokers.sent_to(9001)) == 2)
    consuming.manager.stop_connections()
    assert (len(consuming.queues[T0]), info.fetch_offset) == (1, 1), "the second message was not added"
    consuming.start(T0, offset=info.fetch_offset)
    assert consuming.read(T0, 2) == [1, 2], "and is fetched again"
    consuming.manager.stop_connections()


def test_a_restart_fetches_only_the_partitions_of_the_new_assignment(consuming: Consuming) -> None:
    consuming.start(T0, T1)
    consuming.read(T0, 3)
    consuming.manager.stop_connections()
    consuming.start(T1, offset=1)
    assert consuming.read(T1, 2) == [1, 2]
    consuming.manager.add_partitions_with_error([T0, U0])
    assert consuming.sources() == {2}


def test_the_largest_lag_of_all_fetchers_is_a_metric(consuming: Consuming) -> None:
    consuming.start(T0, T1)
    consuming.read(T0, 3)
    consuming.read(T1, 3)

    def lag() -> object:
        beans = {name.mbean_name: values for name, values in consuming.stats.beans().items()}
        return beans["kafka.consumer:type=ConsumerFetcherManager,name=MaxLag,clientId=c"]["Value"]

    assert eventually(lambda: lag() == 0)


def test_only_brokers_with_a_plaintext_listener_are_asked(consuming: Consuming) -> None:
    consuming.cluster.zk.zookeeper.delete("/brokers/ids/2")
    consuming.start(T0)
    assert consuming.read(T0, 3) == [0, 1, 2]
    asked = {port for port, request, _ in consuming.cluster.brokers.requests if isinstance(request, MetadataRequest)}
    assert asked == {9001}


def test_leaders_of_partitions_are_looked_up() -> None:
    metadata = MetadataResponse(
        brokers=[MetadataResponseBroker(node_id=1, host="a", port=9092)],
        topics=[
            MetadataResponseTopic(name="t", partitions=[
                MetadataResponsePartition(partition_index=0, leader_id=1),
                MetadataResponsePartition(partition_index=1, leader_id=-1, error_code=Errors.LEADER_NOT_AVAILABLE.code),
                MetadataResponsePartition(partition_index=2, leader_id=1),
            ]),
            MetadataResponseTopic(name="u", error_code=Errors.UNKNOWN_TOPIC_OR_PARTITION.code),
        ],
    )  # fmt: skip
    assert leaders_of({T0, T1, U0}, metadata) == {T0: (1, "a", 9092)}
