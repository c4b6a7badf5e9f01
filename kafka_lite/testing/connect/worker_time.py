"""The clock of a worker whose process a test stops.

Not in Kafka: its system tests send signals to processes.
"""

from __future__ import annotations

import threading
import weakref
from enum import Enum, auto

from kafka_lite.common.shutdownable_thread import ProcessKilledError, ShutdownableThread
from kafka_lite.common.time import SYSTEM_TIME


class _Process(Enum):
    RUNNING = auto()
    PAUSED = auto()
    KILLED = auto()


class WorkerTime:
    """Every thread of a worker reads the clock before it sends, receives or writes anything. So here it can be held, as
    by SIGSTOP, or ended, as by SIGKILL: in silence, without a last word to the group."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._process = _Process.RUNNING
        self._threads: weakref.WeakSet[ShutdownableThread] = weakref.WeakSet()

    # ── Time ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def milliseconds(self) -> int:
        """Wall clock, ms since the epoch."""
        self._pass()
        return SYSTEM_TIME.milliseconds()

    def hi_res_ms(self) -> float:
        """Monotonic clock in ms."""
        self._pass()
        return SYSTEM_TIME.hi_res_ms()

    def sleep(self, ms: float) -> None:
        """Block the calling thread."""
        self._pass()
        SYSTEM_TIME.sleep(ms)
        self._pass()

    def wait(self, condition: threading.Condition, timeout_ms: float) -> bool:
        """Wait on a condition whose lock is held."""
        self._pass()
        notified = SYSTEM_TIME.wait(condition, timeout_ms)
        self._pass()
        return notified

    def _pass(self) -> None:
        thread = threading.current_thread()
        if isinstance(thread, ShutdownableThread):
            self._threads.add(thread)
        if self._process is _Process.RUNNING:
            return
        with self._changed:
            while self._process is _Process.PAUSED:
                self._changed.wait()
            if self._process is _Process.KILLED:
                raise ProcessKilledError

    # ── the test's calls ──────────────────────────────────────────────────────────────────────────────────────────

    def pause(self) -> None:
        """Hold each thread at its next look at the clock."""
        self._change(_Process.PAUSED)

    def resume(self) -> None:
        """Let all threads continue."""
        self._change(_Process.RUNNING)

    def kill(self, timeout_s: float) -> bool:
        """End each thread at its next look at the clock, and wait for them; false if that takes longer."""
        self._change(_Process.KILLED)
        for thread in list(self._threads):
            thread.initiate_shutdown()
        for thread in list(self._threads):
            thread.await_shutdown(timeout_s)
        return not any(thread.is_alive() for thread in self._threads)

    def _change(self, process: _Process) -> None:
        with self._changed:
            self._process = process
            self._changed.notify_all()
