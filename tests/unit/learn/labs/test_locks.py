"""A lock that knows its holder, and the state that is touched without it."""

import threading

import pytest

from kafka_learn.labs.locks import TracedLock, touched_only_with


class Counter:
    """Its state is guarded, but not by everyone."""

    def __init__(self):
        self._lock = threading.RLock()
        self.value = 0

    def increment(self):
        with self._lock:
            self._add()

    def increment_without(self):
        self._add()

    def look(self):
        return self.value

    def swallow(self):
        try:
            self._add()
        except BaseException:  # noqa: BLE001 - as a learner's code may
            return

    def _add(self):
        self.value += 1


def watched(counter, *within):
    return touched_only_with(counter, "_lock", state=["value"], within=within)


def test_state_may_be_touched_by_the_holder():
    counter = Counter()
    with watched(counter, "increment"):
        counter.increment()
        assert counter.value == 1, "the test itself may look"
    assert type(counter) is Counter
    assert isinstance(counter._lock, type(threading.RLock()))


def test_state_that_is_touched_without_the_lock_is_named_with_the_method_and_its_line():
    counter = Counter()
    said = r"increment_without \(line \d+\) touches self\.value without self\._lock"
    with pytest.raises(pytest.fail.Exception, match=said), watched(counter, "increment_without"):
        counter.increment_without()


def test_reading_may_be_allowed():
    counter = Counter()
    with touched_only_with(counter, "_lock", state=["value"], within=["look"], reads=False):
        counter.look()
    with pytest.raises(pytest.fail.Exception, match="touches"), watched(counter, "look"):
        counter.look()


def test_methods_that_are_not_the_learners_are_not_judged():
    counter = Counter()
    with watched(counter, "increment"):
        counter.increment_without()
    assert counter.value == 1


def in_another_thread(call):
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()


@pytest.mark.parametrize("run", [in_another_thread, lambda call: call()], ids=["in another thread", "caught"])
def test_a_failure_that_the_test_does_not_see_is_told_at_the_end(run):
    counter = Counter()
    with pytest.raises(pytest.fail.Exception, match="touches"), watched(counter, "swallow"):
        run(counter.swallow)


def test_a_traced_lock_is_held_by_one_thread_until_its_last_release():
    lock = TracedLock(threading.RLock())
    with lock, lock:
        lock.release()
        assert lock.is_held()
        found = []
        thread = threading.Thread(target=lambda: found.append((lock.is_held(), lock.acquire(blocking=False))))
        thread.start()
        thread.join()
        assert found == [(False, False)]
        lock.acquire()
    assert not lock.is_held()
