"""Offsets with what belongs to them, and where to begin when there is none.

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
    """What is committed for a partition: the offset of the *next* record to read, and a note of the user's."""

    offset: int
    metadata: str = ""
    leader_epoch: int = -1
    """Of the last record that was read; -1 when it is not known."""


class OffsetAndTimestamp(NamedTuple):
    """The first record at or after some time."""

    offset: int
    timestamp: int
    """ms since the epoch."""
    leader_epoch: int = -1


class OffsetResetStrategy(Enum):
    """``auto.offset.reset``: where to begin without a committed offset, and with one that is not in the log."""

    LATEST = "latest"
    EARLIEST = "earliest"
    NONE = "none"

    @property
    def timestamp(self) -> int:
        """What a ListOffsets request says for it."""
        return EARLIEST_TIMESTAMP if self is OffsetResetStrategy.EARLIEST else LATEST_TIMESTAMP


OffsetCommitCallback = Callable[[Mapping[TopicPartition, OffsetAndMetadata], Exception | None], None]
"""``callback(offsets, exception)`` when an asynchronous commit has ended; the exception is None when it succeeded."""
