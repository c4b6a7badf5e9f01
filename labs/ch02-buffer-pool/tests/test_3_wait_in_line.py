"""Task 3: collect returned memory until it is enough; no thread overtakes; no byte is lost."""

import threading

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.producer.buffer_pool import BlockingInCallbackError, BufferExhaustedError


@pytest.mark.points(5, task=3)
def test_a_timeout(new_pool, error_of):
    """200 bytes are requested, 100 are available, and 500 ms pass"""
    clock = MockTime()
    pool = new_pool(200, clock)
    held = pool.allocate(100, 0)
    error = error_of(lambda: pool.allocate(200, 500))
    assert isinstance(error, BufferExhaustedError), f"max.block.ms has passed: BufferExhaustedError, not {error!r}"
    waited_ms = clock.hi_res_ms()
    assert waited_ms == 500, f"it may wait for 500 ms in all, not {waited_ms:.0f}: use one deadline for the loop"
    assert pool.queued == 0, "a thread that gives up must leave the queue (self._waiters): others wait behind it"
    left = pool.available_memory
    assert left == 100, f"the memory that it had collected was lost: {left} of 100 bytes are available. Return it"
    pool.deallocate(held)
    assert pool.available_memory == 200, "everything was returned, but some bytes were lost"
    assert pool.waited_ms == 500, f"waited_ms counts this wait of 500 ms, in vain or not; it is {pool.waited_ms}"
    assert pool.exhausted == 1, f"exhausted counts the waits in vain: 1, not {pool.exhausted}"


@pytest.mark.points(3, task=3)
def test_woken_for_nothing(new_pool, restless, error_of):
    """500 ms, and a wake-up every 100 ms, the first of which brings 100 of 200 bytes"""
    pool = new_pool(200, restless)
    pool.allocate(100, 0)
    error_of(lambda: pool.allocate(200, 500))
    waited_ms = restless.hi_res_ms()
    assert waited_ms == 500, f"max.block.ms is for the whole wait, 500 ms, not {waited_ms:.0f}: use one deadline"


@pytest.mark.points(2, task=3)
def test_the_thread_that_returns_memory(new_pool, error_of):
    """It would wait for itself"""
    pool = new_pool(100, MockTime())
    pool.allocate(100, 0)
    pool.freed_by = threading.current_thread()
    error = error_of(lambda: pool.allocate(100, 500))
    assert isinstance(error, BlockingInCallbackError), (
        f"only this thread (freed_by) returns memory, it must not wait for any: BlockingInCallbackError, not {error!r}"
    )
    assert pool.queued == 0, "it does not wait, so it must not be in the queue"


@pytest.mark.points(2, task=3)
def test_no_more_than_needed(new_pool, taking):
    """150 bytes are requested, two buffers of 100 are returned"""
    pool = new_pool(300)
    pieces = [pool.allocate(100, 0) for _ in range(3)]
    thread = taking(pool, 150)
    for piece in pieces[:2]:
        pool.wait_for_line_of(1)
        pool.deallocate(piece)
        thread.result(0.05)
    got = thread.result()
    assert got is not None, "200 bytes were returned, 150 are requested, but the thread still waits"
    left = pool.available_memory
    assert left == 50, f"take no more than what is missing: 50 of the 200 returned bytes are available, not {left}"


@pytest.mark.points(3, task=3)
def test_the_second_in_line(new_pool, taking):
    """It is woken by mistake, and then gives up"""
    pool = new_pool(300)
    pieces = [pool.allocate(100, 0) for _ in range(3)]
    first = taking(pool, 200)
    pool.wait_for_line_of(1)
    second = taking(pool, 100, 1000)
    pool.wait_for_line_of(2)
    with pool._lock:  # memory for the second, which is not its turn
        pool._free.append(pieces[0])
        pool._waiters[1].notify()
    assert not isinstance(second.result(0.1), bytearray), (
        "the second in the queue was woken while there is memory, and took it: it must look whether it is its turn"
    )
    assert isinstance(second.result(), BufferExhaustedError), "the second has waited for 1,000 ms: it gives up"
    assert pool.queued == 1, f"one has given up, the other one still waits: one in the queue, not {pool.queued}"
    pool.deallocate(pieces[1])
    assert first.result() is not None, (
        "the second has given up, and the first never gets its memory: who left the queue?"
    )


@pytest.mark.points(5, task=3)
def test_the_returned_buffer_is_reused(new_pool, taking):
    """A pooled buffer for a waiting thread"""
    pool = new_pool(100)
    buffer = pool.allocate(100, 0)
    thread = taking(pool, 100)
    pool.wait_for_line_of(1)
    pool.deallocate(buffer)
    got = thread.result()
    assert got is not None, "a buffer was returned, but the thread that waits for it still waits"
    assert got is buffer, "a free buffer of the right size was returned: hand it out instead of allocating another one"
    assert pool.queued == 0, "a thread that has its buffer must leave the queue (self._waiters)"


@pytest.mark.points(4, task=3)
def test_collecting(new_pool, taking):
    """300 bytes are returned in three pieces"""
    pool = new_pool(300)
    pieces = [pool.allocate(100, 0) for _ in range(3)]
    thread = taking(pool, 300)
    pool.wait_for_line_of(1)
    for number, piece in enumerate(pieces[:2], 1):
        pool.deallocate(piece)
        got = thread.result(0.05)
        assert got is None, (
            f"{number}00 bytes were returned, 300 are requested: you handed out memory that is not available"
        )
    pool.deallocate(pieces[2])
    got = thread.result()
    assert got is not None, (
        "300 bytes were returned piece by piece, 300 are requested: the waiting thread must collect them"
    )
    assert len(got) == 300, f"300 bytes were requested, {len(got)} were handed out"
    assert pool.available_memory == 0, f"everything is in use, but {pool.available_memory} bytes are available"


@pytest.mark.points(4, task=3)
def test_first_come_first_served(new_pool, taking):
    """A large request waits, a small one comes later"""
    pool = new_pool(300)
    pieces = [pool.allocate(100, 0) for _ in range(3)]
    large = taking(pool, 200)
    pool.wait_for_line_of(1)
    small = taking(pool, 100)
    pool.wait_for_line_of(2)
    pool.deallocate(pieces[0])
    assert small.result(0.05) is None, (
        "the small request came later: it must not overtake the thread that collects 200 bytes"
    )
    with pool._lock:  # both are returned at the same moment: only the first thread is notified
        pool._return(100, pieces[1])
        pool._return(100, pieces[2])
    assert large.result() is not None, "200 bytes were returned, but the first thread in the queue still waits"
    got = small.result()
    assert got is not None, (
        "the first thread has left 100 bytes over: it must wake the next one, which still waits for them"
    )


@pytest.mark.points(2, task=3)
def test_memory_without_a_buffer(new_pool, taking):
    """A buffer of another size is returned to a thread that waits for a pooled one"""
    pool = new_pool(300)
    held = pool.allocate(300, 0)
    thread = taking(pool, 100)
    pool.wait_for_line_of(1)
    pool.deallocate(held)
    got = thread.result()
    assert got is not None, (
        "300 bytes are unallocated and no buffer is free: the thread that waits for 100 bytes takes them from the "
        "unallocated memory, not from the empty self._free"
    )
    assert len(got) == 100, f"100 bytes were requested, {len(got)} were handed out"
    left = pool.available_memory
    assert left == 200, f"100 of 300 bytes are in use: 200 are available, not {left}"
