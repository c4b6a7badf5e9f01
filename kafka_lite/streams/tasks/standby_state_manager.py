"""Keeps the stores of a standby task close to the ends of their changelogs.

Kafka 0.10.2: streams/.../processor/internals/ProcessorStateManager.java (checkpointed, updateStandbyStates)
· book 9.1.4
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.streams.processor.state_store import StateRestoreCallback, StateStore
from kafka_lite.streams.task_id import TaskId
from kafka_lite.streams.tasks.processor_state_manager import ProcessorStateManager
from kafka_lite.streams.tasks.state_directory import StateDirectory


class _Follower(NamedTuple):
    store: StateStore
    restore: StateRestoreCallback


class StandbyStateManager(ProcessorStateManager):
    """The thread polls the changelogs, and passes their records on.

    0.10.2 follows the changelogs of stores on disk only. Here stores in memory have standbys, too: ``hand_over`` keeps
    them open for the active task that follows in the same thread. (Kafka does so since 2.7.)
    """

    def __init__(
        self,
        task_id: TaskId,
        sources: Iterable[TopicPartition],
        restore_consumer: KafkaConsumer,
        state_directory: StateDirectory,
        store_to_changelog_topic: Mapping[str, str],
        time: Time = SYSTEM_TIME,
        exactly_once: bool = False,
    ) -> None:
        """Raises LockError at once if another thread or process has the task's directory."""
        super().__init__(
            task_id,
            sources,
            restore_consumer,
            state_directory,
            store_to_changelog_topic,
            time,
            exactly_once,
            lock_retries=0,
        )
        self._followers: dict[TopicPartition, _Follower] = {}

    def restore(self, store: StateStore, restore: StateRestoreCallback) -> None:
        """Let a store follow its changelog. Raises StreamsError if that has no such partition."""
        topic = self._changelogs.get(store.name)
        if topic is not None:
            partition = self._partition_of(topic)
            self._await_partition(store.name, partition)
            self._followers[partition] = _Follower(store, restore)

    @property
    def positions(self) -> dict[TopicPartition, int | None]:
        """The offset of the next record of each changelog; None for its start."""
        return {
            partition: self._restored_offsets.get(
                partition, self._checkpointed_offsets.get(partition) if follower.store.persistent else None
            )
            for partition, follower in self._followers.items()
        }

    @property
    def followed_sources(self) -> list[TopicPartition]:
        """The source partitions that serve as changelogs. They have offset limits."""
        sources = set(self._source_partitions.values())
        return [partition for partition in self._followers if partition in sources]

    def update_standby_states(
        self, partition: TopicPartition, records: Sequence[ConsumerRecord]
    ) -> Sequence[ConsumerRecord]:
        """Restore the records of a changelog. Returns those from the offset limit on, for later."""
        limit = self._offset_limits.get(partition)
        restore = self._followers[partition].restore
        for number, record in enumerate(records):
            if limit is not None and record.offset >= limit:
                return records[number:]
            if record.key is not None:
                restore(record.key, record.value)
            self._restored_offsets[partition] = record.offset + 1
        return []

    def forget(self, changelogs: Collection[TopicPartition], why: str) -> None:
        """Drop the checkpoints of the stores that follow these changelogs."""
        for partition in changelogs:
            if partition in self._followers:
                self.forget_checkpoint(self._followers[partition].store.name, why)

    def hand_over(self) -> dict[TopicPartition, int]:
        """Leave stores in memory open, and the directory locked. Close stores on disk, with a checkpoint.

        Returns where the changelogs of the stores in memory continue.
        """
        self.flush()
        for store in self.stores.values():
            if store.persistent:
                store.close()
        self.checkpoint({})
        in_memory = {partition for partition, follower in self._followers.items() if not follower.store.persistent}
        return {partition: offset for partition, offset in self._restored_offsets.items() if partition in in_memory}
