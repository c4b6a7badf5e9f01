"""Batches by partition: filling, readiness, draining, retries, splits, expiry, flush, close."""

from __future__ import annotations

import math
import threading
from typing import Any

import pytest

from kafka_lite.clients.cluster import Cluster, Node, PartitionInfo
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.producer import records_buffer
from kafka_lite.producer.buffer_pool import BufferExhaustedError, BufferPool, ProducerClosedError
from kafka_lite.producer.producer_batch import ProducerBatch
from kafka_lite.producer.record_accumulator import RecordAccumulator, RecordAppendResult
from kafka_lite.producer.transaction_manager import TransactionManager
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.default_record_batch import RECORD_BATCH_OVERHEAD
from kafka_lite.record.records import batches
from tests.support.patience import patient_s

NODES = [Node(0, "a", 1), Node(1, "b", 2)]
T0, T1, T2 = (TopicPartition("t", number) for number in range(3))
CLUSTER = Cluster(
    tuple(NODES),
    (PartitionInfo("t", 0, NODES[0]), PartitionInfo("t", 1, NODES[0]), PartitionInfo("t", 2, NODES[1])),
)
BATCH_SIZE = 500
LINGER_MS = 10
BACKOFF_MS = 100
DELIVERY_TIMEOUT_MS = 3000
VALUE = b"v" * 100  # four in a batch


class Accumulator:
    """A RecordAccumulator with its clock and pool. Not a subclass: the class may be compiled."""

    def __init__(
        self,
        memory: int = 10_000,
        transactions: TransactionManager | None = None,
        compression: CompressionType = CompressionType.NONE,
    ) -> None:
        self.time = MockTime()
        self.pool = BufferPool(memory, BATCH_SIZE, self.time)
        self._records = RecordAccumulator(
            BATCH_SIZE, compression, LINGER_MS, BACKOFF_MS, DELIVERY_TIMEOUT_MS, self.pool,
            transaction_manager=transactions, time=self.time,
        )  # fmt: skip

    def __getattr__(self, name: str) -> Any:
        return getattr(self._records, name)

    def add(self, partition: TopicPartition = T0, value: bytes = VALUE, count: int = 1) -> RecordAppendResult:
        for _ in range(count):
            result = self.append(partition, (1000, None, value, (), None), 0)
        return result

    def ready_ids(self) -> set[int]:
        return {node.id for node in self.ready(CLUSTER, self.time.hi_res_ms()).ready_nodes}

    def drained(self, *nodes: Node, max_bytes: int = 10_000) -> list[ProducerBatch]:
        taken = self.drain(CLUSTER, nodes or NODES, max_bytes, self.time.hi_res_ms())
        return [batch for node in nodes or NODES for batch in taken[node.id]]


def two_numbered_batches_in_flight() -> tuple[Accumulator, TransactionManager, ProducerBatch, ProducerBatch]:
    """The second and the third batch of a producer, whose first batch is acknowledged."""
    manager = TransactionManager()
    manager.initializing()
    manager.initialized(1, 0)
    accumulator = Accumulator(transactions=manager)
    accumulator.add(count=20)
    (first,) = accumulator.drained()
    first.in_flight = False
    manager.completed(first)
    second, third = accumulator.drained() + accumulator.drained()
    return accumulator, manager, second, third


def values(batch: ProducerBatch) -> list[bytes | None]:
    return [record.value for each in batches(batch.records) for record in each.records()]


def test_records_are_batched_until_the_batch_is_full() -> None:
    accumulator = Accumulator()
    first = accumulator.add()
    assert first.new_batch_created
    assert not first.batch_is_full
    assert not accumulator.add(count=2).batch_is_full
    assert accumulator.ready_ids() == set()
    overflow = accumulator.add(count=2)
    assert overflow.new_batch_created
    assert overflow.batch_is_full, "there is one before it"
    assert accumulator.ready_ids() == {0}
    (batch,) = accumulator.drained(NODES[0])
    assert batch.topic_partition == T0
    assert values(batch) == [VALUE] * 4


def test_a_batch_lingers_until_linger_ms() -> None:
    accumulator = Accumulator()
    accumulator.add()
    result = accumulator.ready(CLUSTER, accumulator.time.hi_res_ms())
    assert (result.ready_nodes, result.next_ready_check_delay_ms) == (set(), LINGER_MS)
    accumulator.time.sleep(LINGER_MS)
    assert accumulator.ready_ids() == {0}


def test_a_record_larger_than_a_batch_is_sent_alone() -> None:
    accumulator = Accumulator()
    accumulator.add(value=b"v" * 2000)
    accumulator.add()
    large, small = accumulator.drained(NODES[0]) + accumulator.drained(NODES[0])
    assert values(large) == [b"v" * 2000]
    assert values(small) == [VALUE]


