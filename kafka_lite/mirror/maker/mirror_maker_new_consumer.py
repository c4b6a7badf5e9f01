"""The new consumer of a mirror: polls by the batch, returns single records, and commits exactly what it returned.

Kafka 0.10.2: core/.../tools/MirrorMaker.scala (MirrorMakerNewConsumer) · book 8.1.2
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.java.java_pattern import java_pattern
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_rebalance_listener import NO_LISTENER, ConsumerRebalanceListener
from kafka_lite.consumer.consumer_record import ConsumerRecord, ConsumerRecords
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.mirror.maker.mirror_maker_base_consumer import PartitionProgress
from kafka_lite.mirror.maker.mirror_maker_commits import MirrorMakerCommits
from kafka_lite.mirror.maker.rebalance_listeners import InternalRebalanceListenerForNewConsumer
from kafka_lite.old_consumer.consumer_iterator import ConsumerTimeoutError
from kafka_lite.old_consumer.topic_filter import Whitelist

logger = logging.getLogger(__name__)

POLL_MS = 1000
"""Longer polls would delay commits: see ``offset.commit.interval.ms``."""


class Consumer(Protocol):
    """The part of KafkaConsumer that a mirror uses."""

    def subscribe(self, topics: re.Pattern[str], listener: ConsumerRebalanceListener) -> None:
        """Join the group, for the topics that match."""
        ...

    def poll(self, timeout_ms: float) -> ConsumerRecords:
        """The next records."""
        ...

    def commit_sync(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Commit these offsets."""
        ...

    def list_topics(self) -> Mapping[str, object]:
        """All topics."""
        ...

    def current_lag(self, partition: TopicPartition) -> int | None:
        """Offsets between the position and the end."""
        ...

    def wakeup(self) -> None:
        """Interrupt a call that waits."""
        ...

    def close(self) -> None:
        """Leave the group."""
        ...


class MirrorMakerNewConsumer:
    """A member of the mirror's group.

    The consumer's own position is after the whole batch as soon as ``poll`` has returned it. A commit of that position
    would cover records that were not even sent. So the offsets to commit are noted here, record by record.
    """

    def __init__(
        self,
        consumer: Consumer,
        commits: MirrorMakerCommits,
        whitelist: str,
        custom_rebalance_listener: ConsumerRebalanceListener = NO_LISTENER,
    ) -> None:
        self._consumer = consumer
        self._whitelist = whitelist
        self._listener = InternalRebalanceListenerForNewConsumer(self, commits, custom_rebalance_listener)
        self._records: Iterator[ConsumerRecord] = iter(())
        self._offsets: dict[TopicPartition, int] = {}
        """To be committed: the offset after the last record that was returned since the last commit."""
        self._committed: dict[TopicPartition, int] = {}
        self._ends: dict[TopicPartition, int] = {}

    def init(self) -> None:
        """Subscribe. Raises InvalidRegexError."""
        try:
            self._consumer.subscribe(java_pattern(Whitelist(self._whitelist).regex), self._listener)
        except KafkaError:
            logger.error("Invalid expression syntax: %s", self._whitelist)
            raise

    @property
    def has_data(self) -> bool:
        """Always: ``receive`` waits."""
        return True

    def receive(self) -> ConsumerRecord:
        """The next record. Raises ConsumerTimeoutError if a poll brings none, WakeupError after ``stop``."""
        record = next(self._records, None)
        if record is None:
            record = self._poll()
        self._offsets[record.topic_partition] = record.offset + 1
        return record

    def _poll(self) -> ConsumerRecord:
        records = self._consumer.poll(POLL_MS)
        self._records = iter(records)
        record = next(self._records, None)
        if record is None:
            raise ConsumerTimeoutError(f"no message within {POLL_MS} ms")
        for partition in records.partitions:
            lag = self._consumer.current_lag(partition)
            if lag is not None:
                self._ends[partition] = records.records(partition)[-1].offset + 1 + lag
        return record

    def commit(self) -> None:
        """Commit what was returned since the last commit. If that fails, the next commit has it again.

        Raises CommitFailedError, ConsumerTimeoutError, WakeupError.
        """
        self._consumer.commit_sync({each: OffsetAndMetadata(offset, "") for each, offset in self._offsets.items()})
        self._committed.update(self._offsets)
        self._offsets.clear()

    def forget(self, partitions: Collection[TopicPartition]) -> None:
        """Commit nothing more of these partitions, which belong to others now."""
        for partition in partitions:
            for known in (self._offsets, self._committed, self._ends):
                known.pop(partition, None)

    def forget_missing_topics(self) -> None:
        """Give up committing offsets of deleted topics. Raises ConsumerTimeoutError."""
        topics = self._consumer.list_topics()
        missing = [partition for partition in self._offsets if partition.topic not in topics]
        if missing:
            logger.warning("Not committing offsets of %s, which does not exist any more", ", ".join(map(str, missing)))
        self.forget(missing)

    @property
    def commit_requested(self) -> bool:
        """Never: rebalances happen within ``poll``."""
        return False

    def notify_commit(self) -> None:
        """No-op, since nobody waits."""

    def stop(self) -> None:
        """Interrupt a ``receive`` that waits. Thread-safe."""
        self._consumer.wakeup()

    def cleanup(self) -> None:
        """Leave the group and close."""
        self._consumer.close()

    def progress(self) -> Sequence[PartitionProgress]:
        """How far each partition has been read, as far as it has had records. Thread-safe."""
        positions = self._committed.copy() | self._offsets.copy()
        return [PartitionProgress(each, at, self._ends.get(each)) for each, at in sorted(positions.items())]
