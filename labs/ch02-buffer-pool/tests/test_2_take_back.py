"""Task 2: what comes back is kept or forgotten, and the first of the line hears of it."""

import pytest


class Waiter:
    def __init__(self):
        self.notified = 0

    def notify(self, _n=1):
        self.notified += 1


@pytest.mark.points(8, task=2)
def test_kept_or_forgotten(new_pool):
    """A pooled buffer, and one of another size"""
    pool = new_pool()
    pool._unallocated -= 400
    buffer = bytearray(100)
    pool.deallocate(buffer)
    assert [id(one) for one in pool._free] == [id(buffer)], "a buffer of poolable_size is kept in self._free"
    pool.deallocate(bytearray(300))
    assert len(pool._free) == 1, "a buffer of 300 bytes is not kept: nobody will ask for just this size again"
    left = pool.available_memory
    assert left == 1000, f"all is back: 1,000 bytes are available, not {left}"


@pytest.mark.points(4, task=2)
@pytest.mark.parametrize("size", [100, 300], ids=["a-pooled-buffer", "one-of-another-size"])
def test_the_first_of_the_line_hears_of_it(new_pool, size):
    """Two wait, a buffer comes back"""
    pool, first, second = new_pool(), Waiter(), Waiter()
    pool._waiters.extend([first, second])
    pool._unallocated = 0
    pool.deallocate(bytearray(size))
    assert second.notified == 0, "the second of the line was woken: it is not its turn, and the first sleeps on"
    assert first.notified == 1, "the first of the line waits for memory, memory came, and nobody told it"


@pytest.mark.points(4, task=2)
def test_nothing_to_have(new_pool):
    """Nobody is woken for nothing"""
    pool, waiter = new_pool(), Waiter()
    pool._unallocated = 0
    pool._notify_first()
    pool._waiters.append(waiter)
    pool._notify_first()
    assert waiter.notified == 0, "there is nothing to have: neither unallocated memory nor a free buffer"
