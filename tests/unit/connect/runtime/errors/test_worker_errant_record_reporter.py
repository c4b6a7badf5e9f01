from dataclasses import FrozenInstanceError, fields

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.data.schema_and_value import SchemaAndValue
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.api.headers import Header, Headers
from kafka_lite.connect.api.sink_record import SinkRecord
from kafka_lite.connect.converters.simple_header_converter import SimpleHeaderConverter
from kafka_lite.connect.runtime.errors.error_handling_config import ErrorHandlingConfig
from kafka_lite.connect.runtime.errors.processing_context import ProcessingContext
from kafka_lite.connect.runtime.errors.retry_with_tolerance_operator import RetryWithToleranceOperator
from kafka_lite.connect.runtime.errors.worker_errant_record_reporter import (
    InternalSinkRecord,
    WorkerErrantRecordReporter,
    sink_record,
)
from kafka_lite.record.record import TimestampType
from tests.support.connect_stores import PlainJson
from tests.support.connect_tasks import Kept, record

ERROR = ValueError("no such column")
READ = record(b"{}", 5)


def _reporter(tolerates_all: bool) -> tuple[WorkerErrantRecordReporter, Kept]:
    kept = Kept()
    operator = RetryWithToleranceOperator(ErrorHandlingConfig(tolerates_all=tolerates_all), reporters=[kept])
    return WorkerErrantRecordReporter(operator, PlainJson(), PlainJson(), SimpleHeaderConverter()), kept


def test_a_record_and_its_copies_know_their_bytes() -> None:
    reporter, kept = _reporter(True)
    made = InternalSinkRecord(topic="t", kafka_partition=0, kafka_offset=5, value={}, context=ProcessingContext(READ))
    copied = made.new_record(topic="other", value=1)
    reporter.report(copied, ERROR)
    assert kept.contexts[0].original is READ
    assert "context" not in repr(copied)
    assert str(copied).startswith("SinkRecord{kafkaOffset=5")
    reporter.raise_if_not_tolerated()


@pytest.mark.parametrize("kind", TimestampType)
@pytest.mark.parametrize("timestamp", [-1, 0, 1005])
def test_a_record_that_is_made_quickly_is_like_one_of_the_constructor(kind: TimestampType, timestamp: int) -> None:
    read = record(b"{}", 5, TopicPartition("t", 3))._replace(timestamp=timestamp, timestamp_type=kind)
    context, headers = ProcessingContext(read), Headers([Header("h", 7)])
    key, value = SchemaAndValue(Schema.INT32_SCHEMA, 1), SchemaAndValue(Schema.STRING_SCHEMA, "v")
    quick = sink_record(read, key, value, headers, context)
    has_time = kind is not TimestampType.NO_TIMESTAMP_TYPE and timestamp >= 0
    wanted = InternalSinkRecord(
        topic="t", kafka_partition=3, key_schema=key.schema, key=key.value, value_schema=value.schema,
        value=value.value, kafka_offset=5, timestamp=timestamp if has_time else None, timestamp_type=kind,
        headers=headers, context=context,
    )  # fmt: skip
    assert vars(quick) == vars(wanted)
    assert vars(quick).keys() == {each.name for each in fields(InternalSinkRecord)}
    with pytest.raises(FrozenInstanceError):
        quick.topic = "other"  # type: ignore[misc]


def test_a_record_that_the_task_made_is_converted_back() -> None:
    reporter, kept = _reporter(True)
    headers = Headers([Header("h", 7)])
    reporter.report(SinkRecord(topic="t", kafka_partition=1, kafka_offset=5, value=[1], headers=headers), ERROR)
    original = kept.contexts[0].original
    assert (original.key, original.value, original.timestamp) == (None, b"[1]", -1)
    assert original.headers == (("h", b"7"),)


def test_what_is_not_tolerated_is_raised_now_and_later() -> None:
    reporter, kept = _reporter(False)
    reporter.raise_if_not_tolerated()
    with pytest.raises(ConnectError, match="Tolerance exceeded"):
        reporter.report(SinkRecord(topic="t", kafka_partition=1, kafka_offset=5), ERROR)
    with pytest.raises(ConnectError, match="Tolerance exceeded") as raised:
        reporter.raise_if_not_tolerated()
    assert raised.value.__cause__ is ERROR
    assert len(kept.contexts) == 1
