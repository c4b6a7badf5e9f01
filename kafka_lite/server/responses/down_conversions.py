"""The thread that converts records for old consumers.

Kafka 0.10.2: none; there request handlers convert, and since 2.0 network threads · book 10.2
"""

from __future__ import annotations

import logging
import queue
from collections.abc import Callable
from threading import Lock

from kafka_lite.common.shutdownable_thread import ShutdownableThread

logger = logging.getLogger(__name__)

Task = Callable[[], object]


class DownConversions:
    """Runs one conversion after the other in a thread of its own, which starts with the first one.

    A hundred kilobytes of gzip may hold a hundred megabytes, which are in memory several times while they are
    converted, so there is one conversion at a time. Request handlers do not wait for it, and a network thread, which
    may complete a fetch that waited, never converts.
    """

    def __init__(self, name: str = "down-conversion") -> None:
        self._name = name
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._lock = Lock()
        self._thread: ConversionThread | None = None
        self._is_shut_down = False

    def submit(self, task: Task) -> None:
        """Run ``task`` after those that came before; it must not raise. After ``shutdown`` it is dropped."""
        self._tasks.put(task)
        if self._thread is None:
            self._start()

    def _start(self) -> None:
        with self._lock:
            if self._thread is None and not self._is_shut_down:
                self._thread = ConversionThread(self._name, self._tasks)
                self._thread.start()

    def shutdown(self) -> None:
        """Drop the tasks that wait, and wait for the one in progress."""
        with self._lock:
            self._is_shut_down = True
            thread = self._thread
        if thread is not None:
            thread.shutdown()


class ConversionThread(ShutdownableThread):
    """Takes tasks from a queue; None wakes it up."""

    def __init__(self, name: str, tasks: queue.SimpleQueue[Task | None]) -> None:
        super().__init__(name)
        self._tasks = tasks

    def do_work(self) -> None:
        """Wait for a task and run it."""
        task = self._tasks.get()
        if task is None:
            return
        try:
            task()
        except Exception:
            logger.exception("A conversion failed")

    def wake_up(self) -> None:
        """Let ``do_work`` return."""
        self._tasks.put(None)
