"""Records that cannot be deserialized or stored: the thread fails with their names and numbers, or goes on."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from kafka_lite.clients.cluster import PartitionInfo
from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.serialization import ByteArrayDeserializer, ByteArraySerializer, LongDeserializer
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.producer.producer_batch import BatchListener
from kafka_lite.producer.producer_record import ProducerRecord
from kafka_lite.producer.transaction_errors import ProducerFencedError
from kafka_lite.record.record import TimestampType
from kafka_lite.streams.errors import StreamsError, TaskMigratedError
from kafka_lite.streams.exception_handlers import (
    DefaultProductionExceptionHandler,
    DeserializationExceptionHandler,
    HandlerResponse,
    LogAndContinueExceptionHandler,
    LogAndFailExceptionHandler,
    ProductionExceptionHandler,
)
from kafka_lite.streams.processor.internals.topology.source_node import SourceNode
from kafka_lite.streams.processor.timestamp_extractor import FailOnInvalidTimestamp
from kafka_lite.streams.streams_config import StreamsConfig
from kafka_lite.streams.task_id import TaskId
from kafka_lite.streams.tasks.record_collector_impl import RecordCollectorImpl
from kafka_lite.streams.tasks.record_deserializer import RecordDeserializer
from kafka_lite.streams.tasks.record_queue import RecordQueue

T3, OUT = TopicPartition("t", 3), TopicPartition("out", 0)
TOO_LARGE = ApiError(Errors.MESSAGE_TOO_LARGE, "2000 bytes")


def queue_of_longs(handler: DeserializationExceptionHandler) -> RecordQueue:
    source = SourceNode("source", ["t"], ByteArrayDeserializer(), LongDeserializer())
    return RecordQueue(
        T3, source, FailOnInvalidTimestamp(), RecordDeserializer(source, handler, TaskId(1, 3)).deserialize
    )


def records(*values: bytes) -> list[ConsumerRecord]:
    kind = TimestampType.CREATE_TIME
    return [ConsumerRecord(*T3, 7 + number, 1, kind, b"k", value) for number, value in enumerate(values)]


GOOD, BAD = bytes(8), b"short"
WHERE = "taskId: 1_3, topic: t, partition: 3, offset: 8: Failed to deserialize value"


def test_a_record_that_cannot_be_deserialized_fails_with_its_place(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(StreamsError, match="topic=t, partition=3, offset=8") as raised:
        queue_of_longs(LogAndFailExceptionHandler()).add_raw_records(records(GOOD, BAD))
    assert "please set default.deserialization.exception.handler" in str(raised.value)
    assert "5 bytes are not 8" in str(raised.value.__cause__)
    assert WHERE in caplog.text
    assert caplog.records[0].levelno == logging.ERROR


def test_a_record_that_cannot_be_deserialized_is_skipped(caplog: pytest.LogCaptureFixture) -> None:
    queue = queue_of_longs(LogAndContinueExceptionHandler())
    assert queue.add_raw_records(records(GOOD, BAD, GOOD)) == 2
    assert [queue.poll().record.offset for _ in range(2)] == [7, 9]
    assert WHERE in caplog.text
    assert caplog.records[0].levelno == logging.WARNING


class Decider(ProductionExceptionHandler):
    """Continues only after records that are too large, and keeps what it was asked and configured."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, bytes | None]] = []

    def handle(self, record: ProducerRecord, error: Exception) -> HandlerResponse:
        self.seen.append((record.topic, record.key))
        return HandlerResponse.CONTINUE if error is TOO_LARGE else HandlerResponse.FAIL


class OneByOne:
    """A producer whose records complete as the test says."""

    def __init__(self) -> None:
        self.records: list[ProducerRecord] = []

    def send_bytes(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        partition: int | None,
        timestamp: int,
        listener: BatchListener,
    ) -> None:
        del listener
        self.records.append(ProducerRecord(topic, value, key, partition, timestamp))

    def flush(self) -> None:
        """Nothing waits."""

    def partitions_for(self, topic: str) -> list[PartitionInfo]:
        return [PartitionInfo(topic, number, None) for number in range(4)]


def collector_of(handler: ProductionExceptionHandler) -> tuple[RecordCollectorImpl, OneByOne]:
    producer, serializer = OneByOne(), ByteArraySerializer()
    collector = RecordCollectorImpl(producer, "1_3", handler)  # type: ignore[arg-type]
    for number in range(3):
        collector.send("out", b"k%d" % number, b"v", 0, 5 + number, serializer, serializer)
    return collector, producer


