"""How a server in the foreground is told to stop: SIGTERM, Ctrl-C, or the terminal that goes away.

Kafka 0.10.2: core/.../Kafka.scala (the shutdown hook), bin/kafka-server-stop.sh · book 7.4
"""

from __future__ import annotations

import os
import signal
from types import FrameType

FORCED_EXIT_CODE = 128 + signal.SIGINT


class StopRequested(BaseException):
    """Raised in the main thread by the first signal, wherever the thread is. Not an error, hence no ``Exception``."""

    def __init__(self, number: int = signal.SIGTERM) -> None:
        super().__init__(number)
        self.exit_code = 128 + number
        """What a shell expects of a process that the signal has ended."""


class StopSignals:
    """Turns the first signal into StopRequested; while the server stops, a second Ctrl-C ends the process at once.

    Nothing else is done in a handler: it may interrupt code that holds a lock.
    """

    SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

    def __init__(self) -> None:
        self._stopping = False
        self._raised: StopRequested | None = None

    def install(self) -> None:
        """Handle the signals from now on; those that the parent had ignored (``nohup``) remain ignored."""
        for number in self.SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN or number == signal.SIGTERM:
                signal.signal(number, self._handle)

    def disarm(self) -> None:
        """The server stops now, for whatever reason: a signal need no longer say so."""
        self._stopping = True

    def raise_again(self) -> None:
        """Raise the first signal's StopRequested once more, if there was one.

        A library may have taken it for an error of its own: kazoo wakes its connection under a bare ``except``, and
        says then that the connection is closed. So this is asked where foreign code has had its turn.
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
