"""A record, as transformations see it.

Kafka 0.10.2: connect/api/.../connect/connector/ConnectRecord.java · book 8.3.2
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from kafka_lite.connect.api.data.java_text import java_text
from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.headers import NO_HEADERS, Headers


@dataclass(frozen=True, kw_only=True)
class ConnectRecord:
    """The attributes that source records and sink records share. Immutable: ``new_record`` makes a changed copy."""

    topic: str
    kafka_partition: int | None = None
    """None in a source record: the producer chooses."""
    key_schema: Schema | None = None
    """None if the key has no schema."""
    key: Any = None
    value_schema: Schema | None = None
    """None if the value has no schema."""
    value: Any = None
    """None is a tombstone."""
    timestamp: int | None = None
    """ms since 1970."""
    headers: Headers = NO_HEADERS

    def new_record(self, **changes: Any) -> Self:
        """A copy with some attributes changed, such as ``record.new_record(topic="other")``."""
        return replace(self, **changes)

    def __str__(self) -> str:
        return (
            f"ConnectRecord{{topic='{self.topic}', kafkaPartition={java_text(self.kafka_partition)}, "
            f"key={java_text(self.key)}, value={java_text(self.value)}, timestamp={java_text(self.timestamp)}}}"
        )
