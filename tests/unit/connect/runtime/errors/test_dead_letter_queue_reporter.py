from typing import Any

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.connect.api.errors import DataError
from kafka_lite.connect.api.source_record import SourceRecord
from kafka_lite.connect.json.json_converter import JsonConverter
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.errors.dead_letter_queue_reporter import DeadLetterQueueReporter
from kafka_lite.connect.runtime.errors.error_handling_metrics import ErrorHandlingMetrics
from kafka_lite.connect.runtime.errors.processing_context import ProcessingContext, Stage
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.record.record import Header, TimestampType
from tests.support.connect_tasks import FakeProducer

READ = ConsumerRecord("orders", 3, 17, 99, TimestampType.CREATE_TIME, b"k", b"{", (Header("h", b"x"),))


class Rig:
    def __init__(self, with_context: bool = False) -> None:
        self.producer: Any = FakeProducer()
        self.metrics = ErrorHandlingMetrics()
        self.reporter = DeadLetterQueueReporter(
            self.producer, "dead", ConnectorTaskId("shop", 2), with_context=with_context, metrics=self.metrics
        )


def _failed(original: Any = READ, error: Exception | None = None) -> ProcessingContext[Any]:
    context = ProcessingContext(original)
    context.stage, context.executing = Stage.VALUE_CONVERTER, JsonConverter()
    context.error = error or DataError("no JSON")
    return context


def test_the_record_is_sent_as_it_was_read() -> None:
    rig = Rig()
    future = rig.reporter.report(_failed())
    (sent,) = rig.producer.sent
    assert (sent.topic, sent.key, sent.value, sent.partition, sent.timestamp) == ("dead", b"k", b"{", None, 99)
    assert list(sent.headers) == [("h", b"x")]
    assert not future.done()
    rig.producer.acknowledge()
    assert future.done()
    rig.reporter.close()
    assert rig.producer.closed


def test_a_record_without_a_time_gets_the_time_of_the_queue() -> None:
    rig = Rig()
    rig.reporter.report(_failed(READ._replace(timestamp=-1)))
    assert rig.producer.sent[0].timestamp is None


def test_headers_say_where_and_how_it_failed() -> None:
    rig = Rig(with_context=True)
    try:
        raise DataError("no JSON")
    except DataError as error:
        rig.reporter.report(_failed(error=error))
    kept, *added = rig.producer.sent[0].headers
    assert kept == ("h", b"x")
    texts = {name.removeprefix("__connect.errors."): value.decode() for name, value in added}
    trace = texts.pop("exception.stacktrace")
    assert trace.startswith("Traceback")
    assert trace.endswith("DataError: no JSON\n")
    assert texts == {
        "topic": "orders",
        "partition": "3",
        "offset": "17",
        "connector.name": "shop",
        "task.id": "2",
        "stage": "VALUE_CONVERTER",
        "class.name": "org.apache.kafka.connect.json.JsonConverter",
        "exception.class.name": "org.apache.kafka.connect.errors.DataException",
        "exception.message": "no JSON",
    }


def test_a_record_that_cannot_be_sent_is_logged_and_counted(caplog: Any) -> None:
    rig = Rig()
    future = rig.reporter.report(_failed())
    rig.producer.acknowledge(ApiError(Errors.TOPIC_AUTHORIZATION_FAILED))
    assert future.done()
    assert "Could not produce message to dead letter queue. topic=dead" in caplog.text
    assert (rig.metrics.deadletterqueue_produce_requests, rig.metrics.deadletterqueue_produce_failures) == (1, 1)


def test_only_what_was_read_can_be_sent() -> None:
    rig = Rig()
    assert rig.reporter.report(_failed(SourceRecord(topic="t"))).done()
    assert (rig.producer.sent, rig.metrics.deadletterqueue_produce_failures) == ([], 1)
