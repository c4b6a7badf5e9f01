"""The iterator over the messages of a stream.

Kafka 0.10.2: core/.../consumer/ConsumerIterator.scala · book 3.4.2
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Generic, NamedTuple, TypeVar

from kafka_lite.common.errors import KafkaError
from kafka_lite.old_consumer.consumer_stats import ConsumerTopicStats
from kafka_lite.old_consumer.decoder import Decoder
from kafka_lite.old_consumer.fetched_data_queue import FetchedDataQueue
from kafka_lite.old_consumer.iterator_template import IteratorTemplate
from kafka_lite.old_consumer.message_and_metadata import MessageAndMetadata
from kafka_lite.old_consumer.partition_topic_info import FetchedDataChunk, PartitionTopicInfo
from kafka_lite.record.record import Record

logger = logging.getLogger(__name__)

K = TypeVar("K")
V = TypeVar("V")


class ConsumerTimeoutError(KafkaError):
    """No message arrived within ``consumer.timeout.ms``. The stream may be read further."""


class MessageSizeTooLargeError(KafkaError):
    """A message is larger than ``fetch.message.max.bytes``, so the partition cannot be consumed."""


class _CurrentChunk(NamedTuple):
    info: PartitionTopicInfo
    records: Iterator[Record]


class ConsumerIterator(IteratorTemplate[MessageAndMetadata[K, V]], Generic[K, V]):
    """Takes chunks from the queue and messages from the chunks. Blocks while there are none.

    A message counts as consumed when ``next`` returns it, not when ``has_next`` finds it. Messages before the consume
    offset are skipped, because compressed messages arrive as a whole. Used by one thread, except for
    ``clear_current_chunk``.
    """

    def __init__(
        self,
        channel: FetchedDataQueue[FetchedDataChunk],
        consumer_timeout_ms: float,
        key_decoder: Decoder[K],
        value_decoder: Decoder[V],
        stats: ConsumerTopicStats,
    ) -> None:
        super().__init__()
        self._channel = channel
        self._timeout_ms = None if consumer_timeout_ms < 0 else consumer_timeout_ms
        self._key_decoder = key_decoder
        self._value_decoder = value_decoder
        self._stats = stats
        self._current: _CurrentChunk | None = None
        self._next_info: PartitionTopicInfo | None = None

    def __next__(self) -> MessageAndMetadata[K, V]:
        """The next message. Raises StopIteration after the connector's shutdown, and the errors of ``has_next``."""
        item = super().__next__()
        if self._next_info is not None:
            self._next_info.reset_consume_offset(item.offset + 1)
        self._stats.get_consumer_topic_stats(item.topic).message_rate.mark()
        self._stats.get_consumer_all_topic_stats().message_rate.mark()
        return item

    @property
    def next_topic_info(self) -> PartitionTopicInfo | None:
        """The partition of the message that ``has_next`` has found last; None before the first one."""
        return self._next_info

    def make_next(self) -> MessageAndMetadata[K, V] | None:
        """Find the next message; None after the connector's shutdown.

        Raises ConsumerTimeoutError, after which the iteration may continue; MessageSizeTooLargeError and
        CorruptRecordError, after which it may not.
        """
        while True:
            chunk = self._current or self._next_chunk()
            if chunk is None:
                return None
            record = self._next_record(chunk)
            if record is not None:
                self._next_info = chunk.info
                info = chunk.info
                return MessageAndMetadata(info.topic, info.partition_id, record, self._key_decoder, self._value_decoder)
            self._current = None

    @staticmethod
    def _next_record(chunk: _CurrentChunk) -> Record | None:
        """The next message that was not consumed yet; None at the end of the chunk, or if the partition was revoked."""
        for record in chunk.records:
            if chunk.info.is_revoked:
                return None
            if record.offset >= chunk.info.consume_offset:
                return record
        return None

    def _next_chunk(self) -> _CurrentChunk | None:
        """Wait for the next chunk; None after the connector's shutdown."""
        chunk = self._channel.take(self._timeout_ms)
        if chunk is None:
            self.reset_state()
            raise ConsumerTimeoutError(f"no message within {self._timeout_ms} ms")
        if not isinstance(chunk, FetchedDataChunk):
            return None
        self._check(chunk)
        self._current = _CurrentChunk(chunk.topic_info, iter(chunk.messages))
        return self._current

    @staticmethod
    def _check(chunk: FetchedDataChunk) -> None:
        info = chunk.topic_info
        if info.is_revoked:  # an earlier chunk was dropped, and this gap must not count as consumed
            return
        if info.consume_offset < chunk.fetch_offset:
            logger.error(
                "consumed offset: %d doesn't match fetch offset: %d for %s; consumer may lose data",
                *(info.consume_offset, chunk.fetch_offset, info),
            )
            info.reset_consume_offset(chunk.fetch_offset)
        if chunk.messages.valid_bytes == 0:
            raise MessageSizeTooLargeError(
                f"Found a message larger than the maximum fetch size of this consumer on topic {info.topic} partition "
                f"{info.partition_id} at fetch offset {chunk.fetch_offset}. Increase the fetch size, or decrease the "
                "maximum message size the broker will allow."
            )

    def clear_current_chunk(self) -> None:
        """Drop the rest of the current chunk. Called by the rebalancing thread."""
        self._current = None
