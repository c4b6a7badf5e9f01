"""Task 2: a returned buffer is kept or dropped, and the first waiting thread is notified."""

import pytest


class Waiter:
    def __init__(self):
        self.notified = 0

    def notify(self, _n=1):
        self.notified += 1


@pytest.mark.points(8, task=2)
def test_kept_or_dropped(new_pool):
    """A pooled buffer, and one of another size"""
    pool = new_pool()
    pool._unallocated -= 400
    buffer = bytearray(100)
    pool.deallocate(buffer)
    assert [id(one) for one in pool._free] == [id(buffer)], "a buffer of poolable_size is kept in self._free"
    pool.deallocate(bytearray(300))
    assert len(pool._free) == 1, "a buffer of 300 bytes is not kept: hardly any request has just this size"
    left = pool.available_memory
    assert left == 1000, f"everything was returned: 1,000 bytes are available, not {left}"
    pool._unallocated -= 100
    with pool._lock:
        pool._return(100, None)
    assert None not in pool._free, "there is no buffer to keep (None), only 100 bytes: they are unallocated again"
    left = pool.unallocated_memory
    assert left == 900, f"100 bytes without a buffer came back: 900 are unallocated (and 100 in a buffer), not {left}"


@pytest.mark.points(4, task=2)
@pytest.mark.parametrize("size", [100, 300], ids=["a-pooled-buffer", "one-of-another-size"])
def test_the_first_waiting_thread_is_notified(new_pool, size):
    """Two threads wait, one buffer is returned"""
    pool, first, second = new_pool(), Waiter(), Waiter()
    pool._waiters.extend([first, second])
    pool._unallocated = 0
    pool.deallocate(bytearray(size))
    assert second.notified == 0, (
        "the second thread in the queue was woken: it is not its turn, and the first one keeps sleeping"
    )
    assert first.notified == 1, (
        "the first thread in the queue waits for memory, memory was returned, and the thread was not notified"
    )


@pytest.mark.points(4, task=2)
def test_no_memory_to_hand_out(new_pool):
    """No thread is woken without memory"""
    pool, waiter = new_pool(), Waiter()
    pool._unallocated = 0
    pool._notify_first()
    pool._waiters.append(waiter)
    pool._notify_first()
    assert waiter.notified == 0, "no thread may be woken: there is neither unallocated memory nor a free buffer"
