"""Writes the rows of a query to Kafka, at least once; streaming queries use it through ``stream_writer``.

Spark 4.2: connector/kafka-0-10-sql/.../KafkaWriter.scala, KafkaWriteTask.scala · book 2.1.1

Columns (only ``value`` is required):

    value      string or binary                            key        string or binary
    topic      string; or else the option of that name     partition  int; null: chosen by key
    headers    array<struct<key:string,value:binary>>      timestamp  timestamp, or double in s; null: now
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import repeat
from typing import Any, NamedTuple

import pyarrow
from confluent_kafka import KafkaException, Producer
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from kafka_lite.common.errors import KafkaError
from kafka_lite.spark.offsets import SparkOptionError
from kafka_lite.spark.options import WriteOptions

COLUMN_TYPES = {
    "topic": ("string",),
    "key": ("string", "binary"),
    "value": ("string", "binary"),
    "headers": ("array<struct<key:string,value:binary>>",),
    "partition": ("int",),
    "timestamp": ("timestamp", "double"),
}
"""The columns that are written, and their types; a query may have others."""

_BUFFER_FULL_PAUSE_S = 0.1
_MESSAGES_PER_POLL = 1000
_NULL_TOPIC = "null topic present in the data. Use the topic option for setting a default topic"


class WriteError(KafkaError):
    """A row cannot be written, or the broker rejected it."""


@dataclass
class KafkaCommitMessage(WriterCommitMessage):
    """A task's message to the driver once all its rows are acknowledged."""

    row_count: int


def validate_schema(schema: StructType, topic: str | None) -> None:
    """Raise ``SparkOptionError`` if the columns are not those of the module's docstring."""
    types = {field.name: field.dataType.simpleString() for field in schema.fields}
    for name, allowed in COLUMN_TYPES.items():
        if name in types and types[name] not in allowed:
            raise SparkOptionError(
                f"{name} attribute unsupported type {types[name]}: it must be {' or '.join(allowed)}"
            )
    if "value" not in types:
        raise SparkOptionError(f"Required attribute 'value' not found in {', '.join(types) or 'no columns'}")
    if topic is None and "topic" not in types:
        message = "topic option required when no 'topic' attribute is present. Use the topic option for setting a topic"
        raise SparkOptionError(message)


def write_batches(options: WriteOptions, batches: Iterable[Any]) -> KafkaCommitMessage:
    """Send the rows of one task, given as Arrow record batches: see ``write_rows``."""
    return _write(options, (message for batch in batches for message in _messages(batch, options.topic)))


def write_rows(options: WriteOptions, rows: Iterable[dict[str, Any]]) -> KafkaCommitMessage:
    """Send the rows of one task, given as columns by name without the nulls, and wait until all are acknowledged.

    Raises ``WriteError`` for the first row that fails; rows before and after it may have been written, and if Spark
    retries the task, it writes them again.
    """
    return _write(options, (_message(row, options.topic) for row in rows))


class _Message(NamedTuple):
    """A row, as librdkafka's ``produce`` takes it."""

    topic: str | None
    value: bytes | str | None = None
    key: bytes | str | None = None
    partition: int = -1
    """-1: chosen by key."""
    timestamp_ms: int = 0
    """0: now."""
    headers: list[tuple[str, bytes | None]] | None = None


def _messages(batch: Any, topic: str | None) -> Iterator[tuple[Any, ...]]:
    """The rows of a record batch, converted column by column: what ``_message`` makes of each, as plain tuples.

    Raises ``WriteError`` before the first row if a column has an invalid value.
    """
    rows, defaults = batch.num_rows, _Message(topic)
    columns = {name: batch.column(name) for name in batch.schema.names if name in COLUMN_TYPES}
    topics = [topic] * rows if topic is not None or "topic" not in columns else columns["topic"].to_pylist()
    found = {name: columns[name].to_pylist() for name in ("value", "key") if name in columns}
    if "partition" in columns:
        found["partition"] = columns["partition"].fill_null(defaults.partition).to_pylist()
        _check_partitions(columns["partition"].drop_null().to_pylist())
    if "timestamp" in columns:
        found["timestamp_ms"] = _column_of_milliseconds(columns["timestamp"])
    if "headers" in columns:
        found["headers"] = [_headers(headers) for headers in columns["headers"].to_pylist()]
    if None in topics:
        raise WriteError(_NULL_TOPIC)
    others = (found.get(name) or repeat(getattr(defaults, name), rows) for name in _Message._fields[1:])
    return zip(topics, *others, strict=True)


