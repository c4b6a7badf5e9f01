"""Logs records that failed.

Kafka 2.0: connect/runtime/.../connect/runtime/errors/LogReporter.java · book 8.3.7
"""

from __future__ import annotations

import logging
from concurrent.futures import Future
from typing import Any

from kafka_lite.connect.api.source_record import SourceRecord
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.errors.error_handling_metrics import ErrorHandlingMetrics
from kafka_lite.connect.runtime.errors.error_reporter import ErrorReporter, done
from kafka_lite.connect.runtime.errors.processing_context import ProcessingContext
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.record.record import TimestampType

logger = logging.getLogger(__name__)

_TIMESTAMP_TYPES = {TimestampType.CREATE_TIME: "CreateTime", TimestampType.LOG_APPEND_TIME: "LogAppendTime"}


class LogReporter(ErrorReporter):
    """Writes one line per error, and the traceback. Never the key or the value that a sink has read."""

    def __init__(self, task_id: ConnectorTaskId, *, with_messages: bool, metrics: ErrorHandlingMetrics) -> None:
        self._task_id = task_id
        self._with_messages = with_messages
        self._metrics = metrics

    def report(self, context: ProcessingContext[Any]) -> Future[None]:
        """Log the error."""
        logger.error("%s", self.message(context), exc_info=context.error)
        self._metrics.total_errors_logged += 1
        return done()

    def message(self, context: ProcessingContext[Any]) -> str:
        """The line."""
        record = _record_text(context.original) if self._with_messages else ""
        return (
            f"Error encountered in task {self._task_id}. Executing stage '{context.stage.name}' with class "
            f"'{context.executing_class}'{record}."
        )


def _record_text(original: ConsumerRecord | SourceRecord) -> str:
    if isinstance(original, SourceRecord):
        return f", where source record is = {original}"
    kind = _TIMESTAMP_TYPES.get(original.timestamp_type)
    at = "" if kind is None else f", timestamp={original.timestamp}, timestampType={kind}"
    return (
        f", where consumed record is {{topic='{original.topic}', partition={original.partition}, "
        f"offset={original.offset}{at}}}"
    )
