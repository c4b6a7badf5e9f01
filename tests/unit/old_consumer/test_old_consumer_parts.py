"""Configuration, decoders, addresses, leaders, and responses about offsets."""

from __future__ import annotations

import pytest

from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.common.config_def import ConfigError, MissingConfigError
from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.old_consumer.client_utils import (
    BrokerEndPointNotAvailableError,
    get_plaintext_broker_end_points,
    parse_broker_list,
    plaintext_end_point,
)
from kafka_lite.old_consumer.consumer_config import ConsumerConfig
from kafka_lite.old_consumer.consumer_fetcher_manager import leaders_of
from kafka_lite.old_consumer.consumer_offsets import commit_outcome, committed_offsets
from kafka_lite.old_consumer.decoder import DecodeError, DefaultDecoder, IntegerDecoder, LongDecoder, StringDecoder
from kafka_lite.old_consumer.simple.simple_fetch import DEBUGGING_CONSUMER_ID, FetchRequestBuilder
from kafka_lite.protocol.messages.api_03_metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kafka_lite.protocol.messages.api_09_offset_fetch import (
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from kafka_lite.zookeeper.data import BrokerRegistration
from tests.support.fake_zookeeper import Tree, fake_zk

NEEDED = {"group.id": "g", "zookeeper.connect": "localhost:2181"}
T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)


# ── Configuration ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_defaults_match_kafka() -> None:
    config = ConsumerConfig(NEEDED)
    expected = {
        "client.id": "g", "auto.offset.reset": "largest", "auto.commit.interval.ms": 60_000,
        "offsets.storage": "zookeeper", "dual.commit.enabled": False, "rebalance.backoff.ms": 2000,
        "rebalance.max.retries": 4, "consumer.id": None,
        "zookeeper.connection.timeout.ms": 6000, "fetch.message.max.bytes": 1 << 20, "fetch.wait.max.ms": 100,
        "consumer.timeout.ms": -1, "queued.max.message.chunks": 2, "refresh.leader.backoff.ms": 200,
    }  # fmt: skip
    assert {key: config[key] for key in expected} == expected


def test_defaults_that_depend_on_other_keys() -> None:
    config = ConsumerConfig(NEEDED | {
        "offsets.storage": "KAFKA", "zookeeper.sync.time.ms": "7", "zookeeper.session.timeout.ms": "9",
    })  # fmt: skip
    assert config["offsets.storage"] == "kafka"
    assert config["dual.commit.enabled"] is True
    assert (config["rebalance.backoff.ms"], config["zookeeper.connection.timeout.ms"]) == (7, 9)
    assert (
        ConsumerConfig(NEEDED | {"offsets.storage": "kafka", "dual.commit.enabled": "false"})["dual.commit.enabled"]
        is False
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("group.id", "a group"), ("client.id", "a/b"), ("auto.offset.reset", "earliest"), ("offsets.storage", "paper"),
        ("partition.assignment.strategy", "sticky"), ("rebalance.max.retries", "0"), ("fetch.wait.max.ms", "30001"),
    ],
)  # fmt: skip
def test_invalid_values_are_refused(key: str, value: str) -> None:
    with pytest.raises(ConfigError, match=key.replace(".", r"\.")):
        ConsumerConfig(NEEDED | {key: value})


