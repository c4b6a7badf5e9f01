"""A million outstanding timeouts: the broker's timer, with hierarchical wheels, compared with one on ``heapq``.

The workload is that of a purgatory: insert a timeout for every request, cancel nine of ten because they complete in
time, and let the rest expire. Time only advances with a mock clock, so the processor time is that of the data
structures alone, including their locks.
"""

from __future__ import annotations

import gc
import heapq
import itertools
import random
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from bench.measure import Goal, Sample
from kafka_lite.common.purgatory.timer import SystemTimer, TimerTask
from kafka_lite.common.time import MockTime

WHEEL, HEAP = "SystemTimer", "heapq"
INSERT, CANCEL, EXPIRE = "insert", "cancel nine of ten", "expire the rest"
ALL, LEFT = "all of it, per task", "held after the cancellations"
MICROSECONDS, TASKS = "processor time, µs each", "tasks per outstanding task"
WORKLOADS: Mapping[str, Mapping[str, Goal]] = {INSERT: {}, CANCEL: {}, EXPIRE: {}, ALL: {}, LEFT: {}}
MAX_DELAY_MS = 30_000
STEP_MS = 10


class Task(TimerTask):
    """Counts expired tasks."""

    expired = 0

    def run(self) -> None:
        """Count this task as expired."""
        Task.expired += 1


class Timer(Protocol):
    """The interface of both timers."""

    def add(self, task: Task) -> None:
        """Start the task's timeout."""

    def advance_clock(self, timeout_ms: float) -> bool:
        """Run the tasks that are due; returns whether there were any."""
        ...

    @property
    def held(self) -> int:
        """Number of tasks that the timer references, outstanding or not."""


class WheelTimer(SystemTimer):
    """The broker's timer."""

    @property
    def held(self) -> int:
        return self.size


class HeapTimer:
    """A heap, as in the documentation of ``heapq``: entries cannot be removed from the middle, so cancelled tasks are
    only marked, and stay until they are due.
    """

    def __init__(self, clock: MockTime) -> None:
        self._clock = clock
        self._heap: list[list[Any]] = []
        """Lists of [time, tie-breaking number, task, or None if cancelled]."""
        self._numbers = itertools.count()
        self._lock = threading.Lock()

    @property
    def held(self) -> int:
        return len(self._heap)

    def add(self, task: Task) -> None:
        """Start the task's timeout."""
        entry = [self._clock.hi_res_ms() + task.delay_ms, next(self._numbers), task]
        with self._lock:
            task.scheduled(self, entry)  # type: ignore[arg-type]
            heapq.heappush(self._heap, entry)

    def cancel(self, entry: list[Any]) -> None:
        """Mark a task's entry as cancelled."""
        with self._lock:
            entry[2] = None

    def advance_clock(self, _timeout_ms: float) -> bool:
        """Run the tasks that are due; returns whether there were any."""
        now_ms, due = self._clock.hi_res_ms(), []
        with self._lock:
            while self._heap and self._heap[0][0] <= now_ms:
                task = heapq.heappop(self._heap)[2]
                if task is not None:
                    due.append(task)
        for task in due:
            task.run()
        return bool(due)


def run(count: int, tell: Callable[[str], None]) -> dict[str, dict[str, Sample]]:
    """The samples of both timers, by workload."""
    samples: dict[str, dict[str, Sample]] = {name: {} for name in WORKLOADS}
    makers: dict[str, Callable[[MockTime], Timer]] = {
        WHEEL: lambda clock: WheelTimer(time=clock),
        HEAP: HeapTimer,
    }
    for name, make in makers.items():
        tell(name)
        clock = MockTime()
        for workload, sample in measure(make(clock), clock, count).items():
            samples[workload][name] = sample
    return samples


def measure(timer: Timer, clock: MockTime, count: int) -> dict[str, Sample]:
    """Measure the life cycle of one timer. Raises RuntimeError if the wrong number of tasks expires."""
    numbers = random.Random(1)
    tasks = [Task(numbers.randint(1, MAX_DELAY_MS)) for _ in range(count)]
    cancelled = numbers.sample(tasks, count * 9 // 10)
    outstanding = count - len(cancelled)
    Task.expired = 0
    gc.collect()

    insert_us = cpu_us(lambda: for_each(timer.add, tasks))
    cancel_us = cpu_us(lambda: for_each(Task.cancel, cancelled))
    held = timer.held
    expire_us = cpu_us(lambda: pass_time(timer, clock))
    if Task.expired != outstanding or timer.held:
        raise RuntimeError(f"{Task.expired} of {outstanding} tasks expired, {timer.held} are left")
    return {
        INSERT: {MICROSECONDS: insert_us / count},
        CANCEL: {MICROSECONDS: cancel_us / len(cancelled)},
        EXPIRE: {MICROSECONDS: expire_us / outstanding},
        ALL: {MICROSECONDS: (insert_us + cancel_us + expire_us) / count},
        LEFT: {TASKS: held / outstanding},
    }


def for_each(act: Callable[[Task], None], tasks: list[Task]) -> None:
    """Call ``act`` with each task."""
    for task in tasks:
        act(task)


def pass_time(timer: Timer, clock: MockTime) -> None:
    """Advance the clock past the last timeout, a few milliseconds at a time, as the reaper thread would see it."""
    for _ in range(MAX_DELAY_MS // STEP_MS + 1):
        clock.sleep(STEP_MS)
        while timer.advance_clock(0):
            pass


def cpu_us(work: Callable[[], object]) -> float:
    """Processor time of ``work`` in µs."""
    began_ns = time.process_time_ns()
    work()
    return (time.process_time_ns() - began_ns) / 1e3
