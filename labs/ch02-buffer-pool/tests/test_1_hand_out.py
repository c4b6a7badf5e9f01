"""Task 1: what there is, and never more."""

import threading

import pytest

from kafka_lite.common.errors import ApiError, Errors


@pytest.mark.points(6, task=1)
def test_every_byte_is_counted(new_pool):
    """A pooled buffer, and one of another size"""
    pool = new_pool()
    assert len(pool.allocate(100, 0)) == 100, "the buffer must have as many bytes as were asked for"
    assert pool.available_memory == 900, f"100 of 1,000 bytes are handed out, {pool.available_memory} are left: count"
    assert len(pool.allocate(250, 0)) == 250, "the buffer must have as many bytes as were asked for"
    left = pool.available_memory
    assert left == 650, f"350 of 1,000 bytes are handed out: 650 are left, not {left}; else you go beyond buffer.memory"


@pytest.mark.points(4, task=1)
def test_a_free_buffer_is_used_again(new_pool):
    """A buffer that was given back"""
    pool = new_pool().with_free_buffers(1)
    (free,) = pool._free
    assert pool.allocate(100, 0) is free, "there was a free buffer of this size: hand out that one, do not make another"
    assert not pool._free, "the buffer is handed out, it is not free any more"
    assert pool.unallocated_memory == 900, "a pooled buffer changes its owner; what is unallocated stays as it is"


@pytest.mark.points(5, task=1)
def test_free_buffers_make_room(new_pool):
    """All memory lies in free buffers, and a large one is wanted"""
    pool = new_pool().with_free_buffers(10)
    pool._wait_for = lambda *_: pytest.fail("ten free buffers are 1,000 bytes: let go of them instead of waiting")
    assert len(pool.allocate(950, 0)) == 950
    left = pool.available_memory
    assert left == 50, f"950 of 1,000 bytes are handed out: 50 are left, not {left}"


@pytest.mark.points(4, task=1)
def test_more_than_there_will_ever_be(new_pool, error_of):
    """1,001 of 1,000 bytes"""
    pool = new_pool()
    pool._wait_for = lambda *_: pytest.fail("1,001 of 1,000 bytes will never come: refuse at once, do not wait")
    error = error_of(lambda: pool.allocate(1001, 10_000))
    refused = isinstance(error, ApiError) and error.error is Errors.MESSAGE_TOO_LARGE
    assert refused, f"1,001 of 1,000 bytes will never come: Errors.MESSAGE_TOO_LARGE, not {error!r}"


@pytest.mark.points(6, task=1)
def test_nobody_is_overtaken(new_pool):
    """Memory is there, but somebody waits"""
    for size in (100, 50):
        pool = new_pool().with_free_buffers(2)
        pool._waiters.append(threading.Condition(pool._lock))
        waited = bytearray(size)
        pool._wait_for = lambda *_, waited=waited: waited
        got = pool.allocate(size, 0)
        assert got is waited, f"a thread that waits was overtaken by one that wants {size}: it may wait for ever"
