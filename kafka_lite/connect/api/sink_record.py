"""A record that was read from Kafka, for a sink task.

Kafka 0.10.2: connect/api/.../connect/sink/SinkRecord.java; the original coordinates: Kafka 3.6 · book 8.3.2
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_lite.connect.api.connect_record import ConnectRecord
from kafka_lite.record.record import TimestampType

_TYPE_NAMES = {
    TimestampType.NO_TIMESTAMP_TYPE: "NoTimestampType",
    TimestampType.CREATE_TIME: "CreateTime",
    TimestampType.LOG_APPEND_TIME: "LogAppendTime",
}


@dataclass(frozen=True, kw_only=True)
class SinkRecord(ConnectRecord):
    """A record for another system. Its partition is never None."""

    kafka_offset: int
    timestamp_type: TimestampType = TimestampType.NO_TIMESTAMP_TYPE
    original_topic: str = ""
    """Where it was read. A transformation may have changed ``topic``; offsets are committed for this one."""
    original_kafka_partition: int | None = None
    """The partition where it was read."""
    original_kafka_offset: int = -1
    """The offset where it was read."""

    def __post_init__(self) -> None:
        if not self.original_topic:  # read now, and not made of another record
            object.__setattr__(self, "original_topic", self.topic)
            object.__setattr__(self, "original_kafka_partition", self.kafka_partition)
            object.__setattr__(self, "original_kafka_offset", self.kafka_offset)

    def __str__(self) -> str:
        return (
            f"SinkRecord{{kafkaOffset={self.kafka_offset}, timestampType={_TYPE_NAMES[self.timestamp_type]}}} "
            f"{super().__str__()}"
        )
