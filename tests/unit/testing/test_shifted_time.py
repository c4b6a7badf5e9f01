"""A clock that runs, and can be moved forward while threads wait."""

import threading
import time
from datetime import timedelta

import pytest

from kafka_lite.common.purgatory.timer import SystemTimer, TimerTask
from kafka_lite.common.scheduler import KafkaScheduler
from kafka_lite.common.time import SystemTime
from kafka_lite.testing.shifted_time import ShiftedTime
from tests.support.eventually import eventually
from tests.support.patience import patient_s

HOUR_MS = 3_600_000


class Noted(TimerTask):
    def __init__(self, delay_ms):
        super().__init__(delay_ms)
        self.ran = threading.Event()

    def run(self):
        self.ran.set()


def test_it_is_the_machines_clock_until_moved():
    clock, machine = ShiftedTime(), SystemTime()
    assert abs(clock.milliseconds() - machine.milliseconds()) < 1000
    assert abs(clock.hi_res_ms() - machine.hi_res_ms()) < 1000
    assert clock.ahead_ms == 0


def test_both_clocks_jump():
    clock, machine = ShiftedTime(), SystemTime()
    clock.advance(hours=1)
    clock.advance(timedelta(days=1), minutes=30, milliseconds=7)
    ahead = 25.5 * HOUR_MS + 7
    assert clock.ahead_ms == ahead
    assert abs(clock.milliseconds() - machine.milliseconds() - ahead) < 1000
    assert abs(clock.hi_res_ms() - machine.hi_res_ms() - ahead) < 1000


def test_it_never_goes_back():
    with pytest.raises(ValueError, match="only move forward, not by -60000 ms"):
        ShiftedTime().advance(minutes=-1)


@pytest.mark.parametrize("step", [3600, 1.5, "1h"])
def test_a_step_without_a_unit_is_refused_with_what_to_say(step):
    with pytest.raises(TypeError, match=r"of which unit\? say advance\(days=…, .* ms=…\)"):
        ShiftedTime().advance(step)
    with pytest.raises(TypeError, match=r"a step of the clock must be a number, not '5'"):
        ShiftedTime().advance(seconds="5")


def test_an_advance_without_a_step_is_refused_but_a_step_of_zero_is_not():
    clock = ShiftedTime()
    with pytest.raises(TypeError, match=r"^advance\(\): by how much\? say advance\(days=…, .* ms=…\)"):
        clock.advance()
    clock.advance(timedelta())
    clock.advance(seconds=0)
    assert clock.ahead_ms == 0


def test_ms_is_short_for_milliseconds():
    clock = ShiftedTime()
    clock.advance(ms=5, milliseconds=2)
    assert clock.ahead_ms == 7


def test_it_can_go_back_to_the_machines_time():
    clock, machine = ShiftedTime(), SystemTime()
    clock.advance(days=1)
    clock.go_back()
    assert clock.ahead_ms == 0
    assert abs(clock.milliseconds() - machine.milliseconds()) < 1000


def test_listeners_are_called_at_every_jump():
    clock, heard = ShiftedTime(), []

    def listener():
        heard.append(clock.ahead_ms)

    clock.add_listener(listener)
    clock.advance(seconds=1)
    clock.advance(seconds=1)
    clock.remove_listener(listener)
    clock.advance(seconds=1)
    assert heard == [1000, 2000]


def test_a_wait_takes_real_time():
    clock, condition = ShiftedTime(), threading.Condition()
    with condition:
        clock.wait(condition, 0)  # the first wait may return at once to read the clock again
        began = time.monotonic()
        assert not clock.wait(condition, 20)
    assert time.monotonic() - began >= 0.019


@pytest.mark.parametrize("attempt", range(20))
def test_a_jump_wakes_waiting_threads_whenever_it_comes(attempt):
    clock, condition, ready, done = ShiftedTime(), threading.Condition(), threading.Event(), threading.Event()

    def waiter():
        deadline_ms = clock.hi_res_ms() + HOUR_MS
        ready.set()
        with condition:
            while (left_ms := deadline_ms - clock.hi_res_ms()) > 0:
                clock.wait(condition, left_ms)
        done.set()

    thread = threading.Thread(target=waiter, daemon=True)
    thread.start()
    assert ready.wait(patient_s(60))
    clock.advance(hours=1)
    assert done.wait(patient_s(60)), "the thread kept sleeping"
    thread.join()


def test_a_scheduler_runs_what_a_jump_makes_due_at_once():
    clock, ran = ShiftedTime(), threading.Event()
    scheduler = KafkaScheduler(2, "jump-", clock)
    scheduler.startup()
    try:
        scheduler.schedule("retention", ran.set, delay_ms=HOUR_MS)
        assert scheduler.is_idle
        clock.advance(hours=1)
        assert ran.wait(patient_s(60))
    finally:
        scheduler.shutdown()


def test_a_scheduler_is_not_idle_while_a_task_runs_or_is_due():
    clock, began, go_on = ShiftedTime(), threading.Event(), threading.Event()
    scheduler = KafkaScheduler(1, "idle-", clock)
    scheduler.startup()
    try:
        scheduler.schedule("long", lambda: (began.set(), go_on.wait(patient_s(60))))
        assert began.wait(patient_s(60))
        assert not scheduler.is_idle
        scheduler.schedule("waits for its turn", lambda: None)
        go_on.set()
        eventually(lambda: scheduler.is_idle)
    finally:
        scheduler.shutdown()


def test_a_timer_expires_what_a_jump_makes_due_at_once():
    clock, task = ShiftedTime(), Noted(HOUR_MS)
    timer = SystemTimer(time=clock)
    timer.add(task)
    thread = threading.Thread(target=timer.advance_clock, args=(HOUR_MS * 2,), daemon=True)
    thread.start()
    clock.advance(hours=1, milliseconds=2)
    assert task.ran.wait(patient_s(60))
    thread.join(patient_s(60))
    assert not thread.is_alive()
