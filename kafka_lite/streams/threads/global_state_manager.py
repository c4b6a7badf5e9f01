"""Restores the stores of global tables, and keeps their checkpoint.

Kafka 0.10.2: streams/.../processor/internals/GlobalStateManagerImpl.java, GlobalStateManager.java · book 9.1.4
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from pathlib import Path

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.streams.errors import LockError, StreamsError
from kafka_lite.streams.processor.state_store import StateRestoreCallback, StateStore
from kafka_lite.streams.state.offset_checkpoint import OffsetCheckpoint
from kafka_lite.streams.tasks.state_directory import CHECKPOINT_FILE_NAME, StateDirectory
from kafka_lite.streams.tasks.state_manager import StateManager

logger = logging.getLogger(__name__)

_LOCK_RETRIES = 5
_POLL_MS = 100
_TOPIC_WAIT_MS = 5000
_TOPIC_BACKOFF_MS = 50


class GlobalStateManager(StateManager):
    """Reads all partitions of a store's topic: a store in memory from their beginning, one on disk from its checkpoint.

    If a store is on disk, the directory ``global`` is locked from ``initialize`` until ``close``, so that instances on
    one machine need different ``state.dir``. (0.10.2 locks it for stores in memory, too.)

    If a topic does not have the offset of the checkpoint any more, since retention has removed it or the topic is a new
    one, the store may have values that were changed or deleted since: its files are deleted, and it is read from the
    beginning. (KAFKA-6121. Kafka 1.0.1 to 3.9 delete them, too, but then the application has to be started again.)
    """

    def __init__(
        self,
        consumer: KafkaConsumer,
        store_to_topic: Mapping[str, str],
        state_directory: StateDirectory,
        time: Time = SYSTEM_TIME,
    ) -> None:
        super().__init__()
        self._time = time
        self._consumer = consumer
        self._topics = store_to_topic
        self._directory = state_directory
        self._checkpointed_offsets: dict[TopicPartition, int] = {}
        self.offsets: dict[TopicPartition, int] = {}
        """The offset of the next record of each partition that has been restored."""

    def initialize(self, stores: Iterable[StateStore]) -> None:
        """Before these are opened: lock the directory and read the checkpoint, if one of them is on disk.

        Raises LockError if another instance has the directory.
        """
        on_disk = [store.name for store in stores if store.persistent]
        if on_disk:
            if not self._directory.lock_global_state(_LOCK_RETRIES):
                raise LockError(f"Failed to lock the global state directory: {self.base_dir}")
            self._checkpointed_offsets = self._checkpoint.read_unless_damaged("global stores:")
            for store in on_disk:
                self._wipe_if_outdated(store)

    def _wipe_if_outdated(self, store: str) -> None:
        """Delete the files of a store unless its topic has all of its checkpoint's offsets."""
        topic = self._topics[store]
        checkpointed = {each: offset for each, offset in self._checkpointed_offsets.items() if each.topic == topic}
        outdated = self._outdated(topic, checkpointed)
        if outdated:
            text = "Restoring GlobalStore %s failed due to: %s. Deleting global store to recreate from scratch."
            logger.error(text, store, outdated)
            self.forget_checkpoint(store, outdated)
        if outdated or not checkpointed:
            self.wipe(store)

    def _outdated(self, topic: str, checkpointed: Mapping[TopicPartition, int]) -> str:
        """Why a checkpoint does not fit its topic; empty if it fits."""
        known = {each.partition for each in self._partitions_of(topic)} if checkpointed else set()
        for partition in checkpointed:
            if known and partition.partition not in known:
                return f"{topic} has no partition {partition.partition} any more"
        there = [partition for partition in checkpointed if partition.partition in known]
        starts, ends = self._consumer.beginning_offsets(there), self._consumer.end_offsets(there)
        for partition in there:
            offset, start, end = checkpointed[partition], starts[partition], ends[partition]
            if not start <= offset <= end:
                return f"the checkpoint of {partition} is {offset}, but its log has the offsets from {start} to {end}"
        return ""

    def forget_offsets(self, partitions: Iterable[TopicPartition], why: str) -> None:
        """Drop the checkpoints of the stores that these partitions belong to: the next start deletes their files."""
        topics = {partition.topic for partition in partitions}
        for store, topic in self._topics.items():
            if topic in topics:
                self.forget_checkpoint(store, why)

    @property
    def base_dir(self) -> Path:
        """The directory ``global``."""
        return self._directory.global_state_dir()

    @property
    def _checkpoint(self) -> OffsetCheckpoint:
        return OffsetCheckpoint(self.base_dir / CHECKPOINT_FILE_NAME)

    def forget_checkpoint(self, store: str, why: str) -> bool:
        """The file forgets it, too: a crash while the store is restored must not leave a part of it for the whole."""
        topic = self._topics[store]
        forgotten = [partition for partition in self._checkpointed_offsets if partition.topic == topic]
        if forgotten:
            logger.warning("Restoring global store %s from the start of %s: %s", store, topic, why)
            for partition in forgotten:
                del self._checkpointed_offsets[partition]
            self._checkpoint.write(self._checkpointed_offsets)
        return True

    # ── restoring ─────────────────────────────────────────────────────────────────────────────────────────────────

    def restore(self, store: StateStore, restore: StateRestoreCallback) -> None:
        """Read the store's topic up to its end.

        Raises StreamsError if there is no such topic.
        """
        topic, consumer = self._topics[store.name], self._consumer
        partitions = self._partitions_of(topic)
        if not partitions:
            raise StreamsError(
                f"There are no partitions available for topic {topic} when initializing global store {store.name}"
            )
        logger.info("Restoring global store %s from %d partitions of %s", store.name, len(partitions), topic)
        ends = consumer.end_offsets(partitions)
        consumer.assign(partitions)
        try:
            for partition in partitions:
                self._seek(partition, store.persistent)
            while any(consumer.position(partition) < end for partition, end in ends.items()):
                records = consumer.poll(_POLL_MS)
                for partition in records.partitions:
                    for record in records.records(partition):
                        if record.key is not None:  # a table has no place for it
                            restore(record.key, record.value)
            self.offsets.update({partition: consumer.position(partition) for partition in partitions})
        finally:
            consumer.unsubscribe()

    def _partitions_of(self, topic: str) -> list[TopicPartition]:
        """Ask for the partitions of a topic, again and again for a while: a broker that has just started knows none."""
        deadline_ms = self._time.hi_res_ms() + _TOPIC_WAIT_MS
        while True:
            found = [TopicPartition(topic, info.partition) for info in self._consumer.partitions_for(topic)]
            if found or self._time.hi_res_ms() >= deadline_ms:
                return found
            self._time.sleep(_TOPIC_BACKOFF_MS)

    def _seek(self, partition: TopicPartition, persistent: bool) -> None:
        start = self._checkpointed_offsets.get(partition) if persistent else None
        if start is None:
            self._consumer.seek_to_beginning([partition])
        else:
            self._consumer.seek(partition, start)

    def put_offset_limit(self, partition: TopicPartition, limit: int) -> None:
        """A no-op: a global store has no group, and so no committed offset."""

    # ── checkpoints ───────────────────────────────────────────────────────────────────────────────────────────────

    def checkpoint(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Write the checkpoint, if a store is on disk. A failure is logged: without it, more is restored."""
        topics = {self._topics[store.name] for store in self.stores.values() if store.persistent}
        if not topics:
            return
        reached = {**self.offsets, **{partition: last + 1 for partition, last in offsets.items()}}
        self._checkpointed_offsets.update(
            {partition: offset for partition, offset in reached.items() if partition.topic in topics}
        )
        try:
            self._checkpoint.write(self._checkpointed_offsets)
        except OSError as error:
            logger.warning("Failed to write the checkpoint of the global stores: %s", error)

    def close(self, offsets: Mapping[TopicPartition, int] | None) -> None:
        """Close all stores, write the checkpoint unless ``offsets`` is None, and release the lock."""
        try:
            super().close(offsets)
        finally:
            self._directory.unlock_global_state()
