"""Task 4: no thread waits for a closed pool."""

import pytest

from kafka_learn.labs.locks import touched_only_with
from kafka_lite.common.time import MockTime
from kafka_lite.producer.buffer_pool import ProducerClosedError


@pytest.mark.points(6, task=4)
def test_all_waiting_threads_are_woken(new_pool, taking):
    """Three threads wait, the producer is closed"""
    pool = new_pool(100)
    pool.allocate(100, 0)
    threads = []
    for number in range(3):
        threads.append(taking(pool, 100))
        pool.wait_for_line_of(number + 1)
    pool.close()
    errors = [thread.result() for thread in threads]
    woken = [error for error in errors if isinstance(error, ProducerClosedError)]
    assert len(woken) == 3, (
        f"three threads waited, {len(woken)} got the error that the producer is closed (ProducerClosedError)"
    )


@pytest.mark.points(2, task=4)
def test_nothing_is_handed_out_after_close(new_pool, error_of):
    """allocate after close"""
    pool = new_pool()
    with touched_only_with(pool, "_lock", state=["_closed", "_waiters"], within=["close"]):
        pool.close()
    error = error_of(lambda: pool.allocate(100, 0))
    assert isinstance(error, ProducerClosedError), f"the pool is closed: ProducerClosedError, not {error!r}"


@pytest.mark.points(2, task=4)
def test_memory_comes_back_with_the_end(new_pool, error_of):
    """A buffer is returned, and the pool closed, before the waiting thread wakes up"""

    class Closing(MockTime):
        def wait(self, _condition, _timeout_ms):
            pool._free.append(held)
            pool._closed = True
            return True

    pool = new_pool(100, Closing())
    held = pool.allocate(100, 0)
    error = error_of(lambda: pool.allocate(100, 500))
    assert isinstance(error, ProducerClosedError), (
        "the pool was closed during the wait, so nothing is handed out, even if memory has come back: look right after "
        f"each wait (self._ensure_open), ProducerClosedError, not {error!r}"
    )
