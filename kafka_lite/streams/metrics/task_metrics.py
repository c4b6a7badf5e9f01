"""The metrics of a task: the group ``stream-task-metrics``. What a sensor counts has a ``-rate`` and a ``-total``.

Kafka 2.5 (KIP-444): streams/.../processor/internals/metrics/TaskMetrics.java · book 9.1.3
"""

from __future__ import annotations

from kafka_lite.metrics.recording_level import RecordingLevel
from kafka_lite.metrics.sensor import Sensor
from kafka_lite.streams.streams_metrics import StreamsMetrics
from kafka_lite.streams.task_id import TaskId


def dropped_records_sensor(metrics: StreamsMetrics, task_id: TaskId) -> Sensor:
    """``dropped-records``: the records that the task drops. Looking the sensor up costs several µs: keep it."""
    return metrics.add_rate_total_sensor("task", str(task_id), "dropped-records", RecordingLevel.INFO)


def enforced_processing_sensor(metrics: StreamsMetrics, task_id: TaskId) -> Sensor:
    """``enforced-processing``: the records that the task processes while a partition is empty, since
    ``max.task.idle.ms`` is over (KIP-353). At the level DEBUG."""
    return metrics.add_rate_total_sensor("task", str(task_id), "enforced-processing", RecordingLevel.DEBUG)
