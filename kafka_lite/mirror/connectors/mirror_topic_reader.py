"""Reads one of MirrorMaker 2's own topics from its beginning.

Kafka 2.4: connect/runtime/.../connect/util/KafkaBasedLog.java (withExistingClients) · book 8.1.1
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Protocol

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.mirror.connectors.mirror_records import MirrorRecordError

logger = logging.getLogger(__name__)

POLL_MS = 1000
NO_GROUP: Mapping[str, object] = {"auto.offset.reset": "earliest", "allow.auto.create.topics": "false"}
"""Settings of its consumer. The topic has to be created as a compacted one, which is for others to do."""


class TopicConsumer(Protocol):
    """The part of KafkaConsumer that it needs."""

    def assign(self, partitions: Iterable[TopicPartition]) -> None: ...  # noqa: D102  see KafkaConsumer
    def seek_to_beginning(self, partitions: Iterable[TopicPartition]) -> None: ...  # noqa: D102
    def end_offsets(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, int]: ...  # noqa: D102
    def position(self, partition: TopicPartition) -> int: ...  # noqa: D102
    def poll(self, timeout_ms: float) -> Iterable[ConsumerRecord]: ...  # noqa: D102
    def wakeup(self) -> None: ...  # noqa: D102
    def close(self) -> None: ...  # noqa: D102


class MirrorTopicReader:
    """Gives ``consumed`` each key and value of partition 0. Records that cannot be read are logged and left out.

    The methods raise KafkaError, and WakeupError after ``wake_up``.
    """

    def __init__(self, consumer: TopicConsumer, topic: str, consumed: Callable[[bytes, bytes], None]) -> None:
        """It closes the consumer."""
        self._consumer = consumer
        self._partition = TopicPartition(topic, 0)
        self._consumed = consumed

    def read_to_end(self) -> None:
        """Read what is there now."""
        self._consumer.assign([self._partition])
        self._consumer.seek_to_beginning([self._partition])
        end = self._consumer.end_offsets([self._partition])[self._partition]
        while self._consumer.position(self._partition) < end:
            self.read(POLL_MS)

    def read(self, timeout_ms: float) -> None:
        """Read what comes next."""
        for record in self._consumer.poll(timeout_ms):
            try:
                if record.key is not None and record.value is not None:
                    self._consumed(record.key, record.value)
            except MirrorRecordError as error:
                logger.warning("Ignored the record at offset %d of %s: %s", record.offset, self._partition, error)

    def wake_up(self) -> None:
        """Interrupt a read from another thread."""
        self._consumer.wakeup()

    def close(self) -> None:
        """Close the consumer."""
        self._consumer.close()