def test_topics_with_unknown_leaders_are_reported() -> None:
    accumulator = Accumulator()
    accumulator.add(TopicPartition("unknown", 0))
    assert accumulator.ready(CLUSTER, 0).unknown_leader_topics == {"unknown"}


def test_draining_takes_one_batch_per_partition_and_rotates_the_first() -> None:
    accumulator = Accumulator()
    for partition in (T0, T1, T2):
        accumulator.add(partition, count=12)
    assert {batch.topic_partition for batch in accumulator.drained()} == {T0, T1, T2}
    first = [accumulator.drained(NODES[0], max_bytes=1)[0].topic_partition for _ in range(4)]
    assert set(first) == {T0, T1}, "no partition starves"


def test_a_request_is_limited_in_size() -> None:
    accumulator = Accumulator()
    for partition in (T0, T1):
        accumulator.add(partition, count=4)
    assert len(accumulator.drained(NODES[0], max_bytes=600)) == 1
    assert len(accumulator.drained(NODES[0], max_bytes=600)) == 1


def test_muted_partitions_are_not_drained() -> None:
    accumulator = Accumulator()
    accumulator.add(count=8)
    accumulator.mute_partition(T0)
    assert accumulator.ready_ids() == set()
    assert accumulator.drained() == []
    accumulator.unmute_partition(T0)
    assert len(accumulator.drained()) == 1


def test_a_retried_batch_is_first_and_backs_off() -> None:
    accumulator = Accumulator()
    accumulator.add(value=b"1" * 400)
    accumulator.add(value=b"2" * 400)
    (batch,) = accumulator.drained()
    accumulator.reenqueue(batch, accumulator.time.hi_res_ms())
    assert accumulator.ready_ids() == set()
    assert accumulator.drained() == []
    accumulator.time.sleep(BACKOFF_MS)
    assert accumulator.ready_ids() == {0}
    assert accumulator.drained() == [batch]


def test_retried_batches_are_sorted_by_sequence_number() -> None:
    accumulator, manager, second, third = two_numbered_batches_in_flight()
    for batch in (second, third):
        accumulator.reenqueue(batch, accumulator.time.hi_res_ms())
    accumulator.time.sleep(BACKOFF_MS)
    assert accumulator.drained() == [second]
    second.in_flight = False
    manager.completed(second)
    assert accumulator.drained() == [third]


def test_exhausted_memory_raises_and_makes_everything_ready() -> None:
    accumulator = Accumulator(memory=2 * BATCH_SIZE)
    accumulator.add(T0)
    accumulator.add(T1)
    with pytest.raises(BufferExhaustedError):
        accumulator.add(T2)
    for batch in accumulator.drained():
        accumulator.deallocate(batch)
    assert accumulator.pool.available_memory == 2 * BATCH_SIZE
    accumulator.add(T2)


def test_a_thread_waiting_for_memory_makes_everything_ready() -> None:
    accumulator = Accumulator(memory=BATCH_SIZE)
    accumulator.add(T0)
    assert accumulator.ready_ids() == set()
    accumulator.pool._waiters.append(threading.Condition())
    assert accumulator.ready_ids() == {0}


def test_batches_expire_after_the_delivery_timeout() -> None:
    accumulator = Accumulator()
    accumulator.add(T0)
    accumulator.time.sleep(1000)
    accumulator.add(T2)
    assert accumulator.next_expiry_ms(accumulator.time.hi_res_ms()) == DELIVERY_TIMEOUT_MS - 1000
    accumulator.time.sleep(DELIVERY_TIMEOUT_MS - 1000)
    (expired,) = accumulator.expired_batches(accumulator.time.hi_res_ms())
    assert expired.topic_partition == T0
    accumulator.drained()
    assert accumulator.next_expiry_ms(0) == math.inf


def test_a_large_batch_is_split() -> None:
    accumulator = Accumulator()
    places: list[int] = []
    futures = [
        accumulator.append(
            T0,
            (1000, None, b"%d" % number + b"v" * 80, (),
             lambda metadata, _error: places.append(metadata.offset if metadata else -1)),
            0,
        ).future
        for number in range(4)
    ]  # fmt: skip
    future = futures[2]
    (batch,) = accumulator.drained()
    count = accumulator.split_and_reenqueue(batch)
    assert count > 1
    assert not future.done()
    found = []
    for _ in range(count):
        (part,) = accumulator.drained()
        part.complete(len(found), -1)
        found += values(part)
        accumulator.deallocate(part)
    assert found == [b"%d" % number + b"v" * 80 for number in range(4)]
    assert places == [0, 1, 2, 3]
    assert future.get(0).offset == 2
    assert accumulator.pool.available_memory == accumulator.pool.total_memory
    assert not accumulator.has_incomplete


