"""Makes source tasks commit their offsets from time to time.

Kafka 0.10.2: connect/runtime/.../connect/runtime/SourceTaskOffsetCommitter.java · book 8.3.5
"""

from __future__ import annotations

import logging
import threading
from typing import Protocol

from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId

logger = logging.getLogger(__name__)

FOREVER_MS = 3_600_000


class OffsetCommits(Protocol):
    """A WorkerSourceTask."""

    def commit_offsets(self) -> bool:
        """Commit; false if that failed."""
        ...


class SourceTaskOffsetCommitter(ShutdownableThread):
    """One thread for all source tasks of a worker.

    (A sink task commits in its own thread, which never waits long. A source task is at the mercy of its ``poll``.)
    """

    def __init__(self, interval_ms: float, time: Time = SYSTEM_TIME) -> None:
        """``interval_ms`` is the time from the end of a task's commit to its next one."""
        super().__init__("SourceTaskOffsetCommitter")
        self._interval_ms = interval_ms
        self._time = time
        self._changed = threading.Condition()
        self._tasks: dict[ConnectorTaskId, OffsetCommits] = {}
        self._due_ms: dict[ConnectorTaskId, float] = {}

    def schedule(self, task_id: ConnectorTaskId, task: OffsetCommits) -> None:
        """Commit the task's offsets after one interval, and then again and again."""
        with self._changed:
            self._tasks[task_id] = task
            self._due_ms[task_id] = self._time.hi_res_ms() + self._interval_ms
            self._changed.notify_all()

    def remove(self, task_id: ConnectorTaskId) -> None:
        """Leave the task alone. A commit that is in progress is not interrupted."""
        with self._changed:
            self._tasks.pop(task_id, None)
            self._due_ms.pop(task_id, None)

    def do_work(self) -> None:
        """Commit what is due, or wait for it."""
        with self._changed:
            task_id = min(self._due_ms, key=self._due_ms.__getitem__, default=None)
            wait_ms = FOREVER_MS if task_id is None else self._due_ms[task_id] - self._time.hi_res_ms()
            if task_id is None or wait_ms > 0:
                if self.is_running:
                    self._time.wait(self._changed, wait_ms)
                return
            task = self._tasks[task_id]
        _commit(task_id, task)
        with self._changed:
            if self._tasks.get(task_id) is task:
                self._due_ms[task_id] = self._time.hi_res_ms() + self._interval_ms

    def wake_up(self) -> None:
        """End a wait."""
        with self._changed:
            self._changed.notify_all()


def _commit(task_id: ConnectorTaskId, task: OffsetCommits) -> None:
    try:
        if not task.commit_offsets():
            logger.error("Failed to commit offsets for %s", task_id)
    except Exception:
        logger.exception("Unhandled exception when committing %s", task_id)
