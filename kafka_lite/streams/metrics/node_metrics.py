"""The metrics of a processor node: the group ``stream-processor-node-metrics``, at the level DEBUG.

Kafka 0.10.2: streams/.../processor/internals/ProcessorNode.java (NodeMetrics) · book 9.1.3
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_lite.metrics.recording_level import RecordingLevel
from kafka_lite.streams.streams_metrics import StreamsMetrics
from kafka_lite.streams.task_id import TaskId

_SCOPE = "processor-node"


class NodeMetrics:
    """The sensors ``task.TASK.NODE-process``, ``-punctuate``, ``-create``, ``-destroy`` and ``-forward``.

    The time of ``process`` includes that of the nodes below.
    """

    def __init__(self, metrics: StreamsMetrics, name: str, task_id: TaskId) -> None:
        self._metrics = metrics
        entity, tags, level = f"task.{task_id}.{name}", {"processor-node-id": name}, RecordingLevel.DEBUG
        self._process, self._punctuate, self._creation, self._destruction = (
            metrics.add_latency_and_throughput_sensor(_SCOPE, entity, operation, level, tags)
            for operation in ("process", "punctuate", "create", "destroy")
        )
        self._forward = metrics.add_throughput_sensor(_SCOPE, entity, "forward", level, tags)
        self.is_recording = self._process.should_record()
        """Whether the recording level is DEBUG. Checked for every record, so only once here."""

    def created(self, action: Callable[[], None]) -> None:
        """Initialize a processor."""
        self._metrics.measure_latency_ns(action, self._creation)

    def processed(self, process: Callable[[Any, Any], None], key: Any, value: Any) -> None:
        """Process a record."""
        self._metrics.measure_latency_ns(lambda: process(key, value), self._process)

    def punctuated(self, punctuate: Callable[[int], None], timestamp: int) -> None:
        """Punctuate a processor."""
        self._metrics.measure_latency_ns(lambda: punctuate(timestamp), self._punctuate)

    def forwarded(self) -> None:
        """A source has got a record."""
        self._metrics.record_throughput(self._forward, 1)

    def destroyed(self, action: Callable[[], None]) -> None:
        """Close a processor."""
        self._metrics.measure_latency_ns(action, self._destruction)

    def remove_all_sensors(self) -> None:
        """The node is closed: its metrics end with it."""
        for sensor in (self._process, self._punctuate, self._forward, self._creation, self._destruction):
            self._metrics.remove_sensor(sensor)
