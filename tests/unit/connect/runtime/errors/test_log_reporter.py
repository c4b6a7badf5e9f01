from typing import Any

import pytest

from kafka_lite.connect.api.source_record import SourceRecord
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.errors.error_handling_metrics import ErrorHandlingMetrics
from kafka_lite.connect.runtime.errors.log_reporter import LogReporter
from kafka_lite.connect.runtime.errors.processing_context import ProcessingContext, Stage, error_class
from kafka_lite.connect.transforms.insert_field import InsertFieldValue
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.record.record import TimestampType

READ = ConsumerRecord("orders", 3, 17, 99, TimestampType.CREATE_TIME, b"secret", b"secret")
LINE = (
    "Error encountered in task shop-2. Executing stage 'TRANSFORMATION' with class "
    "'org.apache.kafka.connect.transforms.InsertField$Value'"
)


@pytest.mark.parametrize(
    ("original", "with_messages", "text"),
    [
        (READ, False, "."),
        (READ, True, ", where consumed record is {topic='orders', partition=3, offset=17, timestamp=99, "
                     "timestampType=CreateTime}."),
        (READ._replace(timestamp_type=TimestampType.NO_TIMESTAMP_TYPE), True,
         ", where consumed record is {topic='orders', partition=3, offset=17}."),
        (SourceRecord(topic="t", value=1), True,
         ", where source record is = SourceRecord{sourcePartition=null, sourceOffset=null} "
         "ConnectRecord{topic='t', kafkaPartition=null, key=null, value=1, timestamp=null}."),
    ],
)  # fmt: skip
def test_kafkas_lines(original: Any, with_messages: bool, text: str, caplog: pytest.LogCaptureFixture) -> None:
    metrics = ErrorHandlingMetrics()
    context = ProcessingContext(original)
    context.executing, context.error = InsertFieldValue(), ValueError("no field")
    assert context.stage is Stage.TRANSFORMATION
    reporter = LogReporter(ConnectorTaskId("shop", 2), with_messages=with_messages, metrics=metrics)
    assert reporter.report(context).done()
    (record,) = caplog.records
    assert record.getMessage() == LINE + text
    assert record.exc_info is not None
    assert record.exc_info[1] is context.error
    assert metrics.total_errors_logged == 1
    reporter.close()


@pytest.mark.parametrize(("error", "name"), [(ValueError(), "ValueError"), (ConnectionError(), "ConnectionError")])
def test_other_errors_keep_their_names(error: Exception, name: str) -> None:
    assert error_class(error) == name