def test_a_record_that_cannot_be_stored_fails_the_next_call_with_its_names() -> None:
    collector, producer = collector_of(DefaultProductionExceptionHandler())
    collector.on_stored(OUT, 4)
    collector.on_failed(producer.records[1], TOO_LARGE)
    collector.on_stored(OUT, 5)
    message = r"task \[1_3\] Abort sending .* \(key b'k1' timestamp 6\) to topic out due to .*2000 bytes"
    collector.on_failed(producer.records[2], ApiError(Errors.TOPIC_AUTHORIZATION_FAILED))
    with pytest.raises(StreamsError, match=message) as raised:
        collector.flush()
    assert raised.value.__cause__ is TOO_LARGE
    serializer = ByteArraySerializer()
    with pytest.raises(StreamsError, match=message):
        collector.send("out", b"k3", b"v", 0, 8, serializer, serializer)
    assert len(producer.records) == 3
    assert collector.offsets == {OUT: 4}, "nothing after the error"


def test_a_record_whose_failure_the_flush_learns_of_fails_it() -> None:
    collector, producer = collector_of(DefaultProductionExceptionHandler())
    producer.flush = lambda: collector.on_failed(producer.records[0], TOO_LARGE)  # type: ignore[method-assign]
    with pytest.raises(StreamsError, match="key b'k0'"):
        collector.flush()


def test_a_partitioner_chooses_among_all_partitions_unless_the_partition_is_given() -> None:
    collector, producer = collector_of(DefaultProductionExceptionHandler())
    serializer = ByteArraySerializer()
    for partition in (None, 1):
        collector.send("out", b"k", b"v", partition, 9, serializer, serializer, lambda _key, _value, count: count - 1)
    assert [record.partition for record in producer.records[3:]] == [3, 1]


def test_a_handler_may_continue_without_a_record(caplog: pytest.LogCaptureFixture) -> None:
    handler = Decider()
    collector, producer = collector_of(handler)
    collector.on_failed(producer.records[0], TOO_LARGE)
    collector.on_stored(OUT, 5)
    collector.flush()
    assert "chose to CONTINUE processing in spite of this error" in caplog.text
    assert collector.offsets == {OUT: 5}
    collector.on_failed(producer.records[2], ApiError(Errors.TOPIC_AUTHORIZATION_FAILED))
    with pytest.raises(StreamsError, match="key b'k2'"):
        collector.flush()
    assert handler.seen == [("out", b"k0"), ("out", b"k2")]


def test_a_handler_cannot_continue_after_another_task_has_fenced_the_producer() -> None:
    class Continuing(ProductionExceptionHandler):
        """Continues whatever happens."""

        def handle(self, record: ProducerRecord, error: Exception) -> HandlerResponse:
            return HandlerResponse.CONTINUE

    collector, producer = collector_of(Continuing())
    collector.on_failed(producer.records[0], ProducerFencedError("app-1_3", 7, 1))
    with pytest.raises(TaskMigratedError):
        collector.flush()


class Configured(DeserializationExceptionHandler):
    """Takes its response from the configuration."""

    response = HandlerResponse.FAIL

    def configure(self, configs: Any) -> None:
        self.response = HandlerResponse[configs["on.bad.record"]]

    def handle(self, task_id: TaskId, record: ConsumerRecord, error: Exception) -> HandlerResponse:
        return self.response


class Forgiving(ProductionExceptionHandler):
    """Takes its response from the configuration."""

    response = HandlerResponse.FAIL

    def configure(self, configs: Any) -> None:
        self.response = HandlerResponse[configs["on.bad.record"]]

    def handle(self, record: ProducerRecord, error: Exception) -> HandlerResponse:
        return self.response


def test_handlers_are_configured() -> None:
    minimum = {"application.id": "app", "bootstrap.servers": "localhost:9092", "on.bad.record": "CONTINUE"}
    config = StreamsConfig({**minimum, "default.deserialization.exception.handler": Configured})
    handler = config.deserialization_exception_handler()
    assert isinstance(handler, Configured)
    assert handler.response is HandlerResponse.CONTINUE
    assert isinstance(config.production_exception_handler(), DefaultProductionExceptionHandler)
    forgiving = StreamsConfig({**minimum, "default.production.exception.handler": Forgiving})
    assert forgiving.production_exception_handler().handle(Any, TOO_LARGE) is HandlerResponse.CONTINUE  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"default\.production\.exception\.handler"):
        StreamsConfig({**minimum, "default.production.exception.handler": Configured})
