"""Handles Ctrl-C at any time, in a program that starts brokers and JVMs, leaving nothing running.

Kafka 0.10.2: core/.../Kafka.scala (the shutdown hook) · book 1.4.1
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

from pipeline.processes import Process, processes

_EXIT_TIMEOUT_S = 15
_POLL_S = 0.02
_STDERR = 2
_PR_SET_CHILD_SUBREAPER = 36
_SIGNAL_EXIT_CODE = 128  # plus the number of the signal, as shells report it


class StopSignals:
    """Handles SIGINT, SIGTERM and SIGHUP by ending all children and then this process, immediately.

    No exception is raised, because it could surface inside pandas, librdkafka or Py4J, which each handle it
    differently. ``farewell`` is called once all children have ended.
    """

    def __init__(self, farewell: Callable[[], None]) -> None:
        self._farewell = farewell
        # A signal that is ignored at startup stays ignored, as nohup and a shell's & require.
        candidates = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        self._numbers = [number for number in candidates if signal.getsignal(number) is not signal.SIG_IGN]

    def install(self) -> None:
        """Set the handlers; call it again if other code has replaced them."""
        for number in self._numbers:
            signal.signal(number, self._stop)

    def _stop(self, number: int, _frame: Any) -> None:
        for ignored in self._numbers:
            signal.signal(ignored, signal.SIG_IGN)
        # Suppress the errors of other threads when the processes they talk to disappear.
        os.dup2(os.open(os.devnull, os.O_WRONLY), _STDERR)
        sys.stderr = sys.__stderr__  # a rich spinner may have redirected it to stdout
        end_children()
        self._farewell()
        sys.stdout.flush()
        os._exit(_SIGNAL_EXIT_CODE + number)


def end_children() -> None:
    """Terminate all child processes and kill those still there after a timeout; then kill what they had started."""
    _adopt_orphans()
    started = _below_us()
    own = {process for process, parent in processes() if parent == os.getpid()}
    for number in (signal.SIGTERM, signal.SIGKILL):
        _signal(own & _all(), number)
        deadline = time.monotonic() + _EXIT_TIMEOUT_S
        while own & _all() and time.monotonic() < deadline:
            _reap()
            time.sleep(_POLL_S)
    # A JVM that ends may have started another Python worker meanwhile.
    while _reap() or started & _all():
        _signal(started & _all() | _below_us(), signal.SIGKILL)
        time.sleep(_POLL_S)


def _adopt_orphans() -> None:
    """Become the parent of what descendants leave behind, so that it can be found. Only Linux knows this."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children() -> list[int]:
    """The ids of this process's child processes."""
    return [process.pid for process, parent in processes() if parent == os.getpid()]


def _signal(targets: set[Process], number: signal.Signals) -> None:
    for process in targets:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, number)


def _below_us() -> set[Process]:
    """The children, their children, and so on."""
    everyone = processes()
    found: set[Process] = set()
    parents = {os.getpid()}
    while parents:
        level = {process for process, parent in everyone if parent in parents} - found
        found |= level
        parents = {process.pid for process in level}
    return found


def _all() -> set[Process]:
    return {process for process, _ in processes()}


def _reap() -> bool:
    """Let the kernel forget children that have ended; tell whether there are others."""
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    except ChildProcessError:
        return False
    return True
