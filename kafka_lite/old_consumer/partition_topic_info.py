"""A partition that this consumer owns: its fetch offset, its consume offset, and its queue.

Kafka 0.10.2: core/.../consumer/PartitionTopicInfo.scala, FetchedDataChunk.scala · book 3.2.3, 3.2.5
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.old_consumer.consumer_stats import ConsumerTopicStats
from kafka_lite.old_consumer.fetched_data_queue import FetchedDataQueue
from kafka_lite.old_consumer.simple.byte_buffer_message_set import ByteBufferMessageSet
from kafka_lite.old_consumer.topic_count import ConsumerThreadId

logger = logging.getLogger(__name__)

INVALID_OFFSET = -1


def is_offset_invalid(offset: int) -> bool:
    """Whether this stands for a missing offset: nothing was committed yet."""
    return offset < 0


@dataclass(frozen=True)
class FetchedDataChunk:
    """The messages of one partition from one fetch response, and their fetch offset."""

    messages: ByteBufferMessageSet
    topic_info: PartitionTopicInfo
    fetch_offset: int


class PartitionTopicInfo:
    """One ownership of a partition. Each rebalance creates a new one.

    The fetcher advances ``fetch_offset``, the stream ``consume_offset``, which is what is committed::

                  consumed            in the queue            not fetched
        ─────────────────────────┬──────────────────────┬──────────────────────▶
                           consume_offset         fetch_offset
    """

    def __init__(
        self,
        topic: str,
        partition_id: int,
        chunk_queue: FetchedDataQueue[FetchedDataChunk],
        consumed_offset: int,
        fetched_offset: int,
        stats: ConsumerTopicStats,
        thread_id: ConsumerThreadId,
    ) -> None:
        self.topic = topic
        self.partition_id = partition_id
        self._chunk_queue = chunk_queue
        self._consumed_offset = consumed_offset
        self._fetched_offset = fetched_offset
        self._stats = stats
        self.thread_id = thread_id
        """The owning thread, as registered in ZooKeeper."""
        self._is_revoked = False

    @property
    def topic_partition(self) -> TopicPartition:
        """The topic and the partition number."""
        return TopicPartition(self.topic, self.partition_id)

    @property
    def consume_offset(self) -> int:
        """The offset after the last message that a stream has returned; negative if none was committed yet."""
        return self._consumed_offset

    @property
    def fetch_offset(self) -> int:
        """The offset after the last message in the queue."""
        return self._fetched_offset

    def reset_consume_offset(self, offset: int) -> None:
        """Set the consume offset: a stream has returned the message before it, or consumption starts there."""
        self._consumed_offset = offset

    def reset_fetch_offset(self, offset: int) -> None:
        """Set the offset at which fetching continues."""
        self._fetched_offset = offset

    @property
    def is_revoked(self) -> bool:
        """Whether a rebalance has begun, so that another member may own the partition by now."""
        return self._is_revoked

    def revoke(self) -> None:
        """Mark the partition as revoked, because a rebalance begins."""
        self._is_revoked = True

    def enqueue(self, messages: ByteBufferMessageSet, is_interrupted: Callable[[], bool] = lambda: False) -> None:
        """Pass messages to the stream. Blocks while its queue is full.

        Raises FetcherInterruptedError, with nothing changed, if ``is_interrupted`` returns true meanwhile. A set
        without a complete message is passed on too, so that the stream reports that the fetch size is too small. An
        empty set is not.
        """
        if messages.size_in_bytes == 0:
            return
        chunk = FetchedDataChunk(messages, self, self._fetched_offset)
        next_offset = messages.next_offset
        self._chunk_queue.put(chunk, is_interrupted)
        if next_offset is not None:
            self._fetched_offset = next_offset
            logger.debug("updated fetch offset of (%s) to %d", self, next_offset)
            self._stats.get_consumer_topic_stats(self.topic).byte_rate.mark(messages.valid_bytes)
            self._stats.get_consumer_all_topic_stats().byte_rate.mark(messages.valid_bytes)

    def wake_producers(self) -> None:
        """Make a blocked fetcher check whether it is interrupted."""
        self._chunk_queue.wake_producers()

    def __str__(self) -> str:
        return (
            f"{self.topic}:{self.partition_id}: fetched offset = {self.fetch_offset}: "
            f"consumed offset = {self.consume_offset}"
        )
