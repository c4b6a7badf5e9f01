"""Offsets with their metadata, and where to start without one.

Kafka 0.10.2: clients/.../consumer/OffsetAndMetadata.java, OffsetAndTimestamp.java, OffsetResetStrategy.java,
OffsetCommitCallback.java · book 4.4.2
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import NamedTuple

from kafka_lite.common.topic_partition import TopicPartition

EARLIEST_TIMESTAMP = -2
LATEST_TIMESTAMP = -1


class OffsetAndMetadata(NamedTuple):
    """A committed position of a partition: the offset of the *next* record to read, and the user's metadata."""

    offset: int
    metadata: str = ""
    leader_epoch: int = -1
    """Leader epoch of the last record that was read; -1 if unknown."""


class OffsetAndTimestamp(NamedTuple):
    """The first record at or after some time."""

    offset: int
    timestamp: int
    """ms since the epoch."""
    leader_epoch: int = -1


class OffsetResetStrategy(Enum):
    """``auto.offset.reset``: where to start if no offset is committed, or if it is out of range."""

    LATEST = "latest"
    EARLIEST = "earliest"
    NONE = "none"

    @property
    def timestamp(self) -> int:
        """The timestamp in a ListOffsets request for this strategy."""
        return EARLIEST_TIMESTAMP if self is OffsetResetStrategy.EARLIEST else LATEST_TIMESTAMP


OffsetCommitCallback = Callable[[Mapping[TopicPartition, OffsetAndMetadata], Exception | None], None]
"""``callback(offsets, exception)``, called when an asynchronous commit has ended. The exception is None on success."""
