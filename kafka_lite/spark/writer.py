"""Writes the rows of a query to Kafka, in batch and streaming queries, at least once.

Spark 4.2: connector/kafka-0-10-sql/.../KafkaWriter.scala, KafkaWriteTask.scala · book 2.1.1

Columns (only ``value`` is required):

    value      string or binary                            key        string or binary
    topic      string; or else the option of that name     partition  int; null: chosen by key
    headers    array<struct<key:string,value:binary>>      timestamp  timestamp, or double in s; null: now
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from confluent_kafka import KafkaException, Producer
from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from kafka_lite.common.errors import KafkaError
from kafka_lite.spark.offsets import SparkOptionError
from kafka_lite.spark.options import WriteOptions

_TYPES = {
    "topic": ("string",),
    "key": ("string", "binary"),
    "value": ("string", "binary"),
    "headers": ("array<struct<key:string,value:binary>>",),
    "partition": ("int",),
    "timestamp": ("timestamp", "double"),
}
_BUFFER_FULL_PAUSE_S = 0.1


class WriteError(KafkaError):
    """A row cannot be written, or the broker rejected it."""


@dataclass
class KafkaCommitMessage(WriterCommitMessage):
    """A task's message to the driver once all its rows are acknowledged."""

    row_count: int


def validate_schema(schema: StructType, topic: str | None) -> None:
    """Raise ``SparkOptionError`` if the columns are not those of the module's docstring."""
    types = {field.name: field.dataType.simpleString() for field in schema.fields}
    for name, allowed in _TYPES.items():
        if name in types and types[name] not in allowed:
            raise SparkOptionError(
                f"{name} attribute unsupported type {types[name]}: it must be {' or '.join(allowed)}"
            )
    if "value" not in types:
        raise SparkOptionError(f"Required attribute 'value' not found in {', '.join(types) or 'no columns'}")
    if topic is None and "topic" not in types:
        message = "topic option required when no 'topic' attribute is present. Use the topic option for setting a topic"
        raise SparkOptionError(message)


def write_rows(options: WriteOptions, batches: Iterator[Any]) -> KafkaCommitMessage:
    """Send the rows of one task and wait until all are acknowledged.

    Raises ``WriteError`` for the first row that fails; rows before and after it may have been written, and if Spark
    retries the task, it writes them again.
    """
    delivery = _Delivery(options)
    row_count = 0
    for batch in batches:
        for row in _rows(batch, options.topic):
            delivery.send(row)
            row_count += 1
    delivery.finish()
    return KafkaCommitMessage(row_count)


def _rows(batch: Any, topic: str | None) -> Iterator[dict[str, Any]]:
    """The arguments of ``produce`` for every row."""
    names = [name for name in batch.schema.names if name in _TYPES]
    columns = [batch.column(name).to_pylist() for name in names]
    for values in zip(*columns, strict=True):
        row = {name: value for name, value in zip(names, values, strict=True) if value is not None}
        if topic is not None:
            row["topic"] = topic
        if "topic" not in row:
            raise WriteError("null topic present in the data. Use the topic option for setting a default topic")
        if row.get("partition", 0) < 0:
            raise WriteError(f"Invalid partition: {row['partition']}. A partition number should not be negative")
        if "headers" in row:
            row["headers"] = [(header["key"], header["value"]) for header in row["headers"]]
        if "timestamp" in row:
            row["timestamp"] = _milliseconds(row["timestamp"])
        yield row


def _milliseconds(timestamp: datetime | float) -> int:
    seconds = timestamp.timestamp() if isinstance(timestamp, datetime) else timestamp
    return round(seconds * 1000)


class _Delivery:
    """librdkafka's producer; remembers the first failure."""

    def __init__(self, options: WriteOptions) -> None:
        self._failure: str | None = None
        # Report only failures: a callback per row would cost more than sending it.
        self._producer = make_producer({**options.producer, "delivery.report.only.error": True})

    def send(self, row: dict[str, Any]) -> None:
        """Send one row; blocks while the buffer is full. Raises WriteError."""
        with _fatal_errors():
            while not self._is_taken(row):
                self._producer.poll(_BUFFER_FULL_PAUSE_S)
            self._producer.poll(0)
        self._raise_failure()

    def _is_taken(self, row: dict[str, Any]) -> bool:
        try:
            self._producer.produce(on_delivery=self._on_failure, **row)
        except BufferError:
            self._raise_failure()
            return False
        return True

    def finish(self) -> None:
        """Wait until all rows are acknowledged or have failed, at the latest after ``delivery.timeout.ms``."""
        with _fatal_errors():
            self._producer.flush()
        self._raise_failure()

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise WriteError(self._failure)

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
        return write_rows(self._options, iterator)


class KafkaStreamWriter(DataSourceStreamArrowWriter):
    """The writer of streaming queries: ``df.writeStream``. A batch retried after a failure is written again."""

    def __init__(self, options: WriteOptions, schema: StructType) -> None:
        validate_schema(schema, options.topic)
        make_producer(options.producer)
        self._options = options

    def write(self, iterator: Iterator[Any]) -> KafkaCommitMessage:
        """Write the rows of one task of a micro-batch."""
        return write_rows(self._options, iterator)
