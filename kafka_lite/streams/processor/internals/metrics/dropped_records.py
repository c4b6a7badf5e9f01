"""Counts the records that a task drops: ``dropped-records-rate`` and ``-total`` of the group ``stream-task-metrics``.

Kafka 2.5 (KIP-444): streams/.../processor/internals/metrics/TaskMetrics.java (droppedRecordsSensor) · book 9.1.3
"""

from __future__ import annotations

import logging

from kafka_lite.metrics.recording_level import RecordingLevel
from kafka_lite.metrics.sensor import Sensor
from kafka_lite.streams.processor.processor_context import ProcessorContext
from kafka_lite.streams.processor.task_id import TaskId
from kafka_lite.streams.streams_metrics import StreamsMetrics

logger = logging.getLogger(__name__)


def dropped_records_sensor(metrics: StreamsMetrics, task_id: TaskId) -> Sensor:
    """The sensor of a task."""
    return metrics.add_rate_total_sensor("task", str(task_id), "dropped-records", RecordingLevel.INFO)


def skip_record(context: ProcessorContext, why: str) -> None:
    """A processor drops the current record: count it, and log ``why``."""
    logger.warning(
        "Skipping record due to %s. topic=[%s] partition=[%d] offset=[%d]",
        why, context.topic, context.partition, context.offset,
    )  # fmt: skip
    dropped_records_sensor(context.metrics, context.task_id).record()
