"""Records that are sent without futures: a listener learns the outcome of all its records in a batch at once."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.clients import client_utils
from kafka_lite.clients.cluster import Cluster, Node, PartitionInfo
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.serialization import SerializationError
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.producer.buffer_pool import BufferPool, ProducerClosedError
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.producer.partitioner import partition_for_key
from kafka_lite.producer.producer_batch import ProducerBatch
from kafka_lite.producer.producer_interceptors import ProducerInterceptor
from kafka_lite.producer.producer_record import UNKNOWN_OFFSET, ProducerRecord
from kafka_lite.producer.record_accumulator import RecordAccumulator
from kafka_lite.producer.sender import Sender
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.record import MAGIC_V2, NO_TIMESTAMP
from kafka_lite.record.records import batches
from tests.support.mock_selector import MockSelector

NODE = Node(0, "h", 1)
T0 = TopicPartition("t", 0)
TOO_LARGE = ApiError(Errors.MESSAGE_TOO_LARGE, "too large")


class Listener:
    def __init__(self) -> None:
        self.stored: list[tuple[TopicPartition, int]] = []
        self.failed: list[tuple[ProducerRecord, Exception]] = []

    def on_stored(self, topic_partition: TopicPartition, offset: int) -> None:
        self.stored.append((topic_partition, offset))

    def on_failed(self, record: ProducerRecord, error: Exception) -> None:
        self.failed.append((record, error))


class Broken(Listener):
    def on_stored(self, topic_partition: TopicPartition, offset: int) -> None:
        super().on_stored(topic_partition, offset)
        raise ValueError("a bug")


def new_batch(compression: CompressionType = CompressionType.NONE, size: int = 1000) -> ProducerBatch:
    return ProducerBatch(T0, bytearray(size), MAGIC_V2, compression, 0)


# ── a batch ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_listener_learns_the_last_offset_of_a_batch() -> None:
    batch, one, two = new_batch(), Listener(), Listener()
    for listener in (one, two, one, two, one):
        assert batch.try_append_for(listener, 1000, b"k", b"v")
    future = batch.try_append(1000, b"k", b"v", (), None)
    assert future is not None
    assert batch.complete(70, NO_TIMESTAMP)
    assert (one.stored, two.stored) == ([(T0, 74)], [(T0, 73)])
    assert future.get(0).offset == 75


def test_an_offset_that_the_broker_does_not_say_stays_unknown() -> None:
    batch, listener = new_batch(), Listener()
    batch.try_append_for(listener, 1000, b"k", b"v")
    batch.complete(UNKNOWN_OFFSET, NO_TIMESTAMP)
    assert listener.stored == [(T0, UNKNOWN_OFFSET)]


@pytest.mark.parametrize("compression", [CompressionType.NONE, CompressionType.GZIP])
def test_a_listener_gets_each_record_that_failed(compression: CompressionType) -> None:
    batch, listener, errors = new_batch(compression), Listener(), [ValueError(str(place)) for place in range(3)]
    batch.try_append_for(listener, 1000, b"k0", None)
    batch.try_append(1000, b"k1", b"v1", (), None)
    batch.try_append_for(listener, 1002, b"k2", b"v2")
    assert batch.fail(lambda place: errors[place])
    assert listener.failed == [
        (ProducerRecord("t", None, b"k0", 0, 1000), errors[0]),
        (ProducerRecord("t", b"v2", b"k2", 0, 1002), errors[2]),
    ]
    assert listener.stored == []


def test_a_full_or_closed_batch_takes_no_record() -> None:
    batch, listener = new_batch(size=100), Listener()
    assert not batch.try_append_for(listener, 1000, b"k", bytes(100))
    batch.close()
    assert not batch.try_append_for(listener, 1000, b"k", b"v")
    batch.complete(0, NO_TIMESTAMP)
    assert listener.stored == []


def test_an_error_of_a_listener_does_not_keep_the_batch_from_completing(caplog: pytest.LogCaptureFixture) -> None:
    batch, broken, other = new_batch(), Broken(), Listener()
    batch.try_append_for(broken, 1000, b"k", b"v")
    batch.try_append_for(other, 1000, b"k", b"v")
    batch.complete(0, NO_TIMESTAMP)
    assert batch.result.completed
    assert (broken.stored, other.stored) == ([(T0, 0)], [(T0, 1)])
    assert "a bug" in caplog.text


def test_the_records_of_a_batch_that_cannot_be_encoded_have_no_content(monkeypatch: pytest.MonkeyPatch) -> None:
    batch, listener, error = new_batch(CompressionType.GZIP), Listener(), MemoryError()
    batch.try_append_for(listener, 1000, b"k", b"v")

    def fail(*_: object) -> bytes:
        raise error

    monkeypatch.setattr("kafka_lite.producer.records_buffer.compress", fail)
    batch.abort(error)
    assert listener.failed == [(ProducerRecord("t", partition=0), error)]


def test_the_records_of_a_batch_that_is_split_keep_their_listener() -> None:
    time, listener = MockTime(), Listener()
    pool = BufferPool(10_000, 1000, time)
    accumulator = RecordAccumulator(1000, CompressionType.NONE, 0, 100, 3000, pool, time=time)
    futures = [accumulator.append(T0, (1000, b"0", bytes(200), (), None), 0).future]
    for number in (1, 2):
        assert accumulator.append_for(listener, T0, 1000, b"%d" % number, bytes(200))
    cluster = Cluster((NODE,), (PartitionInfo("t", 0, NODE),))
    (batch,) = accumulator.drain(cluster, [NODE], 10_000, 0)[0]
    parts, offset = accumulator.split_and_reenqueue(batch), 0
    assert parts > 1
    for _ in range(parts):
        (part,) = accumulator.drain(cluster, [NODE], 10_000, 0)[0]
        part.complete(offset, NO_TIMESTAMP)
        offset += part.record_count
        accumulator.deallocate(part)
    assert futures[0].get(0).offset == 0
    assert listener.stored[-1] == (T0, 2)
    assert pool.available_memory == pool.total_memory


# ── a producer ────────────────────────────────────────────────────────────────────────────────────────────────────────


class Kept(ProducerInterceptor):
    records: list[ProducerRecord]

    def __init__(self) -> None:
        Kept.records = []

    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        self.records.append(record)
        return record


@pytest.fixture
def no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without sockets, too."""
    monkeypatch.setattr(Sender, "start", lambda _self: None)
    monkeypatch.setattr(client_utils, "Selector", lambda **_: MockSelector(MockTime()))


