"""The two offsets of an owned partition: what moves them, and what does not."""

from __future__ import annotations

import pytest

from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.old_consumer.consumer_stats import ConsumerTopicStats
from kafka_lite.old_consumer.fetched_data_queue import FetchedDataQueue, FetcherInterruptedError
from kafka_lite.old_consumer.partition_topic_info import (
    INVALID_OFFSET,
    FetchedDataChunk,
    PartitionTopicInfo,
    is_offset_invalid,
)
from kafka_lite.old_consumer.simple.byte_buffer_message_set import ByteBufferMessageSet
from kafka_lite.record.compression import CompressionType
from tests.support.message_chunks import message_set, topic_info

Queue = FetchedDataQueue[FetchedDataChunk]


def offsets(info: PartitionTopicInfo) -> tuple[int, int]:
    return info.consume_offset, info.fetch_offset


@pytest.fixture
def queue() -> Queue:
    return FetchedDataQueue(2)


def test_enqueueing_moves_the_fetch_offset_past_the_last_message(queue: Queue) -> None:
    info = topic_info(queue, offset=5)
    info.enqueue(message_set(5, b"a", b"b"))
    info.enqueue(message_set(7, b"c"))
    assert offsets(info) == (5, 8)
    chunks = [queue.take(), queue.take()]
    assert [chunk.fetch_offset for chunk in chunks if isinstance(chunk, FetchedDataChunk)] == [5, 7]
    assert offsets(info) == (5, 8), "taking a chunk consumes nothing yet"


def test_a_compressed_set_moves_it_past_the_last_inner_message(queue: Queue) -> None:
    info = topic_info(queue, offset=5)
    info.enqueue(message_set(5, b"a", b"b", b"c", codec=CompressionType.GZIP))
    assert info.fetch_offset == 8


def test_an_empty_set_is_not_queued(queue: Queue) -> None:
    info = topic_info(queue, offset=5)
    info.enqueue(ByteBufferMessageSet(b""))
    assert (len(queue), offsets(info)) == (0, (5, 5))


def test_a_message_that_is_cut_is_queued_and_moves_nothing(queue: Queue) -> None:
    registry = MetricsRegistry()
    info = topic_info(queue, offset=5, stats=ConsumerTopicStats("c", registry))
    info.enqueue(ByteBufferMessageSet(message_set(5, b"a" * 100).buffer[:60]))
    assert (len(queue), offsets(info)) == (1, (5, 5))
    assert {bean["Count"] for bean in registry.beans().values()} == {0}


def test_a_set_cut_in_its_second_message_moves_it_past_the_first(queue: Queue) -> None:
    whole = message_set(5, b"a", b"b")
    info = topic_info(queue, offset=5)
    info.enqueue(ByteBufferMessageSet(whole.buffer[: len(whole.buffer) - 1]))
    assert info.fetch_offset == 6


def test_bytes_are_counted_by_topic_and_for_all_topics(queue: Queue) -> None:
    stats = ConsumerTopicStats("c")
    first, second = message_set(0, b"a"), message_set(0, b"bb")
    topic_info(queue, "t", stats=stats).enqueue(first)
    topic_info(queue, "u", stats=stats).enqueue(second)
    assert stats.get_consumer_topic_stats("t").byte_rate.count == first.size_in_bytes
    assert stats.get_consumer_topic_stats("u").byte_rate.count == second.size_in_bytes
    assert stats.get_consumer_all_topic_stats().byte_rate.count == first.size_in_bytes + second.size_in_bytes


def test_an_interrupted_fetcher_changes_nothing(queue: Queue) -> None:
    info = topic_info(queue, offset=5)
    info.enqueue(message_set(5, b"a"))
    info.enqueue(message_set(6, b"b"))
    with pytest.raises(FetcherInterruptedError):
        info.enqueue(message_set(7, b"c"), is_interrupted=lambda: True)
    assert (len(queue), offsets(info)) == (2, (5, 7))
    assert queue.take() is not None
    info.enqueue(message_set(7, b"c"), is_interrupted=lambda: True)
    assert offsets(info) == (5, 8), "with room in the queue, there is nothing to interrupt"


def test_the_offsets_are_set_apart_from_each_other(queue: Queue) -> None:
    info = topic_info(queue, offset=5)
    info.reset_consume_offset(9)
    assert offsets(info) == (9, 5)
    info.reset_fetch_offset(12)
    assert offsets(info) == (9, 12)
    assert str(info) == "t:0: fetched offset = 12: consumed offset = 9"


def test_a_missing_offset_is_negative(queue: Queue) -> None:
    assert is_offset_invalid(topic_info(queue, offset=INVALID_OFFSET).consume_offset)
    assert not is_offset_invalid(topic_info(queue, offset=0).consume_offset)


def test_revoking_is_for_good(queue: Queue) -> None:
    info, other = topic_info(queue), topic_info(queue, partition=1)
    info.revoke()
    info.enqueue(message_set(0, b"a"))
    assert (info.is_revoked, other.is_revoked) == (True, False)
    assert (info.topic_partition, other.topic_partition) == (("t", 0), ("t", 1))
