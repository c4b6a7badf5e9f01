"""Task 2: two threads bring news of the same operation."""

import threading

import pytest


@pytest.fixture
def slow_class(operation_class):
    """Its first look takes until ``go_on``: by then, what it has seen is old."""

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
    assert operation.tries == 1, f"one call and nobody else there: one try, not {operation.tries}"
    operation.ready = True
    assert operation.safe_try_complete() is True, "it was ready, and this call completed it: True"
    assert operation.safe_try_complete() is False, "it was completed before this call: False"
    assert operation.completions == 1, f"it was completed {operation.completions} times"


@pytest.mark.points(5, task=2)
def test_nobody_waits_for_one_who_checks(slow_class, in_thread):
    """The second thread goes on its way"""
    operation = slow_class()
    operation.tries = 1
    operation.safe_try_complete()  # in this thread first, where a missing body is told
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


@pytest.mark.points(8, task=2)
def test_the_news_is_not_lost(slow_class, in_thread):
    """The first thread has looked before the event, the second one brings it"""
    operation = slow_class()
    operation.tries = 1
    operation.safe_try_complete()  # in this thread first, where a missing body is told
    operation = slow_class()
    first = in_thread(operation.safe_try_complete)
    operation.inside.wait(4)
    operation.ready = True
    second = in_thread(operation.safe_try_complete)
    second.ended(2)
    operation.go_on.set()
    first.ended(4)
    assert operation.completions == 1, (
        "lost wake-up: the first thread looked before the event, the second one came with it and left, "
        "and nobody has looked again"
    )
    assert (first.result, second.result) == (True, False), "the first thread completed it, so the first call is true"


class Scripted:
    """A lock that somebody else holds at the first call only; he has gone before the second."""

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
def test_the_other_may_be_gone(operation):
    """The lock is taken, and a moment later it is not"""
    operation._checking = Scripted()
    operation.ready = True
    completed = operation.safe_try_complete()
    assert operation._checking.calls > 0, "take self._checking before you try"
    assert operation.completions == 1, (
        "the thread that held the lock had gone by the time of the note, so nobody reads it: after the note, try again"
    )
    assert completed, "this call completed it: True"


@pytest.mark.points(3, task=2)
def test_the_lock_is_given_back_whatever_happens(operation_class):
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
    assert operation.safe_try_complete(), "try_complete raised once, and since then the lock was never given back"
