"""A stream of messages, read by one thread of a consumer.

Kafka 0.10.2: core/.../consumer/KafkaStream.scala · book 3.4.1
"""

from __future__ import annotations

from typing import Generic, TypeVar

from kafka_lite.old_consumer.consumer_iterator import ConsumerIterator
from kafka_lite.old_consumer.consumer_stats import ConsumerTopicStats
from kafka_lite.old_consumer.decoder import Decoder
from kafka_lite.old_consumer.fetched_data_queue import FetchedDataQueue
from kafka_lite.old_consumer.partition_topic_info import FetchedDataChunk

K = TypeVar("K")
V = TypeVar("V")


class KafkaStream(Generic[K, V]):
    """A stream of messages. It has a single iterator, which continues where it was left::

    for message in stream:
        print(message.topic, message.partition, message.offset, message.key, message.message)
    """

    def __init__(
        self,
        queue: FetchedDataQueue[FetchedDataChunk],
        consumer_timeout_ms: float,
        key_decoder: Decoder[K],
        value_decoder: Decoder[V],
        client_id: str,
        stats: ConsumerTopicStats | None = None,
    ) -> None:
        self.client_id = client_id
        stats = stats if stats is not None else ConsumerTopicStats(client_id)
        self._iterator = ConsumerIterator(queue, consumer_timeout_ms, key_decoder, value_decoder, stats)

    def __iter__(self) -> ConsumerIterator[K, V]:
        return self._iterator

    def clear(self) -> None:
        """Drop the rest of the current chunk, because a rebalance has begun."""
        self._iterator.clear_current_chunk()

    def __str__(self) -> str:
        return f"{self.client_id} kafka stream"
