"""The rows of one task go to librdkafka's producer, and the task ends when all of them are acknowledged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import KafkaError, KafkaException
from pyspark.sql.types import StringType, StructField, StructType, TimestampType

from kafka_lite.spark import writer
from kafka_lite.spark.offsets import SparkOptionError
from kafka_lite.spark.options import WriteOptions, write_options
from kafka_lite.spark.row_messages import WriteError
from kafka_lite.spark.writer import (
    KafkaCommitMessage,
    KafkaWriter,
    make_producer,
    validate_schema,
    write_batches,
    write_rows,
)

VALUE = StructField("value", StringType())
TOPIC = StructField("topic", StringType())


class Producer:
    """Stands in for librdkafka's: notes messages, and does what a test has scripted."""

    def __init__(self, configuration: dict[str, Any]) -> None:
        self.configuration = configuration
        self.messages: list[tuple[Any, ...]] = []
        self.calls: list[str] = []
        self.callbacks: list[Any] = []
        self.full_for = 0
        self.at_poll: list[Callable[[], object]] = []
        self.at_produce: Exception | None = None

    def produce(
        self, topic: str, value: Any, key: Any, partition: int, on_delivery: Any, *, timestamp: int, headers: Any
    ) -> None:
        if self.full_for:
            self.full_for -= 1
            raise BufferError("Local: Queue full")
        if self.at_produce is not None:
            raise self.at_produce
        self.messages.append((topic, value, key, partition, timestamp, headers))
        self.callbacks.append(on_delivery)

    def poll(self, timeout_s: float) -> None:
        self.calls.append(f"poll {timeout_s:g}")
        while self.at_poll:
            self.at_poll.pop(0)()

    def flush(self) -> None:
        self.calls.append(f"flush {len(self.messages)}")

    def fail(self, number: int, error: KafkaError) -> None:
        """The broker rejects a message, which librdkafka reports in the next poll."""
        self.at_poll.append(lambda: self.callbacks[number](error, Delivered(*self.messages[number])))


class Delivered:
    """A message, as callbacks see it."""

    def __init__(self, topic: str, value: Any, key: Any, partition: int, *_: object) -> None:
        self._fields = {"topic": topic, "value": value, "key": key, "partition": partition}

    def __getattr__(self, name: str) -> Callable[[], Any]:
        return lambda: self._fields[name]


@pytest.fixture
def options() -> WriteOptions:
    return write_options({"kafka.bootstrap.servers": "broker:9092", "topic": "orders"})


@pytest.fixture
def producer(monkeypatch: pytest.MonkeyPatch) -> Producer:
    """The next producer that is made."""
    producer = Producer({})

    def make(configuration: dict[str, Any]) -> Producer:
        producer.configuration = configuration
        return producer

    monkeypatch.setattr(writer, "Producer", make)
    return producer


TOO_LARGE = KafkaError(KafkaError.MSG_SIZE_TOO_LARGE)

# ── rows ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_rows_are_sent_counted_and_acknowledged(options: WriteOptions, producer: Producer) -> None:
    rows = [{"value": b"a", "key": b"k", "partition": 2}, {"value": "b", "headers": [{"key": "id", "value": b"7"}]}]
    assert write_rows(options, rows) == KafkaCommitMessage(2)
    assert producer.messages == [
        ("orders", b"a", b"k", 2, 0, None),
        ("orders", "b", None, -1, 0, [("id", b"7")]),
    ]
    assert producer.calls == ["flush 2", "poll 0"]
    assert producer.configuration["bootstrap.servers"] == "broker:9092"
    assert producer.configuration["delivery.report.only.error"] is True


def test_record_batches_are_sent_row_by_row(options: WriteOptions, producer: Producer) -> None:
    batches = [pa.RecordBatch.from_pydict({"value": [b"a", b"b"]}), pa.RecordBatch.from_pydict({"value": [b"c"]})]
    assert write_batches(options, batches) == KafkaCommitMessage(3)
    assert [message[:2] for message in producer.messages] == [("orders", b"a"), ("orders", b"b"), ("orders", b"c")]


def test_a_task_without_rows_writes_nothing(options: WriteOptions, producer: Producer) -> None:
    assert write_rows(options, []) == KafkaCommitMessage(0)
    assert producer.messages == []


def test_a_full_buffer_is_waited_for(options: WriteOptions, producer: Producer) -> None:
    producer.full_for = 2
    write_rows(options, [{"value": b"a"}, {"value": b"b"}])
    assert [message[1] for message in producer.messages] == [b"a", b"b"]
    assert producer.calls == ["poll 0.1", "poll 0.1", "flush 2", "poll 0"]