def test_missing_and_unknown_keys(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(MissingConfigError, match=r"zookeeper\.connect"):
        ConsumerConfig({"group.id": "g"})
    ConsumerConfig(NEEDED | {"bootstrap.servers": "x", "serializer.encoding": "latin-1"})
    assert [record.message for record in caplog.records] == ["Property bootstrap.servers is not valid"]


# ── Decoders ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_decoders() -> None:
    assert DefaultDecoder().from_bytes(b"\xff") == b"\xff"
    assert StringDecoder().from_bytes("ä".encode()) == "ä"
    assert StringDecoder({"serializer.encoding": "latin-1"}).from_bytes(b"\xe4") == "ä"
    assert IntegerDecoder().from_bytes(b"\xff\xff\xff\xfe") == -2
    assert LongDecoder().from_bytes(b"\0" * 7 + b"\x07") == 7
    for decoder in (StringDecoder(), StringDecoder({"serializer.encoding": "no such"})):
        with pytest.raises(DecodeError):
            decoder.from_bytes(b"\xff")


# ── Addresses and leaders ─────────────────────────────────────────────────────────────────────────────────────────────


def test_plaintext_end_points() -> None:
    internal = BrokerRegistration(
        ("EXTERNAL://a:1", "INTERNAL://b:2", "PLAINTEXT://c:3"),
        {"EXTERNAL": "SSL", "INTERNAL": "PLAINTEXT", "PLAINTEXT": "PLAINTEXT"},
    )
    assert plaintext_end_point(5, internal) == BrokerEndPoint(5, "b", 2)
    assert plaintext_end_point(6, BrokerRegistration(("PLAINTEXT://[::1]:9092",))) == (6, "::1", 9092)
    secure = BrokerRegistration(("SSL://a:1",), {"SSL": "SSL"})
    assert plaintext_end_point(7, secure) is None
    zk = fake_zk(Tree())
    zk.zookeeper.ensure_path("/brokers/ids")
    assert get_plaintext_broker_end_points(zk) == []
    zk.register_broker(7, secure)
    with pytest.raises(BrokerEndPointNotAvailableError, match=r"\[7\]"):
        get_plaintext_broker_end_points(zk)
    zk.register_broker(5, internal)
    assert get_plaintext_broker_end_points(zk) == [(5, "b", 2)]


def test_a_list_of_brokers_is_parsed() -> None:
    assert parse_broker_list("a:1, PLAINTEXT://b:2,") == [(0, "a", 1), (1, "b", 2)]
    with pytest.raises(KafkaError, match="host:port"):
        parse_broker_list("a")


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


def test_a_fetch_request_keeps_the_order_and_groups_adjacent_partitions() -> None:
    builder = FetchRequestBuilder().replica_id(DEBUGGING_CONSUMER_ID).max_wait(5).min_bytes(6).max_bytes(7)
    request = builder.add_fetch("t", 1, 10, 100).add_fetch("t", 0, 20, 100).add_fetch("u", 0, 30, 100)
    first = request.add_fetch("t", 2, 40, 100).build()
    wire = first.to_wire()
    assert [(topic.topic, [each.partition for each in topic.partitions]) for topic in wire.topics] == [
        ("t", [1, 0]), ("u", [0]), ("t", [2])
    ]  # fmt: skip
    assert (wire.replica_id, wire.max_wait_ms, wire.min_bytes, wire.max_bytes) == (-2, 5, 6, 7)
    assert first.offset(U0) == 30
    assert builder.build().is_empty


# ── Offsets ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("errors", "may_retry", "moved"),
    [
        ([], False, False),
        ([Errors.OFFSET_METADATA_TOO_LARGE], False, False),
        ([Errors.NOT_COORDINATOR], True, True),
        ([Errors.COORDINATOR_NOT_AVAILABLE, Errors.OFFSET_METADATA_TOO_LARGE], True, True),
        ([Errors.COORDINATOR_LOAD_IN_PROGRESS], True, False),
    ],
)
def test_commit_responses_are_interpreted(errors: list[Errors], may_retry: bool, moved: bool) -> None:
    by_partition = {T0: Errors.NONE} | {TopicPartition("f", n): error for n, error in enumerate(errors)}
    assert commit_outcome(by_partition) == (frozenset({T0}), may_retry, moved)


def fetched(*errors: Errors, top: Errors = Errors.NONE) -> OffsetFetchResponse:
    partitions = [
        OffsetFetchResponsePartition(partition_index=number, committed_offset=number + 10, error_code=error.code)
        for number, error in enumerate(errors)
    ]
    return OffsetFetchResponse(topics=[OffsetFetchResponseTopic(name="t", partitions=partitions)], error_code=top.code)


def test_offset_fetch_responses_are_interpreted() -> None:
    assert committed_offsets(fetched(Errors.NONE, Errors.UNKNOWN_TOPIC_OR_PARTITION)) == {T0: 10, T1: -1}
    for response in (
        fetched(Errors.NONE, Errors.NOT_COORDINATOR),
        fetched(Errors.COORDINATOR_LOAD_IN_PROGRESS),
        fetched(top=Errors.COORDINATOR_NOT_AVAILABLE),
    ):
        with pytest.raises(ApiError):
            committed_offsets(response)
