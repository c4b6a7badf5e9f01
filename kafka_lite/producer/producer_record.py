"""The record that a user sends, and the metadata that the producer returns.

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
    """A record to send. ``key`` and ``value`` are whatever the serializers accept.

    Without a ``partition``, the partitioner chooses one. Without a ``timestamp`` (ms since the epoch), the current time
    is used. Not frozen, because creating a frozen one takes twice as long, for every record.
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
        if self.timestamp is not None and not (type(self.timestamp) is int and 0 <= self.timestamp < 1 << 63):
            raise ValueError(f"invalid timestamp {self.timestamp!r}: it counts the milliseconds since 1970, as an int")
        if self.partition is not None and not (type(self.partition) is int and 0 <= self.partition < 1 << 31):
            raise ValueError(
                f"invalid partition {self.partition!r}: it is an int from 0 on, or None to let the partitioner choose"
            )
        if self.headers:
            _check_headers(self.headers)


def _check_headers(headers: object) -> None:
    """Raise ValueError for invalid headers. Encoding would fail later, where the cause is hard to find."""
    for header in headers if isinstance(headers, list | tuple) else [headers]:
        if not (
            isinstance(header, tuple | list)
            and len(header) == 2
            and isinstance(header[0], str)
            and (header[1] is None or isinstance(header[1], bytes))
        ):
            raise ValueError(f"invalid header {header!r}: headers are a list of pairs, (name, bytes) or (name, None)")


@dataclass(slots=True, unsafe_hash=True)
class RecordMetadata:
    """The position of a stored record. Nothing changes it; it is not frozen for the reason that a record is not."""

    topic: str
    partition: int
    offset: int
    """-1 with acks=0, because the broker does not respond."""
    timestamp: int = NO_TIMESTAMP
    """The record's, or the broker's if the topic has LogAppendTime; ms since the epoch."""
    serialized_key_size: int = -1
    """Bytes; -1 without a key."""
    serialized_value_size: int = -1
    """Bytes; -1 without a value."""

    @property
    def topic_partition(self) -> TopicPartition:
        """The topic and the partition number."""
        return TopicPartition(self.topic, self.partition)

    @property
    def has_offset(self) -> bool:
        """Whether the broker has returned an offset."""
        return self.offset != UNKNOWN_OFFSET
