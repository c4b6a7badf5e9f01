"""The signals that stop a foreground process: SIGTERM, Ctrl-C, and SIGHUP when the terminal closes.

Kafka 0.10.2: core/.../Kafka.scala (the shutdown hook), bin/kafka-server-stop.sh · book 7.4
"""

from __future__ import annotations

import os
import signal
from types import FrameType

FORCED_EXIT_CODE = 128 + signal.SIGINT
SIGNAL_CHECK_S = 0.5
"""How long the main thread waits at most before it looks for signals.

A waiting main thread does not always notice one. CPython's own handler only leaves a note, and wakes nobody up if
another thread runs it, or if the main thread was just about to wait.
"""


class StopRequested(BaseException):
    """Raised in the main thread by the first signal, at any point. Not an error, so not an ``Exception``."""

    def __init__(self, number: int = signal.SIGTERM) -> None:
        super().__init__(number)
        self.exit_code = 128 + number
        """The exit code that shells expect from a process ended by the signal."""


class StopSignals:
    """Turns the first signal into StopRequested; while the server stops, a second Ctrl-C ends the process at once.

    The handler does nothing else, because it may interrupt code that holds a lock.
    """

    SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

    def __init__(self) -> None:
        self._stopping = False
        self._raised: StopRequested | None = None

    def install(self) -> None:
        """Start handling the signals; those that the parent process ignores (``nohup``) stay ignored."""
        for number in self.SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN or number == signal.SIGTERM:
                signal.signal(number, self._handle)

    def disarm(self) -> None:
        """Ignore further stop requests: the server is stopping already."""
        self._stopping = True

    def raise_again(self) -> None:
        """Re-raise the first signal's StopRequested, if there was one.

        A library may have swallowed it: kazoo wakes its connection under a bare ``except`` and then reports the
        connection as closed. So call this after third-party code has run.
        """
        if self._raised is not None:
            raise self._raised

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if not self._stopping:
            self._stopping = True
            self._raised = StopRequested(number)
            raise self._raised
        if number == signal.SIGINT:
            os._exit(FORCED_EXIT_CODE)
