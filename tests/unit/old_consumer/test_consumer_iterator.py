"""The iterator over the messages in a queue of chunks."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.old_consumer.consumer_iterator import ConsumerIterator, ConsumerTimeoutError, MessageSizeTooLargeError
from kafka_lite.old_consumer.consumer_stats import ConsumerTopicStats
from kafka_lite.old_consumer.decoder import DecodeError, IntegerDecoder, LongDecoder, StringDecoder
from kafka_lite.old_consumer.fetched_data_queue import (
    SHUTDOWN_COMMAND,
    FetchedDataQueue,
    FetcherInterruptedError,
)
from kafka_lite.old_consumer.iterator_template import IteratorState, IteratorTemplate
from kafka_lite.old_consumer.kafka_stream import KafkaStream
from kafka_lite.old_consumer.partition_topic_info import FetchedDataChunk
from kafka_lite.old_consumer.simple.byte_buffer_message_set import ByteBufferMessageSet
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.record import MAGIC_V0, MAGIC_V1, CorruptRecordError, TimestampType
from tests.support.message_chunks import message_set, topic_info
from tests.support.patience import patient_s


def new_queue(capacity: int = 10) -> FetchedDataQueue[FetchedDataChunk]:
    return FetchedDataQueue(capacity, MockTime())


def iterator(
    queue: FetchedDataQueue[FetchedDataChunk], timeout_ms: float = 1000, **options: Any
) -> ConsumerIterator[str, str]:
    stats = options.get("stats") or ConsumerTopicStats("c")
    return ConsumerIterator(queue, timeout_ms, StringDecoder(), StringDecoder(), stats)


@pytest.mark.parametrize("magic", [MAGIC_V0, MAGIC_V1])
@pytest.mark.parametrize("codec", [CompressionType.NONE, CompressionType.GZIP, CompressionType.SNAPPY])
def test_messages_are_in_order_and_count_as_consumed_when_returned(magic: int, codec: CompressionType) -> None:
    queue = new_queue()
    info = topic_info(queue, offset=5)
    info.enqueue(message_set(5, b"a", b"b", codec=codec, magic=magic))
    info.enqueue(message_set(7, b"c", codec=codec, magic=magic))
    assert info.fetch_offset == 8
    messages = iterator(queue)
    assert messages.has_next()
    assert info.consume_offset == 5
    first = next(messages)
    assert info.consume_offset == 6
    assert (first.topic, first.partition, first.offset, first.key, first.message) == ("t", 0, 5, "k", "a")
    assert (first.timestamp, first.timestamp_type) == (
        (-1, TimestampType.NO_TIMESTAMP_TYPE) if magic == MAGIC_V0 else (1_500_000_000_000, TimestampType.CREATE_TIME)
    )
    assert [str(next(messages)) for _ in range(2)] == ["t-0@6: 'k' 'b'", "t-0@7: 'k' 'c'"]
    assert info.consume_offset == 8


def test_messages_before_the_consume_offset_are_skipped() -> None:
    queue = new_queue()
    info = topic_info(queue, offset=7)
    info.enqueue(message_set(5, b"a", b"b", b"c", codec=CompressionType.GZIP))
    info.enqueue(message_set(5, b"a", b"b", codec=CompressionType.GZIP))  # no new message at all
    info.enqueue(message_set(8, b"d"))
    messages = iterator(queue)
    assert [next(messages).message for _ in range(2)] == ["c", "d"]


def test_decoder_errors_are_raised_to_the_user() -> None:
    queue = new_queue()
    topic_info(queue).enqueue(message_set(0, b"x"))
    message = next(iter(KafkaStream(queue, 1000, LongDecoder(), IntegerDecoder(), "c")))
    with pytest.raises(DecodeError, match="1 bytes are not 8"):
        _ = message.key
    with pytest.raises(DecodeError, match="1 bytes are not 4"):
        _ = message.message


def test_iteration_continues_after_a_timeout() -> None:
    queue = new_queue()
    info = topic_info(queue)
    messages = iterator(queue, timeout_ms=100)
    for _ in range(2):
        with pytest.raises(ConsumerTimeoutError, match="within 100 ms"):
            messages.has_next()
    info.enqueue(message_set(0, b"a"))
    assert next(messages).message == "a"


def test_a_shutdown_ends_the_iteration() -> None:
    queue = new_queue()
    info = topic_info(queue)
    info.enqueue(message_set(0, b"a", b"b"))
    messages = iterator(queue)
    next(messages)
    queue.shut_down()
    messages.clear_current_chunk()
    assert not messages.has_next()
    assert list(messages) == []


def test_a_revoked_partition_returns_no_more_messages() -> None:
    queue = new_queue()
    info, other = topic_info(queue), topic_info(queue, partition=1)
    info.enqueue(message_set(0, b"a", b"b", b"c"))
    info.enqueue(message_set(3, b"d"))
    other.enqueue(message_set(0, b"x"))
    messages = iterator(queue)
    next(messages)
    info.revoke()
    assert next(messages).message == "x"
    assert info.consume_offset == 1


def test_a_gap_is_logged_and_skipped(caplog: pytest.LogCaptureFixture) -> None:
    queue = new_queue()
    info = topic_info(queue, offset=3)
    info.reset_fetch_offset(9)
    info.enqueue(message_set(9, b"a"))
    assert next(iterator(queue)).offset == 9
    assert "doesn't match fetch offset: 9" in caplog.text


def test_a_message_that_is_too_large_ends_the_iteration() -> None:
    queue = new_queue()
    info = topic_info(queue)
    whole = message_set(0, b"a" * 100)
    info.enqueue(ByteBufferMessageSet(whole.buffer[:50]))
    assert info.fetch_offset == 0
    info.enqueue(ByteBufferMessageSet(b""))
    assert len(queue) == 1
    messages = iterator(queue)
    with pytest.raises(MessageSizeTooLargeError, match="on topic t partition 0 at fetch offset 0"):
        messages.has_next()
    with pytest.raises(RuntimeError, match="failed state"):
        messages.has_next()


def test_a_wrong_checksum_ends_the_iteration() -> None:
    queue = new_queue()
    info = topic_info(queue)
    damaged = bytearray(message_set(0, b"a").buffer)
    damaged[-1] ^= 1
    info.enqueue(ByteBufferMessageSet(damaged))
    with pytest.raises(CorruptRecordError, match="stored crc"):
        next(iterator(queue))


def test_messages_and_bytes_are_counted() -> None:
    registry = MetricsRegistry()
    stats = ConsumerTopicStats("c", registry)
    queue = new_queue()
    info = topic_info(queue, stats=stats)
    messages = message_set(0, b"a", b"b")
    info.enqueue(messages)
    list(zip(range(2), iterator(queue, stats=stats), strict=False))
    counts = {name.mbean_name: attributes["Count"] for name, attributes in registry.beans().items()}
    prefix = "kafka.consumer:type=ConsumerTopicMetrics,name="
    size = messages.size_in_bytes
    assert counts == {
        f"{prefix}MessagesPerSec,clientId=c": 2, f"{prefix}BytesPerSec,clientId=c": size,
        f"{prefix}MessagesPerSec,clientId=c,topic=t": 2, f"{prefix}BytesPerSec,clientId=c,topic=t": size,
    }  # fmt: skip


class _Broken(IteratorTemplate[int]):
    def make_next(self) -> int | None:
        raise KeyError("broken")


def test_the_states_of_an_iterator() -> None:
    broken = _Broken()
    with pytest.raises(KeyError):
        next(broken)
    with pytest.raises(RuntimeError, match="failed state"):
        next(broken)
    with pytest.raises(RuntimeError, match="that is failed cannot become failed"):
        broken._become(IteratorState.FAILED)


# ── The queue ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def chunk(queue: FetchedDataQueue[FetchedDataChunk]) -> FetchedDataChunk:
    return FetchedDataChunk(message_set(0, b"a"), topic_info(queue), 0)


def test_a_full_queue_blocks_the_fetcher() -> None:
    queue: FetchedDataQueue[FetchedDataChunk] = FetchedDataQueue(1)
    queue.put(chunk(queue))
    fetcher = threading.Thread(target=lambda: queue.put(SHUTDOWN_COMMAND))
    fetcher.start()
    assert isinstance(queue.take(), FetchedDataChunk)
    assert queue.take() is SHUTDOWN_COMMAND
    fetcher.join(patient_s(30))


def test_a_fetcher_that_must_end_stops_waiting() -> None:
    queue: FetchedDataQueue[FetchedDataChunk] = FetchedDataQueue(1)
    queue.put(chunk(queue))
    must_end, caught = threading.Event(), []

    def put() -> None:
        try:
            queue.put(chunk(queue), must_end.is_set)
        except FetcherInterruptedError as error:
            caught.append(error)

    fetcher = threading.Thread(target=put)
    fetcher.start()
    must_end.set()
    while fetcher.is_alive():
        queue.wake_producers()
        fetcher.join(0.01)
    assert len(caught) == 1
    assert len(queue) == 1


def test_clear_makes_room() -> None:
    queue: FetchedDataQueue[FetchedDataChunk] = FetchedDataQueue(1)
    queue.put(chunk(queue))
    queue.clear()
    assert queue.take(0) is None
    queue.put(chunk(queue))
    queue.shut_down()
    assert queue.take(0) is SHUTDOWN_COMMAND
