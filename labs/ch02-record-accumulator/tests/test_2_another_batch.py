"""Task 2: memory is waited for without the lock, and the world may be another one afterwards."""

import pytest

from kafka_lite.producer.buffer_pool import BufferPool

MEMORY = 20 * 500


class PoolWithNews(BufferPool):
    """Something happens while a thread waits for memory."""

    accumulator = None
    news = None

    def allocate(self, size, max_time_to_block_ms):
        if self.accumulator is not None:
            lock = self.accumulator._lock
            assert not lock.locked(), "you hold the lock while you wait for memory: nobody can send, so none comes back"
            news, self.news = self.news, None
            if news:
                news(self.accumulator)
        return super().allocate(size, max_time_to_block_ms)


def accumulator_with(new_accumulator, news):
    accumulator = new_accumulator(PoolWithNews)
    accumulator.pool.accumulator, accumulator.pool.news = accumulator, news
    return accumulator


@pytest.mark.points(5, task=2)
def test_batches_fill_one_after_the_other(new_accumulator, numbers_in):
    """Six records, four to a batch"""
    accumulator = new_accumulator()
    results = [accumulator.add(number) for number in range(6)]
    begun = [number for number, result in enumerate(results) if result.new_batch_created]
    assert begun == [0, 4], f"records 0 and 4 begin a batch (new_batch_created), yours were {begun}"
    assert results[4].batch_is_full, "the batch before is full: with record 4 there is something to send"
    assert accumulator.has_incomplete, "a batch that was begun is incomplete (self._incomplete): flush waits for it"
    first, second = accumulator.take() + accumulator.take()
    assert numbers_in(first) + numbers_in(second) == list(range(6)), "records must leave in the order of append"


@pytest.mark.points(4, task=2)
def test_a_large_record_gets_a_large_buffer(new_accumulator, numbers_in):
    """A record of four times batch.size"""
    accumulator = new_accumulator()
    try:
        accumulator.add(1, size=2000)
    except AssertionError:
        pytest.fail("a record of 2,000 bytes does not fit into batch.size=500: ask for what it needs, if that is more")
    assert numbers_in(accumulator.take()[0]) == [1], "the large record has to be in a batch of its own"


@pytest.mark.points(6, task=2)
def test_somebody_was_quicker(new_accumulator, numbers_in):
    """Another thread begins a batch while this one waits for memory"""
    accumulator = accumulator_with(new_accumulator, lambda accumulator: accumulator.add(1))
    result = accumulator.add(2)
    (queue,) = accumulator._batches.values()
    assert len(queue) == 1, "another thread has begun a batch meanwhile: look again before you begin a second"
    assert not result.new_batch_created, "the record went into the batch of the other thread"
    used = MEMORY - accumulator.pool.available_memory
    assert used == 500, f"one batch, but {used} bytes are taken: the buffer that was not needed has to be given back"
    assert numbers_in(queue[0]) == [1, 2], f"records 1 and 2 belong into it, there are {numbers_in(queue[0])}"


@pytest.mark.points(5, task=2)
def test_closed_while_it_waits(new_accumulator, closed_error_of):
    """The producer is closed while this thread waits for memory"""
    accumulator = accumulator_with(new_accumulator, lambda accumulator: accumulator.close())
    assert closed_error_of(lambda: accumulator.add(1)), "the producer was closed meanwhile, and you took a record"
    lost = MEMORY - accumulator.pool.available_memory
    assert lost == 0, f"{lost} bytes never come back: whatever is raised, the buffer goes back to the pool"
