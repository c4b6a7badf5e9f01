"""The thread in which the controller does everything.

Kafka 0.10.2 guards the controller with a lock that every ZooKeeper listener takes; since 0.11 Kafka has this queue:
core/.../controller/ControllerEventManager.scala · book 7.1.3
"""

from __future__ import annotations

import logging
import queue
from collections.abc import Callable
from dataclasses import dataclass

from kafka_lite.common.shutdownable_thread import ShutdownableThread

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ControllerEvent:
    """Something that happened in ZooKeeper or on a broker, and what the controller does about it."""

    name: str
    process: Callable[[], None]


class ControllerEventThread(ShutdownableThread):
    """Takes events from a queue, one at a time, so the controller needs no locks."""

    def __init__(self, controller_id: int) -> None:
        super().__init__(f"controller-event-thread-{controller_id}")
        self._queue: queue.Queue[ControllerEvent | None] = queue.Queue()

    def put(self, event: ControllerEvent) -> None:
        """Queue an event."""
        self._queue.put(event)

    def wake_up(self) -> None:
        """Wake the thread if it waits for an event."""
        self._queue.put(None)

    def do_work(self) -> None:
        """Process the next event. A failure is logged and does not end the thread."""
        event = self._queue.get()
        if event is None:
            return
        try:
            event.process()
        except Exception:
            if self.is_running:
                logger.exception("Error processing controller event %s", event.name)
