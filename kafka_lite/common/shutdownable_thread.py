"""A named thread that runs a loop until it is shut down.

Kafka 0.10.2: core/.../utils/ShutdownableThread.scala · book 3.3.2
"""

from __future__ import annotations

import contextlib
import logging
import threading
from abc import ABC, abstractmethod

logger = logging.getLogger(__name__)


class ProcessKilledError(BaseException):
    """Ends the thread of a broker that a test kills as ``kill -9`` does: see ``KafkaServer.halt``.

    No ``except Exception`` on the way catches it, logs it, and lets the thread do more than it would have done.
    """


class ShutdownableThread(threading.Thread, ABC):
    """A thread that calls ``do_work`` in a loop until it is shut down.

    ``shutdown`` is ``initiate_shutdown`` (request it) followed by ``await_shutdown`` (wait for it). A subclass whose
    ``do_work`` can block overrides ``wake_up`` so that it notices the request at once.
    """

    def __init__(self, name: str) -> None:
        # A daemon, so that a notebook without a shutdown does not hang the interpreter; every owner joins its threads.
        super().__init__(name=name, daemon=True)
        self._stopping = threading.Event()

    @property
    def is_running(self) -> bool:
        """False as soon as a shutdown has been requested."""
        return not self._stopping.is_set()

    @abstractmethod
    def do_work(self) -> None:
        """Do one iteration of the loop."""

    def wake_up(self) -> None:
        """Interrupt a blocking ``do_work``. A no-op unless a subclass blocks."""

    def on_exit(self) -> None:
        """Called last, in the thread itself, whether the loop ended normally or with an error."""

    def initiate_shutdown(self) -> bool:
        """Request the shutdown. Returns False if it had already been requested."""
        if self._stopping.is_set():
            return False
        self._stopping.set()
        self.wake_up()
        return True

    def await_shutdown(self, timeout_s: float | None = None) -> None:
        """Wait until the thread has ended. Returns at once if it never started, or if the thread itself calls this."""
        if self.ident is not None and self is not threading.current_thread():
            self.join(timeout_s)

    def shutdown(self, timeout_s: float | None = None) -> None:
        """Request the shutdown and wait until the thread has ended."""
        self.initiate_shutdown()
        self.await_shutdown(timeout_s)

    def pause(self, ms: float) -> bool:
        """Sleep for ``ms`` (may be infinite) unless a shutdown interrupts. Returns True if a shutdown was requested."""
        return self._stopping.wait(min(ms / 1000, threading.TIMEOUT_MAX))

    def run(self) -> None:
        """Run the loop. An exception is logged and ends the thread, as in Kafka."""
        logger.debug("Starting %s", self.name)
        try:
            while self.is_running:
                self.do_work()
        except Exception:
            if self.is_running:
                logger.exception("%s stopped because of an error", self.name)
        except ProcessKilledError:
            pass  # in silence
        finally:
            self._stopping.set()
            with contextlib.suppress(ProcessKilledError):
                self.on_exit()
        logger.debug("Stopped %s", self.name)
