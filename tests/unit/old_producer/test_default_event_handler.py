"""Collation by broker and partition, retries, and failures after the last retry."""

from __future__ import annotations

import random

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.time import MockTime
from kafka_lite.old_producer import KeyedMessage
from kafka_lite.old_producer import broker_partition_info as broker_partition_info_module
from kafka_lite.old_producer.default_event_handler import DefaultEventHandler, FailedToSendMessageError
from kafka_lite.old_producer.encoder import DefaultEncoder
from kafka_lite.old_producer.partitioner import DefaultPartitioner
from kafka_lite.old_producer.producer_config import ProducerConfig
from kafka_lite.protocol.messages.api_00_produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from kafka_lite.protocol.messages.api_03_metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.records import batches


class Broker:
    """Replaces the connection to one broker: accepts requests, responds, fails on demand."""

    def __init__(self) -> None:
        self.requests: list[ProduceRequest] = []
        self.failures: list[Exception | dict[int, Errors]] = []
        """What happens to the next requests: a lost connection, or errors by partition."""

    def send(self, request: ProduceRequest) -> ProduceResponse | None:
        self.requests.append(request)
        failure = self.failures.pop(0) if self.failures else {}
        if isinstance(failure, Exception):
            raise failure
        if request.acks == 0:
            return None
        topics = []
        for topic in request.topic_data:
            outcomes = [
                PartitionProduceResponse(index=data.index, error_code=failure.get(data.index, Errors.NONE).code)
                for data in topic.partition_data
            ]
            topics.append(TopicProduceResponse(name=topic.name, partition_responses=outcomes))
        return ProduceResponse(responses=topics)

    def values(self) -> list[dict[int, list[bytes | None]]]:
        return [
            {
                data.index: [record.value for batch in batches(data.records) for record in batch.records()]  # type: ignore[arg-type]
                for topic in request.topic_data
                for data in topic.partition_data
            }
            for request in self.requests
        ]


class Pool:
    """Replaces the connections."""

    def __init__(self, *ids: int) -> None:
        self.brokers = {broker_id: Broker() for broker_id in ids}
        self.closed = False

    def update_producer(self, _leaders: object) -> None:
        """They are all here."""

    def get_producer(self, broker_id: int) -> Broker:
        return self.brokers[broker_id]

    def close(self) -> None:
        self.closed = True


class Handler(DefaultEventHandler):
    def __init__(self, leaders: list[int], monkeypatch: pytest.MonkeyPatch, **config: object) -> None:
        self.leaders = leaders
        self.fetches = 0
        self.time = MockTime()
        self.pool = Pool(0, 1)
        configs: dict[str, object] = {"metadata.broker.list": "localhost:9092", "request.required.acks": "1"}
        configs |= {key.replace("_", "."): value for key, value in config.items()}
        monkeypatch.setattr(broker_partition_info_module, "fetch_topic_metadata", self.fetch)
        super().__init__(
            ProducerConfig(configs), DefaultPartitioner({}), DefaultEncoder({}), DefaultEncoder({}),
            self.pool, self.time, random.Random(1),  # type: ignore[arg-type]
        )  # fmt: skip

    def fetch(self, _config: object, topics: set[str]) -> MetadataResponse:
        self.fetches += 1
        partitions = [
            MetadataResponsePartition(partition_index=number, leader_id=leader, replica_nodes=[], isr_nodes=[])
            for number, leader in reversed(list(enumerate(self.leaders)))  # brokers promise no order
        ]
        brokers = [MetadataResponseBroker(node_id=number, host="h", port=number) for number in (0, 1)]
        return MetadataResponse(
            brokers=brokers, topics=[MetadataResponseTopic(name=name, partitions=partitions) for name in topics]
        )


def keyed(number: int) -> KeyedMessage:
    """A message for the partition of that number, which is below a hundred."""
    return KeyedMessage("t", b"%d" % number, part_key=number)


def test_one_request_for_each_leader(monkeypatch: pytest.MonkeyPatch) -> None:
    handler = Handler([0, 1, 0], monkeypatch)
    handler.handle([keyed(number) for number in range(6)])
    assert handler.pool.brokers[0].values() == [{0: [b"0", b"3"], 2: [b"2", b"5"]}]
    assert handler.pool.brokers[1].values() == [{1: [b"1", b"4"]}]


def test_only_failed_messages_are_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    handler = Handler([0, 0], monkeypatch)
    handler.pool.brokers[0].failures = [{1: Errors.NOT_LEADER_OR_FOLLOWER}]
    handler.handle([keyed(0), keyed(1)])
    assert handler.pool.brokers[0].values() == [{0: [b"0"], 1: [b"1"]}, {1: [b"1"]}]
    assert handler.fetches == 2, "at the beginning, and before the retry"
    assert handler.time.hi_res_ms() == 100


