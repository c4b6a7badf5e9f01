"""What a user gives to a producer, and what the producer gives back.

Kafka 0.10.2: clients/.../producer/ProducerRecord.java, RecordMetadata.java · book 2.1.1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.record.record import NO_TIMESTAMP

UNKNOWN_OFFSET = -1


@dataclass(slots=True)
class ProducerRecord:
    """A record to send. ``key`` and ``value`` are whatever the serializers take.

    Without a ``partition`` the partitioner chooses one; without a ``timestamp`` (ms since the epoch) it is now. To make
    a frozen one would take twice the time, for every record that is sent.
    """

    topic: str
    value: Any = None
    key: Any = None
    partition: int | None = None
    timestamp: int | None = None
    headers: Sequence[tuple[str, bytes | None]] = ()

    def __post_init__(self) -> None:
        if not self.topic or type(self.topic) is not str:
            raise ValueError(f"a record needs the name of a topic, not {self.topic!r}")
        if self.timestamp is not None and self.timestamp < 0:
            raise ValueError(f"invalid timestamp {self.timestamp}: it counts the milliseconds since 1970")
        if self.partition is not None and self.partition < 0:
            raise ValueError(
                f"invalid partition {self.partition}: it is at least 0, or None to let the partitioner choose"
            )


@dataclass(frozen=True, slots=True)
class RecordMetadata:
    """Where a record lies now."""

    topic: str
    partition: int
    offset: int
    """-1 with acks=0: nobody said."""
    timestamp: int = NO_TIMESTAMP
    """The record's, or the broker's if the topic has LogAppendTime; ms since the epoch."""
    serialized_key_size: int = -1
    """Bytes; -1 without a key."""
    serialized_value_size: int = -1
    """Bytes; -1 without a value."""

    @property
    def topic_partition(self) -> TopicPartition:
        """Topic and number alone."""
        return TopicPartition(self.topic, self.partition)

    @property
    def has_offset(self) -> bool:
        """Whether the broker said where."""
        return self.offset != UNKNOWN_OFFSET
