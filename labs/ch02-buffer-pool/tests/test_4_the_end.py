"""Task 4: no thread waits for a closed pool."""

import pytest

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


@pytest.mark.points(4, task=4)
def test_nothing_is_handed_out_after_close(new_pool, error_of):
    """allocate after close"""
    pool = new_pool()
    pool.close()
    error = error_of(lambda: pool.allocate(100, 0))
    assert isinstance(error, ProducerClosedError), f"the pool is closed: ProducerClosedError, not {error!r}"
