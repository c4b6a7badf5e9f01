"""Takes the records that a sink task cannot write.

Kafka 2.6: connect/runtime/.../connect/runtime/errors/WorkerErrantRecordReporter.java,
connect/runtime/.../connect/runtime/InternalSinkRecord.java · book 8.3.7
"""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final

from kafka_lite.connect.api.converter import Converter, HeaderConverter
from kafka_lite.connect.api.data.schema_and_value import SchemaAndValue
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.api.headers import Headers
from kafka_lite.connect.api.sink_record import SinkRecord
from kafka_lite.connect.api.sink_task import ErrantRecordReporter, SinkTask
from kafka_lite.connect.runtime.errors.processing_context import ProcessingContext, Stage
from kafka_lite.connect.runtime.errors.retry_with_tolerance_operator import RetryWithToleranceOperator
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.record.record import Header, TimestampType

_NO_TIMESTAMP: Final = TimestampType.NO_TIMESTAMP_TYPE


@dataclass(frozen=True, kw_only=True)
class InternalSinkRecord(SinkRecord):
    """A record of a sink task that knows the bytes it was made of. A changed copy knows them, too."""

    context: ProcessingContext[ConsumerRecord] = field(repr=False, compare=False)


def sink_record(
    consumed: ConsumerRecord,
    key: SchemaAndValue,
    value: SchemaAndValue,
    headers: Headers,
    context: ProcessingContext[ConsumerRecord],
) -> InternalSinkRecord:
    """The record for a sink task: ``InternalSinkRecord(…)`` in half its time.

    The constructor of a frozen dataclass sets each attribute by a call.
    """
    topic, partition, offset, timestamp, timestamp_type = consumed[:5]
    record = object.__new__(InternalSinkRecord)
    record.__dict__.update(
        topic=topic,
        kafka_partition=partition,
        key_schema=key[0],
        key=key[1],
        value_schema=value[0],
        value=value[1],
        timestamp=timestamp if timestamp >= 0 and timestamp_type is not _NO_TIMESTAMP else None,
        headers=headers,
        kafka_offset=offset,
        timestamp_type=timestamp_type,
        original_topic=topic,
        original_kafka_partition=partition,
        original_kafka_offset=offset,
        context=context,
    )
    return record


class WorkerErrantRecordReporter(ErrantRecordReporter):
    """Used by any thread of the task."""

    def __init__(
        self,
        operator: RetryWithToleranceOperator,
        key_converter: Converter,
        value_converter: Converter,
        header_converter: HeaderConverter,
    ) -> None:
        self._operator = operator
        self._key_converter = key_converter
        self._value_converter = value_converter
        self._header_converter = header_converter
        self._first_error: BaseException | None = None

    def report(self, record: SinkRecord, error: BaseException) -> Future[None]:
        """Report the bytes that the record was made of. Raises ConnectError if nothing is tolerated."""
        context = (
            record.context if isinstance(record, InternalSinkRecord) else ProcessingContext(self._bytes_of(record))
        )
        self._first_error = self._first_error or error
        return self._operator.execute_failed(context, Stage.TASK_PUT, SinkTask, error)

    def raise_if_not_tolerated(self) -> None:
        """For a task that caught what ``report`` raised, or reported in another thread."""
        if self._first_error is not None and not self._operator.is_within_tolerance:
            raise ConnectError("Tolerance exceeded in error handler") from self._first_error

    def _bytes_of(self, record: SinkRecord) -> ConsumerRecord:
        """Of a record that the task has made itself."""
        topic = record.topic
        headers = (
            Header(each.key, self._header_converter.from_connect_header(topic, each.key, each.schema, each.value))
            for each in record.headers
        )
        return ConsumerRecord(
            topic,
            record.kafka_partition or 0,
            record.kafka_offset,
            -1 if record.timestamp is None else record.timestamp,
            record.timestamp_type,
            self._key_converter.from_connect_data(topic, record.key_schema, record.key),
            self._value_converter.from_connect_data(topic, record.value_schema, record.value),
            tuple(headers),
        )
