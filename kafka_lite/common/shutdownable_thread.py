"""A named thread that runs one turn after the other until it is told to stop.

Kafka 0.10.2: core/.../utils/ShutdownableThread.scala · book 3.3.2
"""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod

logger = logging.getLogger(__name__)


class ShutdownableThread(threading.Thread, ABC):
    """A loop around ``do_work`` with an orderly end.

    ``shutdown`` is ``initiate_shutdown`` (ask) followed by ``await_shutdown`` (wait). A subclass whose ``do_work`` can
    block overrides ``wake_up`` so that the question is heard at once.
    """

    def __init__(self, name: str) -> None:
        # Daemon, because a reader's notebook that forgets a shutdown must not hang the interpreter; every owner joins.
        super().__init__(name=name, daemon=True)
        self._stopping = threading.Event()

    @property
    def is_running(self) -> bool:
        """False as soon as somebody asked for the end."""
        return not self._stopping.is_set()

    @abstractmethod
    def do_work(self) -> None:
        """One turn of the loop."""

    def wake_up(self) -> None:
        """Interrupt a blocking ``do_work``; nothing to do unless a subclass blocks."""

    def on_exit(self) -> None:
        """Called in the thread itself, last, whether the loop ended well or not."""

    def initiate_shutdown(self) -> bool:
        """Ask for the end; false when somebody asked before."""
        if self._stopping.is_set():
            return False
        self._stopping.set()
        self.wake_up()
        return True

    def await_shutdown(self, timeout_s: float | None = None) -> None:
        """Wait until the thread has ended (returns at once in a thread that never started, or in the thread itself)."""
        if self.ident is not None and self is not threading.current_thread():
            self.join(timeout_s)

    def shutdown(self, timeout_s: float | None = None) -> None:
        """Ask for the end and wait for it."""
        self.initiate_shutdown()
        self.await_shutdown(timeout_s)

    def pause(self, ms: float) -> bool:
        """Sleep that a shutdown interrupts, also one for ever; true when the shutdown has come."""
        return self._stopping.wait(min(ms / 1000, threading.TIMEOUT_MAX))

    def run(self) -> None:
        """The loop. An error ends the thread with one log line; Kafka does the same."""
        logger.debug("Starting %s", self.name)
        try:
            while self.is_running:
                self.do_work()
        except Exception:
            if self.is_running:
                logger.exception("%s died of an error", self.name)
        finally:
            self._stopping.set()
            self.on_exit()
        logger.debug("Stopped %s", self.name)
