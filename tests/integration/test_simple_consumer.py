"""SimpleConsumer, and the program that the book writes with it, on brokers of both message formats."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial

import pytest

from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.old_consumer import FetchRequestBuilder, SimpleConsumer
from kafka_lite.old_consumer.simple.simple_consumer import EARLIEST_TIME, LATEST_TIME
from kafka_lite.old_consumer.simple.simple_example import SimpleExample
from kafka_lite.protocol.messages.api_08_offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from kafka_lite.protocol.messages.api_09_offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from kafka_lite.record.record import Record, TimestampType
from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


@pytest.fixture(scope="module", params=["0.9.0", "0.10.2", "3.0"])
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    with Cluster({"log.message.format.version": request.param, "log.retention.ms": "-1"}) as running:
        running.create_topic("t", 2, {"retention.ms": -1})  # the messages are from 2017
        running.produce("t", *(f"a{number}" for number in range(20)), key="k", timestamp_ms=1_500_000_000_000)
        running.produce("t", "b0", partition=1)
        yield running


@pytest.fixture
def broker(cluster: Cluster) -> BrokerEndPoint:
    return BrokerEndPoint.parse(0, cluster.bootstrap_servers)


@pytest.fixture
def consumer(broker: BrokerEndPoint) -> Iterator[SimpleConsumer]:
    with SimpleConsumer(broker.host, broker.port, 10_000, 64 * 1024, "simple") as made:
        yield made


@pytest.mark.parametrize("version", range(4))
def test_fetch_in_every_version(cluster: Cluster, consumer: SimpleConsumer, version: int) -> None:
    builder = FetchRequestBuilder().request_version(version).max_wait(100).min_bytes(1)
    request = builder.add_fetch("t", 1, 0, 10_000).add_fetch("t", 0, 15, 10_000).build()
    response = consumer.fetch(request)
    assert list(response.data) == [T1, T0]
    assert not response.has_error
    assert response.high_watermark("t", 0) == 20
    records = [record for record in response.message_set("t", 0) if record.offset >= 15]
    assert [(record.offset, record.key, record.value) for record in records] == [
        (offset, b"k", b"a%d" % offset) for offset in range(15, 20)
    ]
    has_time = version >= 2 and cluster.server.config.original["log.message.format.version"] != "0.9.0"
    expected = (1_500_000_000_000, TimestampType.CREATE_TIME) if has_time else (-1, TimestampType.NO_TIMESTAMP_TYPE)
    assert {(record.timestamp, record.timestamp_type) for record in records} == {expected}
    with pytest.raises(KafkaError, match="No partition"):
        response.error("t", 7)


def test_versions_newer_than_the_old_consumer_are_rejected() -> None:
    with pytest.raises(KafkaError, match="fetch version 4: the old consumer has versions 0 to 3"):
        FetchRequestBuilder().request_version(4)


def test_errors_belong_to_their_partition(consumer: SimpleConsumer) -> None:
    request = FetchRequestBuilder().add_fetch("t", 0, 1000, 100).add_fetch("t", 9, 0, 100).build()
    response = consumer.fetch(request)
    assert response.has_error
    assert (response.error("t", 0), response.error("t", 9)) == (
        Errors.OFFSET_OUT_OF_RANGE, Errors.UNKNOWN_TOPIC_OR_PARTITION
    )  # fmt: skip
    assert response.size_in_bytes == 0
    with pytest.raises(ApiError) as caught:
        consumer.earliest_or_latest_offset(TopicPartition("t", 9), LATEST_TIME)
    assert caught.value.error is Errors.UNKNOWN_TOPIC_OR_PARTITION


def test_offsets_before_a_time(consumer: SimpleConsumer) -> None:
    assert consumer.earliest_or_latest_offset(T0, EARLIEST_TIME) == 0
    assert consumer.earliest_or_latest_offset(T0, LATEST_TIME) == 20


@pytest.mark.parametrize("version", [0, 1, 2])
def test_commit_and_fetch_offsets(consumer: SimpleConsumer, version: int) -> None:
    """Version 0 stores them in ZooKeeper, the others in Kafka."""
    group = f"g{version}"
    eventually(lambda: consumer.send_group_coordinator_request(group).error_code == Errors.NONE.code)
    entry = OffsetCommitRequestPartition(partition_index=0, committed_offset=7, committed_metadata="note")
    topic = OffsetCommitRequestTopic(name="t", partitions=[entry])
    request = OffsetCommitRequest(group_id=group, topics=[topic])
    eventually(lambda: commit_errors(consumer.commit_offsets(request, version)) == [Errors.NONE])  # may be loading
    asked = OffsetFetchRequest(group_id=group, topics=[OffsetFetchRequestTopic(name="t", partition_indexes=[0])])
    for fetch_version in (0, 1, 2):
        expected = (7, Errors.NONE) if (fetch_version == 0) == (version == 0) else (-1, Errors.NONE)
        if fetch_version == 0 and version > 0:  # if ZooKeeper has no offset, Kafka returns UNKNOWN_TOPIC_OR_PARTITION
            expected = (-1, Errors.UNKNOWN_TOPIC_OR_PARTITION)
        eventually(partial(has_committed, consumer, asked, fetch_version, expected))


def commit_errors(response: OffsetCommitResponse) -> list[Errors]:
    return [Errors.for_code(each.error_code) for topic in response.topics for each in topic.partitions]


def has_committed(
    consumer: SimpleConsumer, asked: OffsetFetchRequest, version: int, expected: tuple[int, Errors]
) -> bool:
    response = consumer.fetch_offsets(asked, version)
    found = [(each.committed_offset, each.error_code) for topic in response.topics for each in topic.partitions]
    return found == [(expected[0], expected[1].code)]


def test_a_lost_connection_is_replaced_once(cluster: Cluster, consumer: SimpleConsumer) -> None:
    assert consumer.earliest_or_latest_offset(T0, LATEST_TIME) == 20
    cluster.disconnect_all()
    assert consumer.earliest_or_latest_offset(T0, LATEST_TIME) == 20
    consumer.close()
    with pytest.raises(ConnectionError, match="is closed"):
        consumer.earliest_or_latest_offset(T0, LATEST_TIME)


def test_abort_ends_a_waiting_fetch(consumer: SimpleConsumer) -> None:
    request = FetchRequestBuilder().max_wait(9_000).min_bytes(1 << 20).add_fetch("t", 0, 20, 100).build()
    timer = threading.Timer(0.05, consumer.abort)
    timer.start()
    with pytest.raises(ConnectionError):
        consumer.fetch(request)
    timer.join()


def test_the_example_reads_from_the_beginning_despite_failures(cluster: Cluster, broker: BrokerEndPoint) -> None:
    read: list[Record] = []
    cluster.inject("Fetch", Errors.NOT_LEADER_OR_FOLLOWER).times(2)
    SimpleExample([BrokerEndPoint(9, "127.0.0.1", 1), broker], T0, retry_backoff_ms=10).run(20, read.append)
    assert [record.offset for record in read] == list(range(20))


def test_the_example_waits_for_new_messages(cluster: Cluster, broker: BrokerEndPoint) -> None:
    read: list[Record] = []
    timer = threading.Timer(0.1, lambda: cluster.produce("t", "late", partition=1))
    timer.start()
    end = 2 + sum(record.value == b"late" for record in cluster.records("t", 1))
    SimpleExample([broker], T1).run(end, read.append)
    timer.join()
    assert read[-1].value == b"late"


def test_the_example_continues_at_the_end_if_its_offset_no_longer_exists(
    cluster: Cluster, broker: BrokerEndPoint
) -> None:
    cluster.create_topic("gone")
    cluster.inject("Fetch", Errors.OFFSET_OUT_OF_RANGE).once()
    read: list[Record] = []
    cluster.produce("gone", "early")

    def write_until_something_is_read() -> None:
        while not read:
            cluster.produce("gone", "late")

    writer = threading.Thread(target=write_until_something_is_read)
    timer = threading.Timer(0.1, writer.start)
    timer.start()
    SimpleExample([broker], TopicPartition("gone", 0)).run(1, read.append)
    timer.join()
    writer.join()
    assert [record.value for record in read] == [b"late"]
    cluster.delete_topic("gone")


def test_the_example_gives_up(cluster: Cluster, broker: BrokerEndPoint) -> None:
    with pytest.raises(KafkaError, match="Can't find the leader of t-9"):
        SimpleExample([broker], TopicPartition("t", 9), retry_backoff_ms=1).run(1, lambda _: None)
    with (
        cluster.inject("Fetch", Errors.NOT_LEADER_OR_FOLLOWER).always(),
        pytest.raises(KafkaError, match="gave up on t-0 after 6 errors"),
    ):
        SimpleExample([broker], T0, retry_backoff_ms=1).run(1, lambda _: None)
