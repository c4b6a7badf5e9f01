"""The lock of a group: deferred actions run when it is free, in order, and never in two threads at once."""

from __future__ import annotations

import logging
import threading

import pytest

from kafka_lite.coordinator.group.group_lock import GroupLock
from tests.support.patience import patient_s


def test_actions_run_after_the_outermost_release() -> None:
    lock, ran = GroupLock(), []
    with lock:
        with lock:
            lock.defer(lambda: ran.append(1))
        assert ran == []
        lock.defer(lambda: ran.append(2))
    assert ran == [1, 2]


def test_an_action_may_take_the_lock_and_defer_more() -> None:
    lock, ran = GroupLock(), []

    def first() -> None:
        with lock:
            lock.defer(lambda: ran.append("second"))
        ran.append("first")

    with lock:
        lock.defer(first)
    assert ran == ["first", "second"]


def test_a_failing_action_does_not_stop_the_others(caplog: pytest.LogCaptureFixture) -> None:
    lock, ran = GroupLock(), []

    def fail() -> None:
        raise RuntimeError("no disk")

    with caplog.at_level(logging.ERROR), lock:
        lock.defer(fail)
        lock.defer(lambda: ran.append(1))
    assert ran == [1]
    assert "no disk" in caplog.text


def test_actions_of_many_threads_run_one_at_a_time_in_the_order_of_the_lock() -> None:
    lock, order, ran = GroupLock(), [], []
    running = threading.Lock()

    def action(number: int) -> None:
        assert running.acquire(blocking=False), "two actions at once"
        ran.append(number)
        running.release()

    def work(thread: int) -> None:
        for i in range(200):
            with lock:
                number = thread * 1000 + i
                order.append(number)
                lock.defer(lambda number=number: action(number))  # type: ignore[misc]

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ran == order
    assert len(ran) == 800


def test_a_thread_leaves_its_action_to_the_thread_running_them() -> None:
    lock, ran = GroupLock(), []
    started, go_on = threading.Event(), threading.Event()

    def slow() -> None:
        started.set()
        assert go_on.wait(patient_s(60))
        ran.append("slow")

    def hold() -> None:
        with lock:
            lock.defer(slow)

    thread = threading.Thread(target=hold)
    thread.start()
    assert started.wait(patient_s(60))
    with lock:
        lock.defer(lambda: ran.append("left"))
    assert ran == []
    go_on.set()
    thread.join()
    assert ran == ["slow", "left"]
