"""The thread that says "I live" while the user works on records.

Kafka 0.10.2: clients/.../consumer/internals/AbstractCoordinator.java (HeartbeatThread) · book 4.3.3
"""

from __future__ import annotations

import logging
import threading
from typing import Protocol

from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.time import Time

logger = logging.getLogger(__name__)


class HeartbeatOwner(Protocol):
    """The coordinator, as its heartbeat thread needs it."""

    def heartbeat_turn(self) -> float | None:
        """Do what is due, with the lock held; how long to wait until the next turn, or None: nothing until enabled."""
        ...


class HeartbeatThread(ShutdownableThread):
    """Enabled while the member is in the group, and sleeps otherwise.

    The book describes Kafka 0.9, where a ``HeartbeatTask`` in a queue of delayed tasks ran within ``poll``: whoever
    worked on records for longer than the session was thrown out. Since 0.10.1 (KIP-62) this thread sends the
    heartbeats, so that two questions have two answers: is the process alive (``session.timeout.ms``), and does it make
    progress (``max.poll.interval.ms``, which this thread watches over; it makes the member leave when it is exceeded).

    It shares the coordinator's lock, on whose condition it waits. An error that ends it is raised in the next poll.
    """

    def __init__(self, name: str, owner: HeartbeatOwner, condition: threading.Condition, time: Time) -> None:
        super().__init__(name)
        self._owner = owner
        self._condition = condition
        self._time = time
        self._enabled = False
        self.failure: Exception | None = None
        """What has ended the thread."""

    @property
    def is_enabled(self) -> bool:
        """Whether it sends heartbeats."""
        return self._enabled

    def enable(self) -> None:
        """The member has joined. The lock is held."""
        logger.debug("Enabling heartbeat thread")
        self._enabled = True
        self._condition.notify_all()

    def disable(self) -> None:
        """The member joins anew, or has left. The lock is held."""
        if self._enabled:
            logger.debug("Disabling heartbeat thread")
        self._enabled = False

    def do_work(self) -> None:
        """One turn: wait, or do what is due."""
        with self._condition:
            if not self.is_running:
                return
            if not self._enabled:
                self._condition.wait()
                return
            try:
                wait_ms = self._owner.heartbeat_turn()
            except Exception as error:
                logger.exception("Heartbeat thread failed due to unexpected error")
                self.failure = error
                self.initiate_shutdown()
                return
            if wait_ms is None:
                self.disable()
            elif wait_ms > 0:
                self._time.wait(self._condition, wait_ms)

    def wake_up(self) -> None:
        """End the wait: the thread shall stop."""
        with self._condition:
            self._condition.notify_all()
