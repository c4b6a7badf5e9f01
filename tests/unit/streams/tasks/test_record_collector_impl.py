"""Records that cannot be stored fail the task, or go to a handler that may do without them."""

from __future__ import annotations

import pytest

from kafka_lite.clients.cluster import PartitionInfo
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.serialization import ByteArraySerializer
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.producer.producer_batch import BatchListener
from kafka_lite.producer.producer_record import ProducerRecord
from kafka_lite.producer.transaction_errors import ProducerFencedError
from kafka_lite.streams.errors import StreamsError, TaskMigratedError
from kafka_lite.streams.exception_handlers import (
    DefaultProductionExceptionHandler,
    HandlerResponse,
    ProductionExceptionHandler,
)
from kafka_lite.streams.tasks.record_collector_impl import RecordCollectorImpl

OUT = TopicPartition("out", 0)
TOO_LARGE = ApiError(Errors.MESSAGE_TOO_LARGE, "2000 bytes")


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
