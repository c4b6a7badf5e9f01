"""Restores the stores of an active task from their changelogs, and keeps their checkpoint.

Kafka 0.10.2: streams/.../processor/internals/ProcessorStateManager.java · book 9.1.4
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from pathlib import Path

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import InvalidOffsetError, OffsetOutOfRangeError
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.streams.errors import LockError, ProcessorStateError, StreamsError, TaskCorruptedError
from kafka_lite.streams.processor.state_store import StateRestoreCallback, StateStore
from kafka_lite.streams.state.offset_checkpoint import OffsetCheckpoint
from kafka_lite.streams.task_id import TaskId
from kafka_lite.streams.tasks.state_directory import CHECKPOINT_FILE_NAME, StateDirectory
from kafka_lite.streams.tasks.state_manager import StateManager

logger = logging.getLogger(__name__)

_LOCK_RETRIES = 5
_PARTITION_WAIT_MS = 5000
_PARTITION_BACKOFF_MS = 50
_POLL_MS = 100


class ProcessorStateManager(StateManager):
    """Holds the lock on the task's directory from its creation until ``close``.

    A persistent store continues at its checkpoint. Without one it is restored from the start of its changelog, and
    begins empty. A store in memory begins there, too, unless a standby task has filled it.

    A changelog may no longer have the offset of the checkpoint: retention has removed it, or the topic is a new one.
    Then the store may have keys that were deleted or changed since, so the checkpoint is dropped, and the task has to
    be created again.

    With exactly_once the checkpoint is deleted as soon as it is read: a task has one only if its last owner closed it
    cleanly. Otherwise its stores may have changes of an aborted transaction, and they are deleted, too.
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
        *,
        standby_positions: Mapping[TopicPartition, int] | None = None,
        lock_retries: int = _LOCK_RETRIES,
        ends_consumer: KafkaConsumer | None = None,
    ) -> None:
        """``standby_positions``: the changelog positions of stores that a standby task has kept in memory.

        ``ends_consumer``: with exactly_once_v2, it sees the ends of changelogs past open transactions. The task's
        last owner may have committed, while the changelog has no marker of it yet: the task has to wait for that.

        Raises LockError if another thread or process has the task's directory.
        """
        super().__init__()
        self._task_id = task_id
        self._restore_consumer = restore_consumer
        self._ends_consumer = ends_consumer or restore_consumer
        self._directory = state_directory
        self._changelogs = store_to_changelog_topic
        self._source_partitions = {source.topic: source for source in sources}
        self._time = time
        self._offset_limits: dict[TopicPartition, int] = {}
        self._restored_offsets: dict[TopicPartition, int] = {}
        self._standby_positions = standby_positions or {}
        if not state_directory.lock(task_id, lock_retries):
            raise LockError(f"task [{task_id}] Failed to lock the state directory for task {task_id}")
        self._base_dir = state_directory.directory_for_task(task_id)
        self._checkpoint = OffsetCheckpoint(self._base_dir / CHECKPOINT_FILE_NAME)
        self._checkpointed_offsets = self._checkpoint.read_unless_damaged(f"task [{task_id}]")
        if exactly_once:
            self._trust_checkpoint_once()

    def _trust_checkpoint_once(self) -> None:
        if self._checkpointed_offsets:
            self._checkpoint.delete()
        else:
            try:
                self._directory.clear(self._task_id)
            except ProcessorStateError:
                self._directory.unlock(self._task_id)
                raise

    @property
    def base_dir(self) -> Path:
        """The directory of the task."""
        return self._base_dir

    def initialize(self, stores: Iterable[StateStore]) -> None:
        """Delete the files of stores that have a changelog and no checkpoint: they are restored as a whole."""
        for store in stores:
            topic = self._changelogs.get(store.name)
            if store.persistent and topic and self._partition_of(topic) not in self._checkpointed_offsets:
                self.wipe(store.name)

    def forget_checkpoint(self, store: str, why: str) -> bool:
        """The file forgets it, too: a crash while the store is restored must not leave a part of it for the whole."""
        topic = self._changelogs.get(store)
        if topic is None:
            return False
        if self._checkpointed_offsets.pop(self._partition_of(topic), None) is not None:
            logger.warning(
                "task [%s] Restoring store %s from the start of its changelog: %s", self._task_id, store, why
            )
            if self._checkpoint.path.exists():
                self._checkpoint.write(self._checkpointed_offsets)
        return True

    def register(self, store: StateStore, restore: StateRestoreCallback) -> None:
        """Restore a store, and keep it.

        Raises ValueError for a name that is taken, StreamsError if the changelog has no such partition, and
        TaskCorruptedError if it does not have the offset to continue at.
        """
        try:
            super().register(store, restore)
        except InvalidOffsetError as error:
            self.forget_checkpoint(store.name, f"{error}. Deleting the store to recreate it from scratch")
            raise TaskCorruptedError(str(self._task_id), str(error)) from error

    # ── restoring ─────────────────────────────────────────────────────────────────────────────────────────────────

    def restore(self, store: StateStore, restore: StateRestoreCallback) -> None:
        """Read the changelog of a store into it, up to its end, or to the committed offset of a source topic.

        Raises ValueError for a store with the name of the checkpoint (CHECKPOINT_FILE_NAME), StreamsError if the
        changelog has no such partition, and OffsetOutOfRangeError if it does not have the offset to continue at.
        """
        if store.name == CHECKPOINT_FILE_NAME:
            raise ValueError(f"task [{self._task_id}] Illegal store name: {CHECKPOINT_FILE_NAME}")
        topic = self._changelogs.get(store.name)
        if topic is not None:
            partition = self._partition_of(topic)
            self._await_partition(store.name, partition)
            self._restore_consumer.assign([partition])
            try:
                self._restored_offsets[partition] = self._restore_from(partition, store.persistent, restore)
            finally:
                self._restore_consumer.unsubscribe()

    def _restore_from(self, partition: TopicPartition, persistent: bool, restore: StateRestoreCallback) -> int:
        """Begin where a standby task has come to, or else where the store is. Returns the offset of the next record."""
        consumer = self._restore_consumer
        end = self._ends_consumer.end_offsets([partition])[partition]
        checkpoint = self._checkpointed_offsets.get(partition) if persistent else None
        start = self._standby_positions.get(partition, checkpoint)
        if start is None:
            consumer.seek_to_beginning([partition])
        elif start <= end:
            consumer.seek(partition, start)
        else:
            raise OffsetOutOfRangeError({partition: start})
        limit = min(end, self._offset_limits.get(partition, end))
        logger.info("task [%s] Restoring %s from %s to %d", self._task_id, partition, start or "its start", limit)
        while consumer.position(partition) < limit:
            for record in consumer.poll(_POLL_MS).records(partition):
                if record.offset >= limit:
                    break
                if record.key is not None:  # a source topic may have such records; a store has no place for them
                    restore(record.key, record.value)
        return min(limit, consumer.position(partition))

    def _await_partition(self, store: str, partition: TopicPartition) -> None:
        """Wait until the brokers know a topic that has just been created."""
        deadline_ms = self._time.hi_res_ms() + _PARTITION_WAIT_MS
        while not any(
            info.partition == partition.partition for info in self._restore_consumer.partitions_for(partition.topic)
        ):
            if self._time.hi_res_ms() >= deadline_ms:
                raise StreamsError(
                    f"task [{self._task_id}] Store {store}'s change log ({partition.topic}) does not contain "
                    f"partition {partition.partition}"
                )
            self._time.sleep(_PARTITION_BACKOFF_MS)

    def _partition_of(self, changelog: str) -> TopicPartition:
        """The partition of a changelog that belongs to the task."""
        return self._source_partitions.get(changelog) or TopicPartition(changelog, self._task_id.partition)

    def put_offset_limit(self, partition: TopicPartition, limit: int) -> None:
        """The committed offset of a source partition, which may be a changelog as well."""
        self._offset_limits[partition] = limit

    # ── checkpoints ───────────────────────────────────────────────────────────────────────────────────────────────

    def checkpoint(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Write the checkpoint. A failure is logged: without it, more is restored."""
        for name, store in self.stores.items():
            if store.persistent and name in self._changelogs:
                partition = self._partition_of(self._changelogs[name])
                if partition in offsets:
                    self._checkpointed_offsets[partition] = offsets[partition] + 1
                elif partition in self._restored_offsets:
                    self._checkpointed_offsets[partition] = self._restored_offsets[partition]
        try:
            self._checkpoint.write(self._checkpointed_offsets)
        except OSError as error:
            logger.warning(
                "task [%s] Failed to write the checkpoint %s: %s", self._task_id, self._checkpoint.path, error
            )

    def close(self, offsets: Mapping[TopicPartition, int] | None) -> None:
        """Close all stores, write the checkpoint unless ``offsets`` is None, and release the lock."""
        try:
            super().close(offsets)
        finally:
            self._directory.unlock(self._task_id)