# ── failures ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_first_row_that_the_broker_rejects_fails_the_task(options: WriteOptions, producer: Producer) -> None:
    producer.fail(1, TOO_LARGE)
    producer.fail(0, KafkaError(KafkaError.NOT_LEADER_FOR_PARTITION))
    with pytest.raises(
        WriteError, match=r"cannot write to orders: .*MSG_SIZE_TOO_LARGE.*; the row is .*b'b'"
    ) as caught:
        write_rows(options, [{"value": b"a"}, {"value": b"b"}])
    assert "NOT_LEADER" not in str(caught.value)


def test_a_report_without_an_error_is_no_failure(options: WriteOptions, producer: Producer) -> None:
    producer.at_poll.append(lambda: producer.callbacks[0](None, Delivered(*producer.messages[0])))
    assert write_rows(options, [{"value": b"a"}]) == KafkaCommitMessage(1)


def test_a_failure_is_noticed_before_all_rows_are_sent(options: WriteOptions, producer: Producer) -> None:
    producer.fail(0, TOO_LARGE)
    with pytest.raises(WriteError, match="MSG_SIZE_TOO_LARGE"):
        write_rows(options, ({"value": b"%d" % number} for number in range(100_000)))
    assert len(producer.messages) == 1_000


def test_a_failure_is_noticed_while_the_buffer_is_full(options: WriteOptions, producer: Producer) -> None:
    def failing() -> None:
        raise KafkaException(KafkaError(KafkaError._ALL_BROKERS_DOWN))

    producer.full_for = 1_000_000
    producer.at_poll.append(failing)
    with pytest.raises(WriteError, match=r"cannot write: .*_ALL_BROKERS_DOWN"):
        write_rows(options, [{"value": b"a"}])


def test_a_message_that_librdkafka_refuses_is_shown_with_its_row(options: WriteOptions, producer: Producer) -> None:
    producer.at_produce = KafkaException(KafkaError(KafkaError._UNKNOWN_PARTITION))
    with pytest.raises(WriteError, match=r"cannot write: .*; the row is .*partition.*99"):
        write_rows(options, [{"value": b"a", "partition": 99}])


def test_a_fatal_error_of_the_client_is_a_failure_with_its_cause(options: WriteOptions, producer: Producer) -> None:
    def fatal() -> None:
        raise SystemError("returned a result with an exception set") from ValueError("the cause")

    producer.at_poll.append(fatal)
    with pytest.raises(WriteError, match="cannot write: the cause"):
        write_rows(options, [{"value": b"a"}])


# ── in the driver ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("fields", "topic", "complaint"),
    [
        ([TOPIC], None, "Required attribute 'value' not found in topic"),
        ([], "orders", "Required attribute 'value' not found in no columns"),
        ([VALUE], None, "topic option required when no 'topic' attribute is present"),
        ([VALUE, StructField("topic", TimestampType())], None, "unsupported type timestamp: it must be string"),
        ([StructField("value", TimestampType())], "orders", "value attribute .* must be string or binary"),
    ],
)  # fmt: skip
def test_columns_that_cannot_be_written_are_refused(
    fields: list[StructField], topic: str | None, complaint: str
) -> None:
    with pytest.raises(SparkOptionError, match=complaint):
        validate_schema(StructType(fields), topic)


@pytest.mark.parametrize(("fields", "topic"), [([VALUE], "orders"), ([VALUE, TOPIC], None)])
def test_other_columns_do_not_matter(fields: list[StructField], topic: str | None) -> None:
    validate_schema(StructType([*fields, StructField("comment", TimestampType())]), topic)


def test_an_option_that_librdkafka_does_not_know_is_refused() -> None:
    with pytest.raises(SparkOptionError, match=r"Kafka option refused by librdkafka: .*no\.such\.option"):
        make_producer({"no.such.option": "1"})


def test_a_writer_refuses_bad_columns_and_options_before_any_task(options: WriteOptions) -> None:
    with pytest.raises(SparkOptionError, match="Required attribute"):
        KafkaWriter(options, StructType([TOPIC]))
    bad = write_options({"kafka.bootstrap.servers": "broker:9092", "topic": "orders", "kafka.acks": "several"})
    with pytest.raises(SparkOptionError, match="refused by librdkafka"):
        KafkaWriter(bad, StructType([VALUE]))


def test_a_writer_writes_the_batches_of_a_task(options: WriteOptions, producer: Producer) -> None:
    batches = iter([pa.RecordBatch.from_pydict({"value": [b"a", b"b"]})])
    assert KafkaWriter(options, StructType([VALUE])).write(batches) == KafkaCommitMessage(2)
    assert [message[1] for message in producer.messages] == [b"a", b"b"]
