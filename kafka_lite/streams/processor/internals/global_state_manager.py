"""Restores the stores of global tables.

Kafka 0.10.2: streams/.../processor/internals/GlobalStateManagerImpl.java, GlobalStateManager.java · book 9.1.4
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.streams.errors import ProcessorStateError, StreamsError
from kafka_lite.streams.processor.internals.state_manager import StateManager
from kafka_lite.streams.processor.state_store import StateRestoreCallback, StateStore

logger = logging.getLogger(__name__)

_POLL_MS = 100


class GlobalStateManager(StateManager):
    """Reads all partitions of a store's topic, from their beginning. (0.10.2 begins stores on disk at a checkpoint.)"""

    def __init__(self, consumer: KafkaConsumer, store_to_topic: Mapping[str, str]) -> None:
        super().__init__()
        self._consumer = consumer
        self._topics = store_to_topic
        self.offsets: dict[TopicPartition, int] = {}
        """The offset of the next record of each partition that has been restored."""

    @property
    def base_dir(self) -> Path:
        """Raises ProcessorStateError."""
        raise ProcessorStateError("a global store cannot be on disk: use one in memory")

    def restore(self, store: StateStore, restore: StateRestoreCallback) -> None:
        """Read the store's topic up to its end. Raises StreamsError if there is no such topic."""
        topic, consumer = self._topics[store.name], self._consumer
        partitions = [TopicPartition(topic, info.partition) for info in consumer.partitions_for(topic)]
        if not partitions:
            raise StreamsError(
                f"There are no partitions available for topic {topic} when initializing global store {store.name}"
            )
        logger.info("Restoring global store %s from %d partitions of %s", store.name, len(partitions), topic)
        ends = consumer.end_offsets(partitions)
        consumer.assign(partitions)
        try:
            consumer.seek_to_beginning(partitions)
            while any(consumer.position(partition) < end for partition, end in ends.items()):
                records = consumer.poll(_POLL_MS)
                for partition in records.partitions:
                    for record in records.records(partition):
                        if record.key is not None:  # a table has no place for it
                            restore(record.key, record.value)
            self.offsets.update({partition: consumer.position(partition) for partition in partitions})
        finally:
            consumer.unsubscribe()

    def checkpoint(self, offsets: Mapping[TopicPartition, int]) -> None:
        """A no-op."""

    def put_offset_limit(self, partition: TopicPartition, limit: int) -> None:
        """A no-op: a global store has no group, and so no committed offset."""
