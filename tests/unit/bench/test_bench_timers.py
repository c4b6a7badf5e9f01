"""The heap that the broker's timer is compared with behaves like the timer."""

from __future__ import annotations

import pytest

from bench.timers import (
    ALL,
    CANCEL,
    EXPIRE,
    HEAP,
    INSERT,
    LEFT,
    MICROSECONDS,
    TASKS,
    WHEEL,
    WORKLOADS,
    HeapTimer,
    Task,
    WheelTimer,
    run,
)  # fmt: skip
from kafka_lite.common.time import MockTime


@pytest.mark.parametrize("kind", [HeapTimer, WheelTimer])
def test_tasks_expire_when_due_unless_cancelled(kind: type[HeapTimer] | type[WheelTimer]) -> None:
    clock = MockTime()
    timer = kind(clock) if kind is HeapTimer else kind(time=clock)  # type: ignore[call-arg]
    Task.expired = 0
    early, cancelled, late = Task(10), Task(10), Task(5000)
    for task in (late, early, cancelled):
        timer.add(task)
    cancelled.cancel()
    assert not timer.advance_clock(0)
    clock.sleep(11)
    assert timer.advance_clock(0)
    assert Task.expired == 1
    clock.sleep(5000)
    while timer.advance_clock(0):
        pass
    assert Task.expired == 2
    assert timer.held == 0


def test_every_figure_is_measured_for_both_timers() -> None:
    told: list[str] = []
    samples = run(2000, told.append)
    assert told == [WHEEL, HEAP]
    assert set(samples) == set(WORKLOADS)
    assert all(set(by_timer) == {WHEEL, HEAP} for by_timer in samples.values())
    assert all(
        samples[name][timer][MICROSECONDS] > 0 for name in (INSERT, CANCEL, EXPIRE, ALL) for timer in (WHEEL, HEAP)
    )
    assert samples[LEFT][WHEEL] == {TASKS: 1.0}
    assert samples[LEFT][HEAP] == {TASKS: 10.0}
