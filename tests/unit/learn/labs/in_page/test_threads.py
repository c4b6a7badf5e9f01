"""Threads that are greenlets: they wait, wake each other, and say so when nobody can."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from greenlet import getcurrent, greenlet

from kafka_learn.labs.in_page.threads import DeadlockError, Threads, installed


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    with installed(Threads(greenlet, getcurrent)):
        yield


def test_a_thread_runs_until_it_waits_and_goes_on_when_it_is_woken() -> None:
    steps: list[str] = []
    ready = threading.Event()

    def work() -> None:
        steps.append("begun")
        ready.wait()
        steps.append("woken")

    thread = threading.Thread(target=work, name="worker")
    thread.start()
    assert (steps, thread.is_alive()) == (["begun"], True)
    ready.set()
    thread.join()
    assert (steps, thread.is_alive()) == (["begun", "woken"], False)


def test_each_thread_has_its_number_its_object_and_its_locals() -> None:
    found: list[tuple[int | None, object]] = []
    local = threading.local()
    local.value = "main"

    def note() -> None:
        found.append((threading.get_ident(), threading.current_thread()))
        assert not hasattr(local, "value")

    others = [threading.Thread(target=note) for _ in range(2)]
    for thread in others:
        thread.start()
        thread.join()
    assert found == [(thread.ident, thread) for thread in others]
    assert len({threading.get_ident(), *(number for number, _ in found)}) == 3
    assert threading.current_thread() is threading.main_thread()


def test_a_lock_a_condition_and_a_queue_hand_over() -> None:
    lock, condition, handed = threading.Lock(), threading.Condition(), queue.Queue[int](1)
    taken: list[int] = []

    def consume() -> None:
        taken.extend(handed.get() for _ in range(3))
        with condition:
            condition.notify()
        with lock:
            taken.append(-1)

    with lock, condition:
        threading.Thread(target=consume).start()
        for number in range(3):
            handed.put(number)
        assert condition.wait(5)
        assert taken == [0, 1, 2]
    time.sleep(0)
    assert taken == [0, 1, 2, -1]


def test_waits_end_at_their_time() -> None:
    began = time.monotonic()
    assert not threading.Event().wait(0.02)
    lock = threading.Lock()
    lock.acquire()
    assert not lock.acquire(timeout=0.02)
    assert not lock.acquire(blocking=False)
    assert time.monotonic() - began >= 0.04


def test_a_sleeper_lets_others_run() -> None:
    order: list[str] = []

    def slow() -> None:
        time.sleep(0.03)
        order.append("slow")

    thread = threading.Thread(target=slow)
    thread.start()
    time.sleep(0.01)
    order.append("main")
    thread.join(5)
    assert order == ["main", "slow"]


def test_nobody_left_to_wake_the_main_thread_is_an_error_at_once() -> None:
    first, second = threading.Lock(), threading.Lock()

    def cross() -> None:
        with second, first:
            pass

    with first:
        threading.Thread(target=cross).start()
        with pytest.raises(DeadlockError, match="every thread waits"):
            second.acquire()
    assert threading.Event().wait(0.001) is False, "and the main thread can wait again"


def test_a_pool_works_and_a_thread_that_raises_tells_the_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", told.append)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda number: number * number, range(9))) == [number * number for number in range(9)]
    thread = threading.Thread(target=lambda: 1 // 0)
    thread.start()
    thread.join()
    assert [(each.exc_type, each.thread) for each in told] == [(ZeroDivisionError, thread)]
    with pytest.raises(RuntimeError, match="only be started once"):
        thread.start()


def test_afterwards_the_threads_of_before_are_back() -> None:
    before = threading.Thread, threading.Lock, time.sleep
    with installed(Threads(greenlet, getcurrent)):
        assert threading.Thread is not before[0]
    assert (threading.Thread, threading.Lock, time.sleep) == before
