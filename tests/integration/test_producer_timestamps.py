"""Timestamps from our producers through the broker: who sets them, what ``send`` returns, and search by time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import cast

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import MockTime
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.old_producer import KeyedMessage, Producer
from kafka_lite.producer import KafkaProducer, ProducerRecord
from kafka_lite.protocol.messages.api_02_list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from kafka_lite.testing.cluster import Cluster
from tests.support.patience import patient_s

FORMATS = ["0.10.2", "3.0"]
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
PER_CODEC = 20
STEP_MS = 10
FIRST_MS = 1_600_000_000_000
NOT_FOUND = -1


@pytest.fixture(scope="module", params=FORMATS)
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    overrides = {
        "log.message.format.version": request.param, "log.index.interval.bytes": 100, "log.retention.ms": -1,
    }  # fmt: skip
    with Cluster(overrides) as running:
        for kind in ("CreateTime", "LogAppendTime"):
            for producer in ("new", "old"):
                running.create_topic(f"{producer}-{kind}", configs={"message.timestamp.type": kind})
        yield running


def codecs_of(cluster: Cluster) -> list[str]:
    """Format v1 does not support zstd."""
    return CODECS if cluster.server.config.values["log.message.format.version"] == "3.0" else CODECS[:4]


def wall_ms() -> int:
    return time.time_ns() // 1_000_000


def offset_for_time(cluster: Cluster, topic: str, timestamp: int) -> ListOffsetsPartitionResponse:
    asked = ListOffsetsPartition(partition_index=0, timestamp=timestamp)
    request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=topic, partitions=[asked])])
    with BlockingChannel("127.0.0.1", cluster.server.bound_port()) as channel:
        answer = cast(ListOffsetsResponse, channel.exchange(request, 1))
    return answer.topics[0].partitions[0]


def check_search_by_time(cluster: Cluster, topic: str) -> None:
    """For timestamps before, at, between and after the records': the first record that is not older."""
    records = cluster.records(topic)
    times = {record.timestamp_ms for record in records}
    for asked in sorted({0} | times | {each + 1 for each in times} | {each - 1 for each in times}):
        found = offset_for_time(cluster, topic, asked)
        first = next((record for record in records if record.timestamp_ms >= asked), None)
        expected = (NOT_FOUND, NOT_FOUND) if first is None else (first.offset, first.timestamp_ms)
        assert (found.offset, found.timestamp) == expected, asked


def test_create_time_is_set_by_the_sender(cluster: Cluster) -> None:
    topic, expected = "new-CreateTime", []
    for place, codec in enumerate(codecs_of(cluster)):
        times = [FIRST_MS + STEP_MS * (place * PER_CODEC + number) for number in range(PER_CODEC)]
        with KafkaProducer({
            "bootstrap.servers": cluster.bootstrap_servers, "compression.type": codec, "linger.ms": 20,
            "enable.idempotence": False,
        }) as producer:  # fmt: skip
            futures = [producer.send(ProducerRecord(topic, b"v", timestamp=each)) for each in times]
            assert [future.get(1000 * patient_s(10)).timestamp for future in futures] == times
        expected += times
    assert [record.timestamp_ms for record in cluster.records(topic)] == expected
    check_search_by_time(cluster, topic)


def test_the_default_timestamp_is_the_time_of_the_call(cluster: Cluster) -> None:
    cluster.create_topic("now")
    with KafkaProducer({"bootstrap.servers": cluster.bootstrap_servers, "enable.idempotence": False}) as producer:
        began_ms = wall_ms()
        place = producer.send(ProducerRecord("now", b"v")).get(1000 * patient_s(10))
        assert began_ms <= place.timestamp <= wall_ms()
    assert [record.timestamp_ms for record in cluster.records("now")] == [place.timestamp]
    cluster.delete_topic("now")


def test_log_append_time_is_set_by_the_broker_and_returned_to_the_sender(cluster: Cluster) -> None:
    topic, told = "new-LogAppendTime", []
    for codec in codecs_of(cluster):
        with KafkaProducer({
            "bootstrap.servers": cluster.bootstrap_servers, "compression.type": codec, "linger.ms": 20,
            "enable.idempotence": False,
        }) as producer:  # fmt: skip
            began_ms = wall_ms()
            futures = [
                producer.send(ProducerRecord(topic, b"v", timestamp=FIRST_MS + number)) for number in range(PER_CODEC)
            ]
            times = [future.get(1000 * patient_s(10)).timestamp for future in futures]
            assert all(began_ms <= each <= wall_ms() for each in times)
        told += times
        time.sleep(0.005)  # so that the batches of two codecs have different timestamps
    assert [record.timestamp_ms for record in cluster.records(topic)] == told
    assert len(set(told)) >= len(codecs_of(cluster))
    check_search_by_time(cluster, topic)


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_the_old_producer_uses_its_clock(cluster: Cluster, kind: str) -> None:
    """The caller can neither set the timestamp nor learn it."""
    for codec in CODECS[:4]:
        clock = MockTime(FIRST_MS)
        for topic in ("old-CreateTime", "old-LogAppendTime"):
            before, began_ms = len(cluster.records(topic)), wall_ms()
            with Producer({
                "metadata.broker.list": cluster.bootstrap_servers, "request.required.acks": -1,
                "compression.codec": codec, "producer.type": kind, "batch.num.messages": 5,
            }, time=clock) as producer:  # fmt: skip
                now_ms = clock.milliseconds()
                producer.send(*(KeyedMessage(topic, b"v") for _ in range(5)))
            times = [record.timestamp_ms for record in cluster.records(topic)[before:]]
            assert len(times) == 5
            if topic == "old-CreateTime":
                assert all(now_ms <= each <= clock.milliseconds() for each in times)
            else:
                assert all(began_ms <= each <= wall_ms() for each in times)
    for topic in ("old-CreateTime", "old-LogAppendTime"):
        check_search_by_time(cluster, topic)


def test_a_timestamp_too_far_from_the_brokers_clock_is_rejected(cluster: Cluster) -> None:
    cluster.create_topic("strict", configs={"message.timestamp.difference.max.ms": 60_000})
    with KafkaProducer({"bootstrap.servers": cluster.bootstrap_servers, "enable.idempotence": False}) as producer:
        error = producer.send(ProducerRecord("strict", b"v", timestamp=FIRST_MS)).exception(1000 * patient_s(10))
        assert isinstance(error, ApiError)
        assert error.error is Errors.INVALID_TIMESTAMP
        producer.send(ProducerRecord("strict", b"v")).get(1000 * patient_s(10))
    assert len(cluster.records("strict")) == 1
    cluster.delete_topic("strict")
