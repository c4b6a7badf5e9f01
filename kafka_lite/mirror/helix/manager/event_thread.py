"""A thread that handles events in the order in which they came; one that is waiting already is not entered again.

Helix 0.6.9: helix-core/.../common/ClusterEventBlockingQueue.java (ClusterEventBlockingQueue) · book 8.2.2
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from kafka_lite.common.shutdownable_thread import ShutdownableThread

logger = logging.getLogger(__name__)

E = TypeVar("E")


class EventThread(ShutdownableThread, Generic[E]):
    """Handles events one by one. A handler looks at everything, so that several equal events need one run."""

    def __init__(self, name: str, handle: Callable[[E], None]) -> None:
        super().__init__(name)
        self._handle = handle
        self._changed = threading.Condition()
        self._events: list[E] = []

    def put(self, event: E) -> None:
        """Enter an event. Thread-safe; may be called from a watch, since it does not block."""
        with self._changed:
            if event not in self._events:
                self._events.append(event)
                self._changed.notify_all()

    def do_work(self) -> None:
        """Wait for the next event, and handle it. An error is logged, and the next event is handled all the same."""
        with self._changed:
            while not self._events and self.is_running:
                self._changed.wait()
            if not self.is_running:
                return
            event = self._events.pop(0)
        try:
            self._handle(event)
        except Exception:
            if self.is_running:
                logger.exception("[%s] %s was not handled", self.name, event)

    def wake_up(self) -> None:
        """End the wait."""
        with self._changed:
            self._changed.notify_all()
