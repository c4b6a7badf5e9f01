"""Runs a connector's tasks now and then, one after the other.

Kafka 2.4: connect/mirror/.../connect/mirror/Scheduler.java · book 8.1.1
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.time import SYSTEM_TIME, Time

logger = logging.getLogger(__name__)

FOREVER_MS = float("inf")


@dataclass
class _Task:
    description: str
    run: Callable[[], None]
    period_ms: float
    due_ms: float


class PeriodicTasks(ShutdownableThread):
    """A cluster that does not respond is a warning: the next run may find it.

    (``KafkaScheduler`` waits at its shutdown for a task that runs. Here that would be a deadlock: the task may ask the
    herder for other tasks, while the herder waits for the connector to stop.)
    """

    def __init__(self, name: str, time: Time = SYSTEM_TIME) -> None:
        super().__init__(name)
        self._time = time
        self._tasks: list[_Task] = []

    def add(self, description: str, run: Callable[[], None], period_ms: float | None, *, at_once: bool = False) -> None:
        """Run a task every ``period_ms``, or never if that is None. Call it before ``start``, or from a task."""
        if period_ms is not None:
            due_ms = self._time.hi_res_ms() + (0 if at_once else period_ms)
            self._tasks.append(_Task(description, run, period_ms, due_ms))

    def do_work(self) -> None:
        """Wait for the next task, and run it."""
        due_ms = min((task.due_ms for task in self._tasks), default=FOREVER_MS)
        if not self.pause(max(due_ms - self._time.hi_res_ms(), 0)):
            self.run_due()

    def run_due(self) -> None:
        """Run the tasks whose time has come."""
        for task in list(self._tasks):
            if self.is_running and task.due_ms <= self._time.hi_res_ms():
                self._run(task)
                task.due_ms = self._time.hi_res_ms() + task.period_ms

    def _run(self, task: _Task) -> None:
        try:
            task.run()
        except KafkaError as error:
            logger.warning("%s: %s failed, and is tried again: %s", self.name, task.description, error)
        except Exception:
            logger.exception("%s: error in %s", self.name, task.description)
