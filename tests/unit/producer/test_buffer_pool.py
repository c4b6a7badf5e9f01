"""Bounded memory: allocation, waiting, exhaustion."""

from __future__ import annotations

import random
import threading

import pytest

from kafka_lite.common.errors import ApiError, KafkaError
from kafka_lite.common.time import MockTime
from kafka_lite.producer.buffer_pool import BufferExhaustedError, BufferPool
from tests.support.patience import patient_s

SIZE = 100
LONG_MS = 60_000


def waiting(pool: BufferPool, count: int) -> None:
    """Wait until this many threads are waiting."""
    while pool.queued < count:
        threading.Event().wait(0.001)


def test_buffers_of_the_poolable_size_are_reused() -> None:
    pool = BufferPool(10 * SIZE, SIZE)
    buffer = pool.allocate(SIZE, 0)
    assert len(buffer) == SIZE
    assert pool.unallocated_memory == pool.available_memory == 9 * SIZE
    pool.deallocate(buffer)
    assert pool.unallocated_memory == 9 * SIZE
    assert pool.available_memory == 10 * SIZE
    assert pool.allocate(SIZE, 0) is buffer


def test_buffers_of_other_sizes_are_not_kept() -> None:
    pool = BufferPool(10 * SIZE, SIZE)
    pool.deallocate(pool.allocate(3 * SIZE, 0))
    assert pool.unallocated_memory == pool.available_memory == 10 * SIZE


def test_free_buffers_are_dropped_for_a_large_allocation() -> None:
    pool = BufferPool(10 * SIZE, SIZE)
    for buffer in [pool.allocate(SIZE, 0) for _ in range(10)]:
        pool.deallocate(buffer)
    assert pool.unallocated_memory == 0
    assert len(pool.allocate(10 * SIZE, 0)) == 10 * SIZE
    assert pool.available_memory == 0


def test_exchanging_a_buffer_does_not_wait() -> None:
    """The excess is owed: no memory is allocated before it is returned."""
    pool = BufferPool(10 * SIZE, SIZE, MockTime())
    whole = pool.allocate(10 * SIZE, 0)
    parts = [bytearray(6 * SIZE), bytearray(5 * SIZE)]
    pool.exchange(whole, parts)
    assert pool.available_memory == -SIZE
    pool.deallocate(parts.pop())
    with pytest.raises(BufferExhaustedError):
        pool.allocate(4 * SIZE + 1, 10)
    assert len(pool.allocate(4 * SIZE, 0)) == 4 * SIZE
    pool.deallocate(parts.pop())
    assert pool.available_memory == 6 * SIZE


def test_a_thread_that_waits_while_memory_is_owed_gets_it_eventually() -> None:
    pool = BufferPool(10 * SIZE, SIZE)
    whole, got = pool.allocate(10 * SIZE, 0), []
    thread = threading.Thread(target=lambda: got.append(pool.allocate(2 * SIZE, LONG_MS)))
    thread.start()
    waiting(pool, 1)
    parts = [bytearray(7 * SIZE), bytearray(4 * SIZE)]
    pool.exchange(whole, parts)
    pool.deallocate(bytearray(SIZE // 2))  # still owed, so the waiting thread must neither get nor consume anything
    for part in parts:
        pool.deallocate(part)
    thread.join(LONG_MS / 1000)
    assert len(got[0]) == 2 * SIZE
    pool.deallocate(got[0])
    assert pool.available_memory == 10 * SIZE + SIZE // 2


def test_more_than_the_total_memory_is_refused() -> None:
    with pytest.raises(ApiError, match=r"buffer\.memory is 1000"):
        BufferPool(10 * SIZE, SIZE).allocate(10 * SIZE + 1, LONG_MS)


def test_a_timed_out_allocation_takes_nothing() -> None:
    pool = BufferPool(2 * SIZE, SIZE, MockTime())
    held = pool.allocate(SIZE, 0)
    with pytest.raises(BufferExhaustedError, match="within the configured max blocking time 500 ms"):
        pool.allocate(2 * SIZE, 500)
    assert pool.queued == 0
    assert pool.available_memory == SIZE
    pool.deallocate(held)
    assert pool.available_memory == 2 * SIZE


def test_waiting_threads_are_served_in_order() -> None:
    """A large allocation that waits is not starved by later small ones."""
    pool, order = BufferPool(2 * SIZE, SIZE), []
    held = [pool.allocate(SIZE, 0), pool.allocate(SIZE, 0)]

    def take(name: str, size: int) -> None:
        buffer = pool.allocate(size, LONG_MS)
        order.append(name)
        pool.deallocate(buffer)

    threads = []
    for number, (name, size) in enumerate([("large", 2 * SIZE), ("small", SIZE)], 1):
        threads.append(threading.Thread(target=take, args=(name, size)))
        threads[-1].start()
        waiting(pool, number)
    pool.deallocate(held[0])
    assert order == [], "one is not enough for the first, and the second has to wait for it"
    pool.deallocate(held[1])
    for thread in threads:
        thread.join(patient_s(60))
    assert order == ["large", "small"]


def test_closing_wakes_up_waiting_threads() -> None:
    pool = BufferPool(SIZE, SIZE)
    pool.allocate(SIZE, 0)
    errors = []

    def take() -> None:
        try:
            pool.allocate(SIZE, LONG_MS)
        except KafkaError as error:
            errors.append(str(error))

    thread = threading.Thread(target=take)
    thread.start()
    waiting(pool, 1)
    pool.close()
    thread.join(patient_s(60))
    assert errors == ["Producer closed while allocating memory"]
    with pytest.raises(KafkaError, match="closed"):
        pool.allocate(SIZE, 0)


def test_many_threads_never_allocate_more_than_the_total() -> None:
    pool, lock = BufferPool(5 * SIZE, SIZE), threading.Lock()
    in_use, highest = 0, 0

    def work(seed: int) -> None:
        nonlocal in_use, highest
        rng = random.Random(seed)
        for _ in range(200):
            size = SIZE if rng.random() < 0.7 else rng.randrange(1, 3 * SIZE)
            buffer = pool.allocate(size, LONG_MS)
            with lock:
                in_use += size
                highest = max(highest, in_use)
            with lock:
                in_use -= size
            pool.deallocate(buffer)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(patient_s(60))
    assert highest <= 5 * SIZE
    assert pool.available_memory == 5 * SIZE
    assert pool.queued == 0
