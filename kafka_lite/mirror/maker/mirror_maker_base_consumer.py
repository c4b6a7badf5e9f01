"""The consumer as a mirror's thread sees it, whether it is the old one or the new one.

Kafka 0.10.2: core/.../tools/MirrorMaker.scala (MirrorMakerBaseConsumer) · book 8.1.2
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_record import ConsumerRecord


class PartitionProgress(NamedTuple):
    """How far a partition of the source has been read."""

    topic_partition: TopicPartition
    position: int
    """The offset of the next record."""
    end: int | None
    """The offset after the last record, when the partition was last fetched; None if that is not known."""


class MirrorMakerBaseConsumer(Protocol):
    """A consumer of the source cluster. Used by one thread, except for what is marked otherwise."""

    def init(self) -> None:
        """Subscribe. Raises KafkaError."""
        ...

    @property
    def has_data(self) -> bool:
        """Whether ``receive`` may be called. Raises ConsumerTimeoutError after ``consumer.timeout.ms``."""
        ...

    def receive(self) -> ConsumerRecord:
        """The next record. Raises ConsumerTimeoutError if none arrives in time, WakeupError after ``stop``."""
        ...

    def commit(self) -> None:
        """Commit what was received. Raises CommitFailedError if the partitions may belong to others by now."""
        ...

    def forget_missing_topics(self) -> None:
        """Give up committing offsets of topics that do not exist any more."""
        ...

    @property
    def commit_requested(self) -> bool:
        """Whether a rebalance waits for a commit."""
        ...

    def notify_commit(self) -> None:
        """Let that rebalance continue."""
        ...

    def stop(self) -> None:
        """Interrupt a ``receive`` that waits. Thread-safe."""
        ...

    def cleanup(self) -> None:
        """Leave the group and close."""
        ...

    def progress(self) -> Sequence[PartitionProgress]:
        """How far each of its partitions has been read. Thread-safe."""
        ...
