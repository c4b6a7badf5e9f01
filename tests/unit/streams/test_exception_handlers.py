"""Records that cannot be deserialized fail the thread with their names and numbers, or are skipped."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.serialization import ByteArrayDeserializer, LongDeserializer
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.producer.producer_record import ProducerRecord
from kafka_lite.record.record import TimestampType
from kafka_lite.streams.errors import StreamsError
from kafka_lite.streams.exception_handlers import (
    DefaultProductionExceptionHandler,
    DeserializationExceptionHandler,
    HandlerResponse,
    LogAndContinueExceptionHandler,
    LogAndFailExceptionHandler,
    ProductionExceptionHandler,
)
from kafka_lite.streams.processor.internals.topology.source_node import SourceNode
from kafka_lite.streams.processor.timestamp_extractor import FailOnInvalidTimestamp
from kafka_lite.streams.streams_config import StreamsConfig
from kafka_lite.streams.task_id import TaskId
from kafka_lite.streams.tasks.record_deserializer import RecordDeserializer
from kafka_lite.streams.tasks.record_queue import RecordQueue

T3 = TopicPartition("t", 3)
TOO_LARGE = ApiError(Errors.MESSAGE_TOO_LARGE, "2000 bytes")


def queue_of_longs(handler: DeserializationExceptionHandler) -> RecordQueue:
    source = SourceNode("source", ["t"], ByteArrayDeserializer(), LongDeserializer())
    return RecordQueue(
        T3, source, FailOnInvalidTimestamp(), RecordDeserializer(source, handler, TaskId(1, 3)).deserialize
    )


def records(*values: bytes) -> list[ConsumerRecord]:
    kind = TimestampType.CREATE_TIME
    return [ConsumerRecord(*T3, 7 + number, 1, kind, b"k", value) for number, value in enumerate(values)]


GOOD, BAD = bytes(8), b"short"
WHERE = "taskId: 1_3, topic: t, partition: 3, offset: 8: Failed to deserialize value"


def test_a_record_that_cannot_be_deserialized_fails_with_its_place(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(StreamsError, match="topic=t, partition=3, offset=8") as raised:
        queue_of_longs(LogAndFailExceptionHandler()).add_raw_records(records(GOOD, BAD))
    assert "please set default.deserialization.exception.handler" in str(raised.value)
    assert "5 bytes are not 8" in str(raised.value.__cause__)
    assert WHERE in caplog.text
    assert caplog.records[0].levelno == logging.ERROR


def test_a_record_that_cannot_be_deserialized_is_skipped(caplog: pytest.LogCaptureFixture) -> None:
    queue = queue_of_longs(LogAndContinueExceptionHandler())
    assert queue.add_raw_records(records(GOOD, BAD, GOOD)) == 2
    assert [queue.poll().record.offset for _ in range(2)] == [7, 9]
    assert WHERE in caplog.text
    assert caplog.records[0].levelno == logging.WARNING


class Configured(DeserializationExceptionHandler):
    """Takes its response from the configuration."""

    response = HandlerResponse.FAIL

    def configure(self, configs: Any) -> None:
        self.response = HandlerResponse[configs["on.bad.record"]]

    def handle(self, task_id: TaskId, record: ConsumerRecord, error: Exception) -> HandlerResponse:
        return self.response


class Forgiving(ProductionExceptionHandler):
    """Takes its response from the configuration."""

    response = HandlerResponse.FAIL

    def configure(self, configs: Any) -> None:
        self.response = HandlerResponse[configs["on.bad.record"]]

    def handle(self, record: ProducerRecord, error: Exception) -> HandlerResponse:
        return self.response


def test_handlers_are_configured() -> None:
    minimum = {"application.id": "app", "bootstrap.servers": "localhost:9092", "on.bad.record": "CONTINUE"}
    config = StreamsConfig({**minimum, "default.deserialization.exception.handler": Configured})
    handler = config.deserialization_exception_handler()
    assert isinstance(handler, Configured)
    assert handler.response is HandlerResponse.CONTINUE
    assert isinstance(config.production_exception_handler(), DefaultProductionExceptionHandler)
    forgiving = StreamsConfig({**minimum, "default.production.exception.handler": Forgiving})
    assert forgiving.production_exception_handler().handle(Any, TOO_LARGE) is HandlerResponse.CONTINUE  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"default\.production\.exception\.handler"):
        StreamsConfig({**minimum, "default.production.exception.handler": Configured})
