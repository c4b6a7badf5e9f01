"""Task 1: hand out available memory, and never more."""

import threading

import pytest

from kafka_learn.labs.locks import touched_only_with
from kafka_lite.common.errors import ApiError, Errors


@pytest.mark.points(4, task=1)
def test_every_byte_is_counted(new_pool):
    """A pooled buffer, and one of another size"""
    pool = new_pool()
    state = ["_closed", "_free", "_unallocated", "_waiters"]
    with touched_only_with(pool, "_lock", state=state, within=["allocate"]):
        first = pool.allocate(100, 0)
    assert len(first) == 100, "the buffer must have the requested size"
    assert pool.available_memory == 900, (
        f"100 of 1,000 bytes are in use, but available_memory is {pool.available_memory}: keep count"
    )
    assert len(pool.allocate(250, 0)) == 250, "the buffer must have the requested size"
    left = pool.available_memory
    assert left == 650, (
        f"350 of 1,000 bytes are in use: 650 are available, not {left}; otherwise you exceed buffer.memory"
    )


@pytest.mark.points(4, task=1)
def test_a_free_buffer_is_reused(new_pool):
    """A buffer that was returned"""
    pool = new_pool().with_free_buffers(1)
    (free,) = pool._free
    assert pool.allocate(100, 0) is free, (
        "there was a free buffer of this size: hand it out instead of allocating another one"
    )
    assert not pool._free, "the buffer is in use, it is not free any more"
    assert pool.unallocated_memory == 900, "a pooled buffer is reused; the unallocated memory does not change"


@pytest.mark.points(5, task=1)
def test_free_buffers_make_room(new_pool):
    """All memory is in free buffers, and a large buffer is requested"""
    pool = new_pool().with_free_buffers(10)
    pool._wait_for = lambda *_: pytest.fail("ten free buffers are 1,000 bytes: drop some of them instead of waiting")
    size = len(pool.allocate(950, 0))
    assert size == 950, f"950 bytes were requested: hand out a buffer of 950 bytes, not {size}"
    left = pool.available_memory
    assert left == 50, f"950 of 1,000 bytes are in use: 50 are available, not {left}"
    pool = new_pool().with_free_buffers(3)
    pool._free_up(700)
    assert len(pool._free) == 3, f"700 bytes are unallocated already: drop no free buffer; {len(pool._free)} of 3 left"
    size = len(pool.allocate(50, 0))
    assert size == 50, f"a free buffer of 100 bytes is not what was requested: 50 bytes, not {size}"
    pool.allocate(700, 0)
    count = len(pool._free)
    assert count == 2, f"650 bytes were unallocated, 700 requested: drop one of three free buffers, not {3 - count}"


@pytest.mark.points(2, task=1)
def test_all_of_it(new_pool):
    """1,000 of 1,000 bytes"""
    pool = new_pool()
    pool._wait_for = lambda *_: pytest.fail("1,000 of 1,000 bytes are available, exactly enough: do not wait")
    try:
        size = len(pool.allocate(1000, 0))
    except ApiError as error:
        pytest.fail(f"1,000 of 1,000 bytes are not too many, so they are not refused ({error})")
    assert size == 1000, f"1,000 bytes were requested: hand out a buffer of 1,000 bytes, not {size}"


@pytest.mark.points(4, task=1)
def test_more_than_the_total_memory(new_pool, error_of):
    """1,001 of 1,000 bytes"""
    pool = new_pool()
    pool._wait_for = lambda *_: pytest.fail("1,001 of 1,000 bytes can never be available: raise at once, do not wait")
    error = error_of(lambda: pool.allocate(1001, 10_000))
    refused = isinstance(error, ApiError) and error.error is Errors.MESSAGE_TOO_LARGE
    assert refused, f"1,001 of 1,000 bytes can never be available: Errors.MESSAGE_TOO_LARGE, not {error!r}"


@pytest.mark.points(6, task=1)
def test_no_thread_overtakes_another(new_pool):
    """Memory is available, but a thread is already waiting"""
    for size in (100, 50):
        pool = new_pool().with_free_buffers(2)
        pool._waiters.append(threading.Condition(pool._lock))
        waited = bytearray(size)
        pool._wait_for = lambda *_, waited=waited: waited
        got = pool.allocate(size, 0)
        assert got is waited, f"a waiting thread was overtaken by one that requests {size}: it may wait for ever"
