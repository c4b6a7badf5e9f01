"""Where sinks and changelogs send their records to.

Kafka 0.10.2: streams/.../processor/internals/RecordCollector.java · book 9.1.3
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from kafka_lite.common.serialization import Serializer
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.streams.processor.stream_partitioner import StreamPartitioner


class RecordCollector(Protocol):
    """Serializes and sends records. Each task has its own, since it keeps the offsets for the task's checkpoint."""

    def send(
        self,
        topic: str,
        key: Any,
        value: Any,
        partition: int | None,
        timestamp: int,
        key_serializer: Serializer[Any],
        value_serializer: Serializer[Any],
        partitioner: StreamPartitioner[Any, Any] | None = None,
    ) -> None:
        """Send a record. Without a partition, the partitioner chooses one; without either, the producer.

        Returns before the record is stored. Raises StreamsError if an earlier record could not be stored, and
        SerializationError.
        """
        ...

    def flush(self) -> None:
        """Block until all records are stored. Raises StreamsError if one could not be."""
        ...

    @property
    def offsets(self) -> Mapping[TopicPartition, int]:
        """The offset of the last stored record of each partition."""
        ...
