"""Runs delayed and periodic tasks: log retention, flushes, checkpoints.

Kafka 0.10.2: core/.../utils/KafkaScheduler.scala (Scheduler); its tests' MockScheduler.scala · book 6.1.5
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from kafka_lite.common.shutdownable_thread import ProcessKilledError
from kafka_lite.common.time import MockTime, SystemTime, Time

logger = logging.getLogger(__name__)


class Scheduler(Protocol):
    """The interface of a scheduler."""

    def startup(self) -> None:
        """Start to run tasks."""
        ...

    def shutdown(self) -> None:
        """Drop pending tasks and wait until running ones have finished."""
        ...

    def schedule(self, name: str, task: Callable[[], None], delay_ms: float = 0, period_ms: float = -1) -> None:
        """Run ``task`` after ``delay_ms``, then every ``period_ms`` (if negative: only once)."""
        ...


@dataclass(order=True)
class _Task:
    due_ms: float
    number: int
    name: str = field(compare=False)
    run: Callable[[], None] = field(compare=False)
    period_ms: float = field(compare=False)

    def execute(self) -> None:
        """Run the task. A failure is logged and a periodic task is still rescheduled, as in Kafka."""
        try:
            self.run()
        except Exception:
            logger.exception("Error in scheduled task %s", self.name)


class KafkaScheduler:
    """``background.threads`` threads that take tasks from one heap, ordered by due time."""

    def __init__(self, threads: int, name_prefix: str = "kafka-scheduler-", time: Time | None = None) -> None:
        self._size = threads  # how many threads there should be
        self._prefix = name_prefix
        self._time = time or SystemTime()
        self._heap: list[_Task] = []
        self._numbers = itertools.count()
        self._ready = threading.Condition()
        self._running = False
        self._at_work = 0  # tasks that are running now
        self._threads: list[threading.Thread] = []
        self._thread_numbers = itertools.count()
        self._looping = 0  # how many threads there are

    @property
    def is_idle(self) -> bool:
        """Whether no task is running or due."""
        with self._ready:
            due = bool(self._heap) and self._heap[0].due_ms <= self._time.hi_res_ms()
            return not due and not self._at_work

    def startup(self) -> None:
        """Start the threads."""
        with self._ready:
            if self._running:
                raise RuntimeError("this scheduler has already been started")
            self._running = True
            self._start_missing_threads()

    def resize(self, threads: int) -> None:
        """Change the number of threads. Surplus threads end after their current task."""
        with self._ready:
            self._size = threads
            self._threads = [thread for thread in self._threads if thread.is_alive()]
            if self._running:
                self._start_missing_threads()
            self._ready.notify_all()

    def _start_missing_threads(self) -> None:
        while self._looping < self._size:
            name = f"{self._prefix}{next(self._thread_numbers)}"
            thread = threading.Thread(target=self._loop, name=name, daemon=True)
            thread.start()
            self._threads.append(thread)
            self._looping += 1

    def shutdown(self) -> None:
        """Drop pending tasks and wait until running ones have finished."""
        with self._ready:
            self._running = False
            self._heap.clear()
            self._ready.notify_all()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join()
        self._threads.clear()

    def schedule(self, name: str, task: Callable[[], None], delay_ms: float = 0, period_ms: float = -1) -> None:
        """Run ``task`` after ``delay_ms``, then every ``period_ms`` (if negative: only once)."""
        with self._ready:
            due_ms = self._time.hi_res_ms() + delay_ms
            heapq.heappush(self._heap, _Task(due_ms, next(self._numbers), name, task, period_ms))
            self._ready.notify()

    def _loop(self) -> None:
        with contextlib.suppress(ProcessKilledError):
            self._run_tasks()

    def _run_tasks(self) -> None:
        while (task := self._next_due()) is not None:
            task.execute()
            if task.period_ms >= 0:
                self.schedule(task.name, task.run, task.period_ms, task.period_ms)
            with self._ready:
                self._at_work -= 1

    def _next_due(self) -> _Task | None:
        with self._ready:
            while self._running and self._looping <= self._size:
                if not self._heap:
                    self._ready.wait()
                    continue
                wait_ms = self._heap[0].due_ms - self._time.hi_res_ms()
                if wait_ms <= 0:
                    self._at_work += 1
                    return heapq.heappop(self._heap)
                self._time.wait(self._ready, wait_ms)
            self._looping -= 1
        return None


class MockScheduler:
    """Runs tasks in the thread that advances the MockTime, in the order in which they are due."""

    def __init__(self, time: MockTime) -> None:
        self._time = time
        self._heap: list[_Task] = []
        self._numbers = itertools.count()
        time.add_listener(self.tick)

    def startup(self) -> None:
        """Do nothing: there are no threads to start."""

    def shutdown(self) -> None:
        """Drop all tasks."""
        self._heap.clear()

    def schedule(self, name: str, task: Callable[[], None], delay_ms: float = 0, period_ms: float = -1) -> None:
        """Queue the task; a delay of 0 runs it at the clock's next ``sleep``."""
        due_ms = self._time.hi_res_ms() + delay_ms
        heapq.heappush(self._heap, _Task(due_ms, next(self._numbers), name, task, period_ms))

    def tick(self) -> None:
        """Run all tasks that are due."""
        now_ms = self._time.hi_res_ms()
        while self._heap and self._heap[0].due_ms <= now_ms:
            task = heapq.heappop(self._heap)
            task.run()
            if task.period_ms >= 0:
                task.due_ms += max(task.period_ms, 1)
                heapq.heappush(self._heap, task)
