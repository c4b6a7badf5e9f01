"""Task 2: two threads have events for the same operation."""

import threading

import pytest


@pytest.fixture
def slow_class(operation_class):
    """Its first check takes until ``go_on``; by then, its result is outdated."""

    class Slow(operation_class):
        def __init__(self):
            super().__init__()
            self.inside, self.go_on = threading.Event(), threading.Event()

        def try_complete(self):
            self.tries += 1
            seen = self.ready
            if self.tries == 1:
                self.inside.set()
                self.go_on.wait(5)
            return seen and self.force_complete()

    return Slow


@pytest.mark.points(4, task=2)
def test_what_it_returns(operation):
    """True for the call that completed it"""
    assert operation.safe_try_complete() is False, "it is not ready: False"
    assert operation.tries == 1, f"one call and no other thread: one check, not {operation.tries}"
    operation.ready = True
    assert operation.safe_try_complete() is True, "it was ready, and this call completed it: True"
    assert operation.safe_try_complete() is False, "it had completed before this call: False"
    assert operation.completions == 1, f"it was completed {operation.completions} times"


@pytest.mark.points(5, task=2)
def test_no_thread_waits_for_a_running_check(slow_class, in_thread):
    """The second thread does not block"""
    operation = slow_class()
    operation.tries = 1
    operation.safe_try_complete()  # first in this thread, where a missing body is reported
    operation = slow_class()
    first = in_thread(operation.safe_try_complete)
    operation.inside.wait(4)
    second = in_thread(operation.safe_try_complete)
    ended = second.ended(2)
    tries = operation.tries
    operation.go_on.set()
    first.ended(4)
    assert ended, "the second thread waited for the first: each may hold a lock that the other one needs"
    assert tries == 1, "two threads were in try_complete at once: one at a time"


@pytest.mark.points(6, task=2)
def test_the_event_is_not_lost(slow_class, in_thread):
    """The first thread checked before the event, the second one comes with it"""
    operation = slow_class()
    operation.tries = 1
    operation.safe_try_complete()  # first in this thread, where a missing body is reported
    operation = slow_class()
    first = in_thread(operation.safe_try_complete)
    operation.inside.wait(4)
    operation.ready = True
    second = in_thread(operation.safe_try_complete)
    second.ended(2)
    operation.go_on.set()
    first.ended(4)
    assert operation.completions == 1, (
        "lost wake-up: the first thread checked before the event, the second one came with it and "
        "left, and no thread has checked again"
    )
    assert (first.result, second.result) == (True, False), (
        "the first thread completed it, so the first call returns true"
    )


class Scripted:
    """A lock that another thread holds at the first call only; it has been released before the second."""

    def __init__(self):
        self.calls = 0
        self._lock = threading.Lock()

    def acquire(self, blocking=True, timeout=-1):
        self.calls += 1
        return self.calls > 1 and self._lock.acquire(blocking, timeout)

    def release(self):
        self._lock.release()

    def locked(self):
        return self._lock.locked()

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *_):
        self.release()


@pytest.mark.points(5, task=2)
def test_the_other_thread_may_be_done(operation):
    """The lock is held, and a moment later it is free"""
    operation._checking = Scripted()
    operation.ready = True
    completed = operation.safe_try_complete()
    assert operation._checking.calls > 0, "take self._checking before you try"
    assert operation.completions == 1, (
        "the thread that held the lock had released it before the flag was set, so no thread reads "
        "the flag: after setting it, try again"
    )
    assert completed, "this call completed it: True"


@pytest.mark.points(3, task=2)
def test_the_lock_is_always_released(operation_class):
    """try_complete fails once"""

    class Failing(operation_class):
        def try_complete(self):
            if self.tries == 0:
                self.tries += 1
                raise OSError("the disk")
            return super().try_complete()

    operation = Failing()
    with pytest.raises(OSError, match="the disk"):
        operation.safe_try_complete()
    operation.ready = True
    assert operation.safe_try_complete(), "try_complete raised once, and since then the lock was never released"


@pytest.mark.points(2, task=2)
def test_a_flag_of_an_earlier_event(operation_class):
    """The flag is set, and the operation is not ready; then it completes while the flag is set"""

    class Counted(operation_class):
        def try_complete(self):
            if self.tries > 10:
                pytest.fail(
                    "one event was reported, and you check again and again: clear _check_again before each check"
                )
            return super().try_complete()

    operation = Counted()
    operation._check_again = True
    assert operation.safe_try_complete() is False, "the operation is not ready: False"

    class Flagged(operation_class):
        def try_complete(self):
            self._check_again = True  # as another thread sets it during the check
            return super().try_complete()

    operation = Flagged()
    operation.ready = True
    assert operation.safe_try_complete() is True, (
        "this call completed it, while another thread set the flag: True, or no thread counts the completion"
    )
