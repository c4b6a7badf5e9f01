"""A partition that this consumer owns: how far it is fetched, how far it is consumed, where its messages go.

Kafka 0.10.2: core/.../consumer/PartitionTopicInfo.scala, FetchedDataChunk.scala · book 3.2.3, 3.2.5
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.old_consumer.byte_buffer_message_set import ByteBufferMessageSet
from kafka_lite.old_consumer.consumer_stats import ConsumerTopicStats
from kafka_lite.old_consumer.fetched_data_queue import FetchedDataQueue
from kafka_lite.old_consumer.topic_count import ConsumerThreadId

logger = logging.getLogger(__name__)

INVALID_OFFSET = -1


def is_offset_invalid(offset: int) -> bool:
    """Whether this stands for no offset: nothing was committed yet."""
    return offset < 0


@dataclass(frozen=True)
class FetchedDataChunk:
    """The messages of one partition out of one answer, and the offset that they were fetched from."""

    messages: ByteBufferMessageSet
    topic_info: PartitionTopicInfo
    fetch_offset: int


class PartitionTopicInfo:
    """One ownership of a partition; the next rebalance makes another.

    The fetcher moves ``fetch_offset`` on, the stream ``consume_offset``, which is what is committed::

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
        """The thread that owns the partition, as ZooKeeper has it."""
        self._is_revoked = False

    @property
    def topic_partition(self) -> TopicPartition:
        """Topic and number."""
        return TopicPartition(self.topic, self.partition_id)

    @property
    def consume_offset(self) -> int:
        """The offset behind the last message that a stream has handed out; negative: none was committed yet."""
        return self._consumed_offset

    @property
    def fetch_offset(self) -> int:
        """The offset behind the last message in the queue."""
        return self._fetched_offset

    def reset_consume_offset(self, offset: int) -> None:
        """A stream has handed out the message before ``offset``, or consumption begins there."""
        self._consumed_offset = offset

    def reset_fetch_offset(self, offset: int) -> None:
        """Fetching goes on at ``offset``."""
        self._fetched_offset = offset

    @property
    def is_revoked(self) -> bool:
        """Whether a rebalance has begun: what streams still have of the partition may be another's by now."""
        return self._is_revoked

    def revoke(self) -> None:
        """A rebalance begins."""
        self._is_revoked = True

    def enqueue(self, messages: ByteBufferMessageSet, is_interrupted: Callable[[], bool] = lambda: False) -> None:
        """Pass messages to the stream; waits while its queue is full.

        Raises FetcherInterruptedError, with nothing changed, when ``is_interrupted`` says so meanwhile. A set without
        one whole message is passed on too: the stream will say that the fetch size is too small. An empty one is not.
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
        """Have a fetcher that waits for room look whether it is interrupted."""
        self._chunk_queue.wake_producers()

    def __str__(self) -> str:
        return (
            f"{self.topic}:{self.partition_id}: fetched offset = {self.fetch_offset}: "
            f"consumed offset = {self.consume_offset}"
        )