def test_small_records_are_split_down_to_single_ones() -> None:
    """A topic's ``max.message.bytes`` may be less than any batch: in the end each record is refused by itself."""
    accumulator = Accumulator()
    accumulator.add(count=8, value=b"v")
    drained = []
    while found := accumulator.drained():
        (batch,) = found
        drained.append(batch.record_count)
        assert len(drained) < 20, f"the parts do not become smaller: {drained}"
        if batch.record_count > 1:
            accumulator.split_and_reenqueue(batch)
        else:
            batch.complete(0, -1)
            accumulator.deallocate(batch)
    assert drained == [8, 4, 2, 1, 1, 2, 1, 1, 4, 2, 1, 1, 2, 1, 1]


def test_the_parts_of_a_batch_use_only_its_memory() -> None:
    """Apart from a header for each part."""
    accumulator = Accumulator(memory=BATCH_SIZE)
    accumulator.add(count=4)
    (batch,) = accumulator.drained()
    count = accumulator.split_and_reenqueue(batch)
    assert -RECORD_BATCH_OVERHEAD * (count - 1) <= accumulator.pool.available_memory < BATCH_SIZE // 2
    with pytest.raises(BufferExhaustedError):
        accumulator.add()
    for _ in range(count):
        (part,) = accumulator.drained()
        part.complete(0, -1)
        accumulator.deallocate(part)
    assert accumulator.pool.available_memory == BATCH_SIZE
    accumulator.add()


def test_the_parts_of_a_batch_accept_no_records() -> None:
    """Their sequence numbers are fixed; another record would use a number of the next batch."""
    manager = TransactionManager()
    manager.initializing()
    manager.initialized(1, 0)
    accumulator = Accumulator(transactions=manager)
    accumulator.add(count=3)
    accumulator.time.sleep(LINGER_MS)
    (batch,) = accumulator.drained()
    count = accumulator.split_and_reenqueue(batch)
    assert accumulator.add(value=b"").new_batch_created
    accumulator.time.sleep(LINGER_MS)
    numbers = []
    for _ in range(count + 1):
        (part,) = accumulator.drained()
        numbers += range(part.base_sequence, part.base_sequence + part.record_count)
        manager.completed(part)
        part.in_flight = False
    assert numbers == [0, 1, 2, 3]


def test_flush_waits_for_the_parts_of_a_batch() -> None:
    """When a split batch wakes up its waiting threads, its parts are registered."""
    accumulator = Accumulator()
    accumulator.add(count=4)
    (batch,) = accumulator.drained()
    seen: list[int] = []

    class Done(threading.Event):
        def set(self) -> None:
            seen.append(len(accumulator._incomplete.all()))

    batch.result._done = Done()
    count = accumulator.split_and_reenqueue(batch)
    assert seen == [count]


def test_flush_waits_for_earlier_records() -> None:
    accumulator = Accumulator()
    accumulator.add()
    accumulator.begin_flush()
    assert accumulator.ready_ids() == {0}
    flushed = threading.Event()
    threading.Thread(target=lambda: accumulator.await_flush_completion() and flushed.set()).start()
    (batch,) = accumulator.drained()
    assert not flushed.wait(0.02)
    batch.complete(0, -1)
    accumulator.deallocate(batch)
    assert flushed.wait(patient_s(60))
    accumulator.add()
    assert accumulator.ready_ids() == set(), "the flush is over"


def test_a_flush_times_out() -> None:
    accumulator = Accumulator()
    accumulator.add()
    accumulator.begin_flush()
    assert not accumulator.await_flush_completion(0)
    assert accumulator.ready_ids() == set()


def test_closing_refuses_records_and_aborts_batches() -> None:
    accumulator = Accumulator()
    errors: list[Exception | None] = []
    accumulator.append(T0, (0, None, VALUE, (), lambda _metadata, error: errors.append(error)), 0)
    accumulator.append(T1, (0, None, VALUE, (), lambda _metadata, error: errors.append(error)), 0)
    accumulator.drained(NODES[0], max_bytes=1)  # one is in flight
    error = ProducerClosedError("closed forcefully")
    accumulator.abort_incomplete_batches(error)
    assert errors == [error, error]
    assert not accumulator.has_incomplete
    with pytest.raises(ProducerClosedError):
        accumulator.add()


def test_a_batch_that_cannot_be_encoded_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    accumulator = Accumulator(compression=CompressionType.GZIP)
    future = accumulator.add().future
    accumulator.time.sleep(LINGER_MS)

    def fail(*_: object) -> bytes:
        raise MemoryError("no room to compress")

    monkeypatch.setattr(records_buffer, "compress", fail)
    assert accumulator.drained() == []
    assert isinstance(future.exception(0), MemoryError)
    assert not accumulator.has_incomplete
    assert accumulator.pool.available_memory == accumulator.pool.total_memory


def test_parts_are_queued_after_retries_with_smaller_numbers() -> None:
    accumulator, _, second, third = two_numbered_batches_in_flight()
    accumulator.reenqueue(second, accumulator.time.hi_res_ms())
    accumulator.split_and_reenqueue(third)
    accumulator.time.sleep(BACKOFF_MS)
    assert accumulator.drained() == [second]