def test_every_retry_follows_a_pause_and_fresh_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    handler = Handler([0], monkeypatch, message_send_max_retries=2)
    handler.pool.brokers[0].failures = [{0: Errors.NOT_LEADER_OR_FOLLOWER}] * 3
    with pytest.raises(FailedToSendMessageError, match="after 2 tries"):
        handler.handle([keyed(0)])
    assert handler.pool.brokers[0].values() == [{0: [b"0"]}] * 3
    assert (handler.fetches, handler.time.hi_res_ms()) == (4, 300)


@pytest.mark.parametrize(("interval_ms", "fetches"), [(600_000, 1), (0, 2), (-1, 1)])
def test_how_often_metadata_is_refreshed(monkeypatch: pytest.MonkeyPatch, interval_ms: int, fetches: int) -> None:
    handler = Handler([0], monkeypatch, topic_metadata_refresh_interval_ms=interval_ms)
    handler.handle([keyed(0)])
    handler.time.sleep(1)
    handler.handle([keyed(0)])
    assert handler.fetches == fetches


def test_a_lost_connection_fails_the_whole_request(monkeypatch: pytest.MonkeyPatch) -> None:
    handler = Handler([0, 1], monkeypatch)
    handler.pool.brokers[1].failures = [ConnectionResetError("gone")]
    handler.handle([keyed(0), keyed(1)])
    assert len(handler.pool.brokers[0].requests) == 1
    assert handler.pool.brokers[1].values() == [{1: [b"1"]}] * 2


def test_messages_without_a_leader_do_not_block_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    handler = Handler([0, -1], monkeypatch, message_send_max_retries=1)
    with pytest.raises(FailedToSendMessageError, match="after 1 tries: topics t"):
        handler.handle([keyed(0), keyed(1)])
    assert handler.pool.brokers[0].values() == [{0: [b"0"]}]


def test_a_leader_that_returns_gets_its_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    handler = Handler([-1], monkeypatch)
    sleep = handler.time.sleep

    def elect(ms: float) -> None:
        sleep(ms)
        handler.leaders = [1]

    handler.time.sleep = elect  # type: ignore[method-assign]
    handler.handle([keyed(0)])
    assert handler.pool.brokers[1].values() == [{0: [b"0"]}]


def test_messages_without_keys_stick_to_a_partition_until_the_metadata_refresh(monkeypatch: pytest.MonkeyPatch) -> None:
    handler = Handler([0, 0, 0, 0], monkeypatch)
    chosen = set()
    for _ in range(20):
        handler.handle([KeyedMessage("t", b"x")])
    for values in handler.pool.brokers[0].values():
        chosen |= values.keys()
    assert len(chosen) == 1
    for _ in range(40):
        handler.time.sleep(600_001)
        handler.handle([KeyedMessage("t", b"x")])
    for values in handler.pool.brokers[0].values():
        chosen |= values.keys()
    assert chosen == {0, 1, 2, 3}


def test_acks_0_needs_no_response(monkeypatch: pytest.MonkeyPatch) -> None:
    handler = Handler([0], monkeypatch, request_required_acks="0")
    handler.handle([keyed(0)])
    assert len(handler.pool.brokers[0].requests) == 1


@pytest.mark.parametrize(("topics", "compressed"), [("", True), ("t", True), ("u", False)])
def test_which_topics_are_compressed(monkeypatch: pytest.MonkeyPatch, topics: str, compressed: bool) -> None:
    handler = Handler([0], monkeypatch, compression_codec="gzip", compressed_topics=topics)
    handler.handle([keyed(0)])
    (batch,) = batches(handler.pool.brokers[0].requests[0].topic_data[0].partition_data[0].records)  # type: ignore[arg-type]
    assert (batch.magic, batch.compression) == (1, CompressionType.GZIP if compressed else CompressionType.NONE)


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_encoding_errors_raise_or_are_logged(
    monkeypatch: pytest.MonkeyPatch, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    handler = Handler([0], monkeypatch, producer_type=kind)
    events = [KeyedMessage("t", "text"), keyed(0)]
    if kind == "sync":
        with pytest.raises(TypeError, match="is not bytes"):
            handler.handle(events)
        return
    handler.handle(events)
    assert "Error serializing message for topic t" in caplog.text
    assert handler.pool.brokers[0].values() == [{0: [b"0"]}]


def test_partition_keys_are_not_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    handler = Handler([0], monkeypatch)
    handler.handle([KeyedMessage("t", b"v", b"k"), KeyedMessage("t", b"w", part_key=b"p")])
    (batch, other) = batches(handler.pool.brokers[0].requests[0].topic_data[0].partition_data[0].records)  # type: ignore[arg-type]
    assert [record.key for each in (batch, other) for record in each.records()] == [b"k", None]
