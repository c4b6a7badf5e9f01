"""Writes the rows of a query to Kafka, at least once; streaming queries use it through ``stream_writer``.

Spark 4.2: connector/kafka-0-10-sql/.../KafkaWriter.scala, KafkaWriteTask.scala · book 2.1.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaException, Producer
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from kafka_lite.spark.offsets import SparkOptionError
from kafka_lite.spark.options import WriteOptions
from kafka_lite.spark.row_messages import (
    COLUMN_TYPES,
    Message,
    WriteError,
    describe_row,
    message_of_row,
    messages_of_batch,
)

_BUFFER_FULL_PAUSE_S = 0.1
_MESSAGES_PER_POLL = 1000


@dataclass
class KafkaCommitMessage(WriterCommitMessage):
    """A task's message to the driver once all its rows are acknowledged."""

    row_count: int


def validate_schema(schema: StructType, topic: str | None) -> None:
    """Raise ``SparkOptionError`` if the columns are not those of ``row_messages``."""
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
    return _write(options, (message for batch in batches for message in messages_of_batch(batch, options.topic)))


def write_rows(options: WriteOptions, rows: Iterable[dict[str, Any]]) -> KafkaCommitMessage:
    """Send the rows of one task, given as columns by name without the nulls, and wait until all are acknowledged.

    Raises ``WriteError`` for the first row that fails; rows before and after it may have been written, and if Spark
    retries the task, it writes them again.
    """
    return _write(options, (message_of_row(row, options.topic) for row in rows))


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
            except KafkaException as error:
                row = describe_row(Message(*message)._asdict())
                raise WriteError(f"cannot write: {error.args[0].str()}; the row is {row}") from error
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
            row = {"partition": message.partition(), "key": message.key(), "value": message.value()}
            self._failure = (
                f"cannot write to {message.topic()}: {error.str()} ({error.name()}); the row is {describe_row(row)}"
            )


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
