"""Task 3: collect what comes back until it is enough; nobody overtakes; nothing gets lost."""

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.producer.buffer_pool import BufferExhaustedError


@pytest.mark.points(9, task=3)
def test_waiting_in_vain(new_pool, error_of):
    """200 bytes are wanted, 100 are there, and 500 ms pass"""
    clock = MockTime()
    pool = new_pool(200, clock)
    held = pool.allocate(100, 0)
    error = error_of(lambda: pool.allocate(200, 500))
    assert isinstance(error, BufferExhaustedError), f"max.block.ms passed in vain: BufferExhaustedError, not {error!r}"
    waited_ms = clock.hi_res_ms()
    assert waited_ms == 500, f"it may wait for 500 ms in all, not {waited_ms:.0f}: one deadline for the loop"
    assert pool.queued == 0, "who has given up must leave the line (self._waiters): others wait behind it"
    left = pool.available_memory
    assert left == 100, f"what it had collected got lost: {left} of 100 bytes are available. Give it back"
    pool.deallocate(held)
    assert pool.available_memory == 200, "all is back, and some bytes got lost"


@pytest.mark.points(5, task=3)
def test_the_very_buffer_that_came_back(new_pool, taking):
    """A pooled buffer for one who waits"""
    pool = new_pool(100)
    buffer = pool.allocate(100, 0)
    thread = taking(pool, 100)
    pool.wait_for_line_of(1)
    pool.deallocate(buffer)
    got = thread.result()
    assert got is not None, "a buffer came back, and the thread that waits for it still waits"
    assert got is buffer, "a free buffer of the right size came back: hand out that one, do not make another"
    assert pool.queued == 0, "who has its buffer must leave the line (self._waiters)"


@pytest.mark.points(7, task=3)
def test_collecting(new_pool, taking):
    """300 bytes come back in three pieces"""
    pool = new_pool(300)
    pieces = [pool.allocate(100, 0) for _ in range(3)]
    thread = taking(pool, 300)
    pool.wait_for_line_of(1)
    for number, piece in enumerate(pieces[:2], 1):
        pool.deallocate(piece)
        got = thread.result(0.05)
        assert got is None, f"{number}00 bytes came back, 300 are wanted: you handed out what is not there"
    pool.deallocate(pieces[2])
    got = thread.result()
    assert got is not None, "300 bytes came back piece by piece, 300 are wanted: nobody collects them"
    assert len(got) == 300, f"300 bytes are wanted, {len(got)} were handed out"
    assert pool.available_memory == 0, f"all is handed out, yet {pool.available_memory} bytes are available"


@pytest.mark.points(9, task=3)
def test_first_come_first_served(new_pool, taking):
    """A large one waits, a small one comes later"""
    pool = new_pool(300)
    pieces = [pool.allocate(100, 0) for _ in range(3)]
    large = taking(pool, 200)
    pool.wait_for_line_of(1)
    small = taking(pool, 100)
    pool.wait_for_line_of(2)
    pool.deallocate(pieces[0])
    assert small.result(0.05) is None, "the small one came later: it must not overtake the one that collects 200 bytes"
    with pool._lock:  # both come back in one moment: only the first of the line is told
        pool._return(100, pieces[1])
        pool._return(100, pieces[2])
    assert large.result() is not None, "200 bytes came back, and the first of the line still waits"
    got = small.result()
    assert got is not None, "the first has left 100 bytes over: it has to wake the next, who still waits for them"
