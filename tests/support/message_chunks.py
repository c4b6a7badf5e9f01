"""Chunks of messages, as fetchers put them into the queues of streams."""

from __future__ import annotations

from kafka_lite.old_consumer.consumer_stats import ConsumerTopicStats
from kafka_lite.old_consumer.fetched_data_queue import FetchedDataQueue
from kafka_lite.old_consumer.partition_topic_info import FetchedDataChunk, PartitionTopicInfo
from kafka_lite.old_consumer.simple.byte_buffer_message_set import ByteBufferMessageSet
from kafka_lite.old_consumer.topic_count import ConsumerThreadId
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import MAGIC_V1

THREAD = ConsumerThreadId("g_c", 0)


def message_set(
    base_offset: int, *values: bytes, codec: CompressionType = CompressionType.NONE, magic: int = MAGIC_V1
) -> ByteBufferMessageSet:
    builder = MemoryRecordsBuilder(magic, codec, base_offset=base_offset)
    for value in values:
        builder.append(1_500_000_000_000, b"k", value)
    return ByteBufferMessageSet(builder.build())


def topic_info(
    queue: FetchedDataQueue[FetchedDataChunk],
    topic: str = "t",
    partition: int = 0,
    offset: int = 0,
    stats: ConsumerTopicStats | None = None,
) -> PartitionTopicInfo:
    return PartitionTopicInfo(topic, partition, queue, offset, offset, stats or ConsumerTopicStats("c"), THREAD)