def new_producer(partitions: int = 1, **configs: Any) -> KafkaProducer:
    named = {name.replace("_", "."): value for name, value in configs.items()}
    producer = KafkaProducer({"bootstrap.servers": "127.0.0.1:1", "max.block.ms": 0, **named}, time=MockTime())
    infos = tuple(PartitionInfo("t", number, NODE) for number in range(partitions))
    producer._metadata.update(Cluster((NODE,), infos), 0)
    return producer


def queued(producer: KafkaProducer) -> list[ProducerBatch]:
    return producer._accumulator.take_undrained()


pytestmark = pytest.mark.usefixtures("no_thread")


def test_records_of_bytes_share_a_batch_and_one_call_of_the_listener() -> None:
    producer, listener = new_producer(), Listener()
    for number in range(5):
        producer.send_bytes("t", b"%d" % number, b"v", None, 1000 + number, listener)
    (batch,) = queued(producer)
    records = [(each.key, each.timestamp) for made in batches(batch.records) for each in made.records()]
    assert records == [(b"%d" % number, 1000 + number) for number in range(5)]
    batch.complete(10, NO_TIMESTAMP)
    assert listener.stored == [(T0, 10), (T0, 14)], "the first record began the batch, as send does"


def test_the_key_chooses_the_same_partition_as_with_send() -> None:
    producer, listener = new_producer(partitions=7), Listener()
    keys = [b"%d" % number for number in range(20)] * 2
    for key in keys:
        producer.send_bytes("t", key, b"v", None, 1000, listener)
    producer.send_bytes("t", b"0", b"w", 6, 1000, listener)
    found = [
        (record.key, batch.topic_partition.partition, record.value)
        for batch in queued(producer)
        for made in batches(batch.records)
        for record in made.records()
    ]
    assert sorted(found) == sorted([(b"0", 6, b"w"), *((key, partition_for_key(key, 7), b"v") for key in keys)])


@pytest.mark.parametrize(
    ("key", "value"), [(None, b"v"), (b"k", None), (b"k", bytearray(b"v")), (bytearray(b"k"), b"v")]
)
def test_unusual_records_are_sent_one_by_one(key: Any, value: Any) -> None:
    producer, listener = new_producer(), Listener()
    for _ in range(3):
        producer.send_bytes("t", key, value, None, 1000, listener)
    (batch,) = queued(producer)
    batch.complete(0, NO_TIMESTAMP)
    assert listener.stored == [(T0, 0), (T0, 1), (T0, 2)]


def test_interceptors_see_every_record() -> None:
    producer, listener = new_producer(interceptor_classes=f"{__name__}.Kept"), Listener()
    for _ in range(3):
        producer.send_bytes("t", b"k", b"v", None, 1000, listener)
    assert Kept.records == [ProducerRecord("t", b"v", b"k", None, 1000)] * 3


def test_text_is_refused_whether_it_begins_a_batch_or_not() -> None:
    producer, listener = new_producer(), Listener()
    text: Any = "text"
    for _ in range(2):
        with pytest.raises(SerializationError):
            producer.send_bytes("t", b"k", text, None, 1000, listener)
        producer.send_bytes("t", b"k", b"v", None, 1000, listener)


@pytest.mark.parametrize("configs", [{"max_request_size": 200}, {"max_request_size": 200, "batch_size": 1000}])
def test_a_record_that_is_too_large_fails(configs: dict[str, Any]) -> None:
    producer, listener = new_producer(**configs), Listener()
    producer.send_bytes("t", b"k", b"v", None, 1000, listener)
    producer.send_bytes("t", b"k", bytes(200), None, 1000, listener)
    ((record, error),) = listener.failed
    assert (record.key, record.value) == (b"k", bytes(200))
    assert isinstance(error, ApiError)
    assert error.error is Errors.MESSAGE_TOO_LARGE


def test_a_partition_that_does_not_exist_fails() -> None:
    producer, listener = new_producer(), Listener()
    producer.send_bytes("t", b"k", b"v", 3, 1000, listener)
    ((record, error),) = listener.failed
    assert record.partition == 3
    assert isinstance(error, ApiError)
    assert error.error is Errors.REQUEST_TIMED_OUT


def test_a_closed_producer_refuses_records() -> None:
    producer, listener = new_producer(), Listener()
    producer.send_bytes("t", b"k", b"v", None, 1000, listener)
    producer._closed = True
    with pytest.raises(ProducerClosedError):
        producer.send_bytes("t", b"k", b"v", None, 1000, listener)


def test_outside_of_a_transaction_no_record_gets_into_a_batch() -> None:
    producer, listener = new_producer(transactional_id="x"), Listener()
    with pytest.raises(RuntimeError):
        producer.send_bytes("t", b"k", b"v", None, 1000, listener)
    assert queued(producer) == []
