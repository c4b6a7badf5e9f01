"""The base of processors that drop records without the key or the value that they need.

Kafka 2.5 (KIP-444): streams/.../kstream/internals, the field droppedRecordsSensor of such processors · book 9.1.3
"""

from __future__ import annotations

import logging
from typing import Any

from kafka_lite.streams.metrics.task_metrics import dropped_records_sensor
from kafka_lite.streams.processor.processor import Processor
from kafka_lite.streams.processor.processor_context import ProcessorContext

logger = logging.getLogger(__name__)


class DroppingProcessor(Processor[Any, Any]):
    """Counts and logs what it drops. It keeps the sensor of its task."""

    def init(self, context: ProcessorContext) -> None:
        """Find the sensor of the task."""
        super().init(context)
        self._dropped = dropped_records_sensor(context.metrics, context.task_id)

    def skip_record(self, why: str) -> None:
        """Drop the current record: count it, and log ``why``."""
        context = self.context
        logger.warning(
            "Skipping record due to %s. topic=[%s] partition=[%d] offset=[%d]",
            why, context.topic, context.partition, context.offset,
        )  # fmt: skip
        self._dropped.record()
