"""The thread that sends heartbeats while the user processes records.

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
    """The part of the coordinator that its heartbeat thread uses."""

    def heartbeat_turn(self) -> float | None:
        """Do what is due, with the lock held. Returns how long to wait, ms; None to wait until the thread is
        enabled."""
        ...


class HeartbeatThread(ShutdownableThread):
    """Sends heartbeats while it is enabled, that is, while the member is in a stable group.

    The book describes Kafka 0.9, where a ``HeartbeatTask`` in a queue of delayed tasks ran within ``poll``: a member
    that processed records for longer than the session timeout was removed from its group. Since 0.10.1 (KIP-62) this
    thread sends the heartbeats, which separates two questions: is the process alive (``session.timeout.ms``), and does
    it make progress (``max.poll.interval.ms``)? This thread watches the second one too, and makes the member leave when
    it polls too late.

    The thread shares the coordinator's lock and waits on its condition. An error that ends the thread is raised by the
    next poll.
    """

    def __init__(self, name: str, owner: HeartbeatOwner, condition: threading.Condition, time: Time) -> None:
        super().__init__(name)
        self._owner = owner
        self._condition = condition
        self._time = time
        self._enabled = False
        self.failure: Exception | None = None
        """The error that has ended the thread."""

    @property
    def is_enabled(self) -> bool:
        """Whether it sends heartbeats."""
        return self._enabled

    def enable(self) -> None:
        """The member has joined. Must be called with the lock held."""
        logger.debug("Enabling heartbeat thread")
        self._enabled = True
        self._condition.notify_all()

    def disable(self) -> None:
        """The member joins again or has left. Must be called with the lock held."""
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
        """End the wait, so that the thread can stop."""
        with self._condition:
            self._condition.notify_all()
