"""The messages of the old producer.

Kafka 0.10.2: core/.../producer/KeyedMessage.scala · book 2.2.1
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class KeyedMessage:
    """A message for a topic. ``key`` is stored with it and determines the partition, unless ``part_key`` is set."""

    topic: str
    message: Any
    key: Any = None
    part_key: Any = None

    def __post_init__(self) -> None:
        if not self.topic or not isinstance(self.topic, str):
            raise ValueError(f"a message needs the name of a topic, not {self.topic!r}")

    @property
    def partition_key(self) -> Any:
        """The key that determines the partition; None for any partition."""
        return self.key if self.part_key is None else self.part_key

    def serialized(self, key: bytes | None, message: bytes | None, timestamp: int) -> SerializedMessage:
        """The message with serialized key and value, and a timestamp."""
        return SerializedMessage(self.topic, self.partition_key, key, message, timestamp)


@dataclass(frozen=True, slots=True)
class SerializedMessage:
    """A serialized message, ready for a message set."""

    topic: str
    partition_key: Any
    key: bytes | None
    value: bytes | None
    timestamp: int
    """ms since the epoch."""
