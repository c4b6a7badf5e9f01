"""Sends records that failed to a topic.

Kafka 2.0: connect/runtime/.../connect/runtime/errors/DeadLetterQueueReporter.java · book 8.3.7
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, Final

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.errors.error_handling_metrics import ErrorHandlingMetrics
from kafka_lite.connect.runtime.errors.error_reporter import ErrorReporter, done
from kafka_lite.connect.runtime.errors.processing_context import ProcessingContext, error_class
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.producer.producer_record import ProducerRecord, RecordMetadata

logger = logging.getLogger(__name__)

HEADER_PREFIX: Final = "__connect.errors."
DLQ_NUM_DESIRED_PARTITIONS: Final = 1


class DeadLetterQueueReporter(ErrorReporter):
    """Sends the record with the bytes, the time and the headers that it was read with. With ``with_context`` it has
    these headers more, all of them texts::

        __connect.errors.topic             orders         where it was read
        __connect.errors.partition         0
        __connect.errors.offset            17
        __connect.errors.connector.name    warehouse      where it failed
        __connect.errors.task.id           2
        __connect.errors.stage             VALUE_CONVERTER
        __connect.errors.class.name        org.apache.kafka.connect.json.JsonConverter
        __connect.errors.exception.class.name             how it failed
        __connect.errors.exception.message
        __connect.errors.exception.stacktrace
    """

    def __init__(
        self,
        producer: KafkaProducer,
        topic: str,
        task_id: ConnectorTaskId,
        *,
        with_context: bool,
        metrics: ErrorHandlingMetrics,
    ) -> None:
        """The topic exists. The producer takes bytes, and is closed here."""
        self._producer = producer
        self._topic = topic
        self._task_id = task_id
        self._with_context = with_context
        self._metrics = metrics

    def report(self, context: ProcessingContext[Any]) -> Future[None]:
        """Send the record. If that fails, this is logged."""
        self._metrics.deadletterqueue_produce_requests += 1
        original = context.original
        if not isinstance(original, ConsumerRecord):
            self._metrics.deadletterqueue_produce_failures += 1
            return done()
        headers: list[tuple[str, bytes | None]] = [(name, value) for name, value in original.headers]
        if self._with_context:
            headers += self._context_headers(context, original)
        timestamp = original.timestamp if original.timestamp >= 0 else None
        future: Future[None] = Future()
        record = ProducerRecord(self._topic, original.value, original.key, None, timestamp, headers)
        self._producer.send(record, partial(self._sent, future))
        return future

    def _sent(self, future: Future[None], metadata: RecordMetadata | None, error: Exception | None) -> None:  # noqa: ARG002
        if error is not None:
            logger.error("Could not produce message to dead letter queue. topic=%s", self._topic, exc_info=error)
            self._metrics.deadletterqueue_produce_failures += 1
        future.set_result(None)

    def _context_headers(
        self, context: ProcessingContext[Any], original: ConsumerRecord
    ) -> Sequence[tuple[str, bytes | None]]:
        texts = {
            "topic": original.topic,
            "partition": str(original.partition),
            "offset": str(original.offset),
            "connector.name": self._task_id.connector,
            "task.id": str(self._task_id.task),
            "stage": context.stage.name,
            "class.name": context.executing_class,
        }
        if context.error is not None:
            texts["exception.class.name"] = error_class(context.error)
            texts["exception.message"] = str(context.error)
            texts["exception.stacktrace"] = "".join(traceback.format_exception(context.error))
        return [(HEADER_PREFIX + name, text.encode("utf-8", "replace")) for name, text in texts.items()]

    def close(self) -> None:
        """Send what is queued, and close the producer."""
        self._producer.close()
