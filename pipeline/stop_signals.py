"""Handles Ctrl-C at any moment and leaves nothing running, in a program that starts brokers and JVMs.

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
    """Handles SIGINT, SIGTERM and SIGHUP by ending all children and then this process, at once.

    No exception is raised: it would interrupt any C code that is running, and pandas, librdkafka and Py4J each handle
    that in another way. ``farewell`` is called when all children have ended.
    """

    def __init__(self, farewell: Callable[[], None]) -> None:
        self._farewell = farewell
        # A signal that is ignored from the beginning stays so: that is what nohup and a shell's & ask for.
        candidates = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        self._numbers = [number for number in candidates if signal.getsignal(number) is not signal.SIG_IGN]

    def install(self) -> None:
        """Set the handlers; call it again if other code has replaced them."""
        for number in self._numbers:
            signal.signal(number, self._stop)

    def _stop(self, number: int, _frame: Any) -> None:
        for ignored in self._numbers:
            signal.signal(ignored, signal.SIG_IGN)
        # What the other threads say when all that they talk to goes away helps nobody.
        os.dup2(os.open(os.devnull, os.O_WRONLY), _STDERR)
        sys.stderr = sys.__stderr__  # which a spinner of rich had taken, to show it on stdout
        end_children()
        self._farewell()
        sys.stdout.flush()
        os._exit(_SIGNAL_EXIT_CODE + number)


def end_children() -> None:
    """Terminate all child processes; kill those that are still running after a while."""
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
        # The name of a program stands in brackets, and may have some itself: state and parent follow the last one.
        pairs = [(stat.split(" ", 1)[0], stat.rpartition(")")[2].split()[1]) for stat in stats if stat]
    else:
        listing = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=False).stdout
        pairs = [(pid, parent) for pid, parent in map(str.split, listing.splitlines())]
    return [int(pid) for pid, parent in pairs if int(parent) == os.getpid()]


def _text(path: Path) -> str:
    """Read a file that may be gone by now."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _reap() -> bool:
    """Whether children are still running."""
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    except ChildProcessError:
        return False
    return True
