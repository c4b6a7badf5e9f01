"""Helpers that the tests of this lab share."""

import pytest

from kafka_lite.common.purgatory.timer import SystemTimer, TimerTask
from kafka_lite.common.purgatory.timing_wheel import TimerTaskEntry, TimingWheel
from kafka_lite.common.time import MockTime


class Task(TimerTask):
    """Records the time at which it runs."""

    def __init__(self, delay_ms=0.0, time=None):
        super().__init__(delay_ms)
        self._time = time
        self.ran_at = None

    def run(self):
        self.ran_at = self._time.hi_res_ms()


@pytest.fixture
def entry():
    """``entry(41)``: an entry of a task that is due at 41."""
    return lambda due_ms: TimerTaskEntry(Task(), due_ms)


@pytest.fixture
def wheel_at():
    """``wheel_at(9)``: a wheel of four buckets at the time 9, and the list of the buckets that it arms."""

    def make(start_ms, tick_ms=1, size=4):
        armed = []
        return TimingWheel(tick_ms, size, start_ms, armed.append), armed

    return make


@pytest.fixture
def time():
    """A clock that jumps when a thread waits."""
    return MockTime()


@pytest.fixture
def timer(time):
    """The broker's timer, on wheels of four buckets."""
    return SystemTimer(1, 4, time)


@pytest.fixture
def new_task(time):
    """``new_task(30)``: a task with a delay of 30 ms, whose ``ran_at`` says when it ran."""
    return lambda delay_ms: Task(delay_ms, time)
