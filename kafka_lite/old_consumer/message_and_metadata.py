"""A message as the old consumer hands it out.

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
    """Where a message was, and what it is; key and message are decoded when they are asked for, each time."""

    topic: str
    partition: int
    raw_message: Record
    key_decoder: Decoder[K]
    value_decoder: Decoder[V]

    @property
    def offset(self) -> int:
        """Its offset."""
        return self.raw_message.offset

    @property
    def timestamp(self) -> int:
        """Ms since the epoch; -1 in format v0."""
        return self.raw_message.timestamp

    @property
    def timestamp_type(self) -> TimestampType:
        """Who set the timestamp."""
        return self.raw_message.timestamp_type

    @property
    def key(self) -> K | None:
        """The key; None for none. Raises what the decoder raises."""
        data = self.raw_message.key
        return None if data is None else self.key_decoder.from_bytes(data)

    @property
    def message(self) -> V | None:
        """The message; None for a tombstone. Raises what the decoder raises."""
        data = self.raw_message.value
        return None if data is None else self.value_decoder.from_bytes(data)

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}@{self.offset}: {self.key!r} {self.message!r}"