def _message(row: dict[str, Any], topic: str | None) -> tuple[Any, ...]:
    topic = topic if topic is not None else row.get("topic")
    if topic is None:
        raise WriteError(_NULL_TOPIC)
    _check_partitions([row.get("partition", 0)])
    timestamp_ms = _milliseconds(row["timestamp"]) if "timestamp" in row else 0
    headers = _headers(row.get("headers"))
    return _Message(topic, row.get("value"), row.get("key"), row.get("partition", -1), timestamp_ms, headers)


def _check_partitions(partitions: Sequence[int]) -> None:
    if min(partitions, default=0) < 0:
        raise WriteError(f"Invalid partition: {min(partitions)}. A partition number should not be negative")


def _headers(headers: Sequence[Mapping[str, Any]] | None) -> list[tuple[str, bytes | None]] | None:
    return None if headers is None else [(header["key"], header["value"]) for header in headers]


def _column_of_milliseconds(timestamps: Any) -> list[int]:
    """Unix times in ms of a column of timestamps (µs), or of seconds."""
    if pyarrow.types.is_timestamp(timestamps.type):
        microseconds = timestamps.cast(pyarrow.timestamp("us", timestamps.type.tz)).cast(pyarrow.int64())
        milliseconds = microseconds.fill_null(0).to_numpy(zero_copy_only=False) // 1000
    else:
        milliseconds = (timestamps.fill_null(0).to_numpy(zero_copy_only=False) * 1000).round().astype("int64")
    found: list[int] = milliseconds.tolist()
    return found


def _milliseconds(timestamp: datetime | float) -> int:
    if isinstance(timestamp, datetime):
        return round(timestamp.timestamp() * 1_000_000) // 1000
    return round(timestamp * 1000)


def _write(options: WriteOptions, messages: Iterable[tuple[Any, ...]]) -> KafkaCommitMessage:
    delivery, count = _Delivery(options), 0
    with _fatal_errors():
        for message in messages:
            delivery.send(message)
            count += 1
            if count % _MESSAGES_PER_POLL == 0:
                delivery.poll()
        delivery.finish()
    return KafkaCommitMessage(count)


class _Delivery:
    """librdkafka's producer; remembers the first failure, which the next ``poll`` or ``finish`` raises."""

    def __init__(self, options: WriteOptions) -> None:
        self._failure: str | None = None
        # Report only failures: a callback per row would cost more than sending it.
        self._producer = make_producer({**options.producer, "delivery.report.only.error": True})
        self._produce = self._producer.produce

    def send(self, message: tuple[Any, ...]) -> None:
        """Send one message; blocks while the buffer is full."""
        topic, value, key, partition, timestamp_ms, headers = message
        while True:
            try:
                self._produce(
                    topic, value, key, partition, self._on_failure, timestamp=timestamp_ms, headers=headers
                )  # fmt: skip
            except BufferError:
                self.poll(_BUFFER_FULL_PAUSE_S)
            else:
                return

    def poll(self, timeout_s: float = 0) -> None:
        """Take in what the broker has rejected. Raises WriteError."""
        self._producer.poll(timeout_s)
        if self._failure is not None:
            raise WriteError(self._failure)

    def finish(self) -> None:
        """Wait until all rows are acknowledged or have failed, at the latest after ``delivery.timeout.ms``."""
        self._producer.flush()
        self.poll()

    def _on_failure(self, error: Any, message: Any) -> None:
        if error is not None and self._failure is None:
            self._failure = f"cannot write to {message.topic()}: {error.str()} ({error.name()})"


@contextmanager
def _fatal_errors() -> Iterator[None]:
    """Convert the client's fatal errors, which callbacks raise as the cause of a ``SystemError``, to ``WriteError``."""
    try:
        yield
    except (KafkaException, SystemError) as error:
        raise WriteError(f"cannot write: {error.__cause__ or error}") from error


def make_producer(configuration: Mapping[str, Any]) -> Any:
    """Create librdkafka's producer. Raises ``SparkOptionError`` for an unknown option or invalid value."""
    try:
        return Producer(dict(configuration))
    except KafkaException as error:
        raise SparkOptionError(f"Kafka option refused by librdkafka: {error.args[0].str()}") from error


class KafkaWriter(DataSourceArrowWriter):
    """The writer of batch queries: ``df.write``."""

    def __init__(self, options: WriteOptions, schema: StructType) -> None:
        validate_schema(schema, options.topic)
        make_producer(options.producer)  # in the driver, so that an invalid option fails before any task runs
        self._options = options

    def write(self, iterator: Iterator[Any]) -> KafkaCommitMessage:
        """Write the rows of one task."""
        return write_batches(self._options, iterator)
