import pytest

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
)
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
