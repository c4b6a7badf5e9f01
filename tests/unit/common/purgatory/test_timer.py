"""The timer under a mock clock."""

from __future__ import annotations

import logging
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.common.purgatory.timer import SystemTimer, TimerTask
from kafka_lite.common.time import MockTime
from tests.support.patience import patient_s


class Recorder(TimerTask):
    def __init__(self, delay_ms: float, ran: list[float], time: MockTime) -> None:
        super().__init__(delay_ms)
        self.ran = ran
        self.time = time

    def run(self) -> None:
        self.ran.append(self.time.hi_res_ms())


def run_all(timer: SystemTimer) -> None:
    """Turn the clock until no task is left: each turn takes it to the next bucket, a few for each task."""
    for _ in range(1000):
        if timer.size == 0:
            return
        timer.advance_clock(1_000_000)
    raise AssertionError(f"{timer.size} tasks are still scheduled")


def test_tasks_run_in_order_of_expiration() -> None:
    time = MockTime()
    timer = SystemTimer(time=time)
    ran: list[float] = []
    for delay_ms in (500, 7, 30_000, 0, 20, 21):
        timer.add(Recorder(delay_ms, ran, time))
    run_all(timer)
    assert ran == [0, 7, 20, 21, 500, 30_000]


def test_advance_clock_returns_at_its_timeout() -> None:
    time = MockTime()
    timer = SystemTimer(time=time)
    timer.add(Recorder(500, [], time))
    assert not timer.advance_clock(200)
    assert time.hi_res_ms() == 200
    assert timer.size == 1


def test_a_task_never_runs_early() -> None:
    time = MockTime()
    time.sleep(0.75)
    timer = SystemTimer(time=time)
    ran: list[float] = []
    timer.add(Recorder(10.5, ran, time))
    for _ in range(13):
        timer.advance_clock(1)
    assert len(ran) == 1
    assert 11.25 <= ran[0] <= 13


def test_cancelled_tasks_neither_run_nor_count() -> None:
    time = MockTime()
    timer = SystemTimer(time=time)
    ran: list[float] = []
    tasks = [Recorder(delay_ms, ran, time) for delay_ms in (5, 50, 5_000, 0)]
    for task in tasks:
        timer.add(task)
    for task in tasks:
        task.cancel()
        task.cancel()
    assert timer.size == 0
    assert not timer.advance_clock(10_000)
    assert ran == []


def test_cancelling_a_completed_task_is_a_no_op() -> None:
    time = MockTime()
    timer = SystemTimer(time=time)
    ran: list[float] = []
    task = Recorder(5, ran, time)
    timer.add(task)
    timer.advance_clock(10)
    task.cancel()
    assert (ran, timer.size) == ([5], 0)


def test_an_error_in_a_task_is_logged_and_the_others_run(caplog: pytest.LogCaptureFixture) -> None:
    time = MockTime()
    timer = SystemTimer(time=time)

    class Broken(TimerTask):
        def run(self) -> None:
            raise ZeroDivisionError

    ran: list[float] = []
    timer.add(Broken(5))
    timer.add(Recorder(5, ran, time))
    with caplog.at_level(logging.ERROR):
        timer.advance_clock(10)
    assert ran == [5]
    assert "Error in a task of the timer" in caplog.text


def test_an_earlier_task_ends_the_wait_for_a_later_one() -> None:
    timer = SystemTimer()
    ran = threading.Event()

    class Sooner(TimerTask):
        def run(self) -> None:
            ran.set()

    class Later(TimerTask):
        def run(self) -> None:
            raise AssertionError

    def wait() -> None:
        # A task added late, by the wheel's clock, comes through a coarser wheel: one turn for each.
        for _ in range(10):
            timer.advance_clock(60_000)
            if ran.is_set():
                return

    timer.add(Later(3_600_000))
    waiter = threading.Thread(target=wait, daemon=True)
    waiter.start()
    timer.add(Sooner(1))
    waiter.join(patient_s(30))
    assert ran.is_set()


def test_wake_up_ends_one_wait_even_before_it_begins() -> None:
    time = MockTime()
    timer = SystemTimer(time=time)
    timer.wake_up()
    timer.advance_clock(100)
    assert time.hi_res_ms() == 0
    timer.advance_clock(100)
    assert time.hi_res_ms() == 100


def test_wake_up_ends_the_wait() -> None:
    timer = SystemTimer()
    waiter = threading.Thread(target=timer.advance_clock, args=(60_000,), daemon=True)
    waiter.start()
    timer.wake_up()
    waiter.join(patient_s(30))
    assert not waiter.is_alive()


@given(st.lists(st.tuples(st.integers(0, 3_000), st.integers(0, 100_000)), max_size=30))
def test_tasks_added_over_time_run_at_their_expiration(steps: list[tuple[int, int]]) -> None:
    time = MockTime()
    timer = SystemTimer(time=time)
    ran: list[float] = []
    expected = []
    for passed_ms, delay_ms in steps:
        time.sleep(passed_ms)
        expected.append(time.hi_res_ms() + delay_ms)
        timer.add(Recorder(delay_ms, ran, time))
    timer.advance_clock(0)
    for when in [when for when in expected if when <= time.hi_res_ms()]:
        expected.remove(when)
    ran.clear()
    run_all(timer)
    assert ran == sorted(expected)
