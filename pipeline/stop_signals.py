"""Handles Ctrl-C at any time, in a program that starts brokers and JVMs, leaving nothing running.

Kafka 0.10.2: core/.../Kafka.scala (the shutdown hook) · book 1.4.1
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_EXIT_TIMEOUT_S = 15
_POLL_S = 0.02
_STDERR = 2
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
    """Terminate all child processes; kill those still running after a timeout."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        for child in _children():
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, number)
        deadline = time.monotonic() + _EXIT_TIMEOUT_S
        while _reap() and time.monotonic() < deadline:
            time.sleep(_POLL_S)


def _children() -> list[int]:
    processes = Path("/proc")
    if (processes / "self" / "stat").exists():
        stats = [_text(stat) for stat in processes.glob("[0-9]*/stat")]
        # The program's name is in brackets and may contain brackets: state and parent follow the last one.
        pairs = [(stat.split(" ", 1)[0], stat.rpartition(")")[2].split()[1]) for stat in stats if stat]
    else:
        listing = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=False).stdout
        pairs = [(pid, parent) for pid, parent in map(str.split, listing.splitlines())]
    return [int(pid) for pid, parent in pairs if int(parent) == os.getpid()]


def _text(path: Path) -> str:
    """Read a file, or return an empty string if it no longer exists."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _reap() -> bool:
    """Reap ended children; returns whether any are still running."""
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    except ChildProcessError:
        return False
    return True
