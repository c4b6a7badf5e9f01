"""Task 2: the thread waits for memory without the lock, and everything may have changed afterwards."""

from collections import deque

import pytest

from kafka_learn.labs.locks import touched_only_with
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.producer.buffer_pool import BufferPool

MEMORY = 20 * 500


class PoolWithNews(BufferPool):
    """Something happens while a thread waits for memory."""

    accumulator = None
    news = None

    def allocate(self, size, max_time_to_block_ms):
        if self.accumulator is not None:
            lock = self.accumulator._lock
            assert not lock.locked(), (
                "you hold the lock while you wait for memory: no thread can send, so no memory is returned"
            )
            news, self.news = self.news, None
            if news:
                news(self.accumulator)
        return super().allocate(size, max_time_to_block_ms)


def accumulator_with(new_accumulator, news):
    accumulator = new_accumulator(PoolWithNews)
    accumulator.pool.accumulator, accumulator.pool.news = accumulator, news
    return accumulator


@pytest.mark.points(4, task=2)
def test_batches_fill_one_after_the_other(new_accumulator, numbers_in):
    """Six records, four to a batch"""
    accumulator = new_accumulator()
    results = [accumulator.add(number) for number in range(6)]
    begun = [number for number, result in enumerate(results) if result.new_batch_created]
    assert begun == [0, 4], f"records 0 and 4 create a batch (new_batch_created), yours were {begun}"
    assert results[4].batch_is_full, "the first batch is full: with record 4 there is something to send"
    assert accumulator.has_incomplete, "a new batch is incomplete (self._incomplete): flush waits for it"
    first, second = accumulator.take() + accumulator.take()
    assert numbers_in(first) + numbers_in(second) == list(range(6)), "records must be sent in the order of append"


@pytest.mark.points(3, task=2)
def test_a_large_record_gets_a_large_buffer(new_accumulator, numbers_in):
    """A record of four times batch.size"""
    accumulator = new_accumulator()
    try:
        accumulator.add(1, size=2000)
    except AssertionError:
        pytest.fail("a record of 2,000 bytes does not fit into batch.size=500: allocate what it needs, if that is more")
    assert numbers_in(accumulator.take()[0]) == [1], "the large record must be in a batch of its own"


class PoolWithoutMemory(BufferPool):
    """Notes how long a thread would wait for memory."""

    asked = None

    def allocate(self, size, max_time_to_block_ms):
        self.asked = max_time_to_block_ms
        return super().allocate(size, max_time_to_block_ms)


@pytest.mark.points(2, task=2)
def test_it_waits_no_longer_than_it_may(new_accumulator):
    """max_time_to_block_ms"""
    accumulator = new_accumulator(PoolWithoutMemory)
    accumulator.append(TopicPartition("t", 0), (1000, None, b"1", (), None), 1234)
    asked = accumulator.pool.asked
    assert asked == 1234, (
        f"the caller may block for 1,234 ms more: pass max_time_to_block_ms on to the pool, not {asked}"
    )


@pytest.mark.points(4, task=2)
def test_another_thread_was_faster(new_accumulator, numbers_in):
    """Another thread creates a batch while this one waits for memory"""
    accumulator = accumulator_with(new_accumulator, lambda accumulator: accumulator.add(1))
    result = accumulator.add(2)
    (queue,) = accumulator._batches.values()
    assert len(queue) == 1, "another thread has created a batch meanwhile: check again before you create a second one"
    assert not result.new_batch_created, "the record belongs in the batch of the other thread"
    used = MEMORY - accumulator.pool.available_memory
    assert used == 500, f"one batch, but {used} bytes are in use: the buffer that was not needed must be returned"
    assert numbers_in(queue[0]) == [1, 2], f"records 1 and 2 belong in it, but it has {numbers_in(queue[0])}"


@pytest.mark.points(4, task=2)
def test_closed_while_it_waits(new_accumulator, closed_error_of):
    """The producer is closed while this thread waits for memory"""
    accumulator = accumulator_with(new_accumulator, lambda accumulator: accumulator.close())
    assert closed_error_of(lambda: accumulator.add(1)), "the producer was closed meanwhile, but you accepted a record"
    lost = MEMORY - accumulator.pool.available_memory
    assert lost == 0, f"{lost} bytes are never returned: whatever is raised, the buffer must be returned to the pool"


@pytest.mark.points(2, task=2)
def test_is_there_something_to_send(new_accumulator):
    """A first record that leaves room, and one that fills its batch"""
    result = new_accumulator().add(1)
    assert not result.batch_is_full, (
        "the only batch has room for three more records: batch_is_full would wake the sender for nothing"
    )
    result = new_accumulator().add(1, size=2000)
    assert result.batch_is_full, "the record fills its batch: without batch_is_full, the sender sleeps until linger.ms"


@pytest.mark.points(1, task=2)
def test_the_queues_are_only_touched_with_the_lock(new_accumulator):
    """The lock is held where a new batch enters its queue"""
    accumulator = new_accumulator()
    held = []

    class Queue(deque):
        def __len__(self):
            held.append(accumulator._lock.is_held())
            return super().__len__()

    class Queues(dict):
        def setdefault(self, partition, queue):
            return super().setdefault(partition, Queue(queue))

    with touched_only_with(accumulator, "_lock", state=["_batches", "_incomplete"], within=["_append_to_new_batch"]):
        accumulator._batches = Queues()
        accumulator.add(1)
    assert all(held), "the queue may change as soon as the lock is released: ask for its length with the lock held"
