"""A message as the old consumer returns it.

Kafka 0.10.2: core/.../message/MessageAndMetadata.scala · book 3.4.2
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from kafka_lite.old_consumer.decoder import Decoder
from kafka_lite.record.record import Record, TimestampType

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class MessageAndMetadata(Generic[K, V]):
    """A message and its position. Key and message are decoded on every access."""

    topic: str
    partition: int
    raw_message: Record
    key_decoder: Decoder[K]
    value_decoder: Decoder[V]

    @property
    def offset(self) -> int:
        """The offset of the message."""
        return self.raw_message.offset

    @property
    def timestamp(self) -> int:
        """ms since the epoch; -1 in format v0."""
        return self.raw_message.timestamp

    @property
    def timestamp_type(self) -> TimestampType:
        """Whether the producer or the broker set the timestamp."""
        return self.raw_message.timestamp_type

    @property
    def key(self) -> K | None:
        """The key; None without one. Raises the decoder's errors."""
        data = self.raw_message.key
        return None if data is None else self.key_decoder.from_bytes(data)

    @property
    def message(self) -> V | None:
        """The message; None for a tombstone. Raises the decoder's errors."""
        data = self.raw_message.value
        return None if data is None else self.value_decoder.from_bytes(data)

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}@{self.offset}: {self.key!r} {self.message!r}"
