"""The clock. Time-dependent code gets it as a parameter, so that tests need not wait.

Kafka 0.10.2: clients/.../common/utils/Time.java; its tests' MockTime.java · book 6.3.3
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

from kafka_lite.common.system_time import SYSTEM_TIME, SystemTime

__all__ = ["SYSTEM_TIME", "MockTime", "SystemTime", "Time"]


class Time(Protocol):
    """The interface of a clock."""

    def milliseconds(self) -> int:
        """Wall-clock time in ms since the epoch: for timestamps that are stored or sent."""
        ...

    def hi_res_ms(self) -> float:
        """Monotonic time in ms, with fractions: for durations and deadlines."""
        ...

    def sleep(self, ms: float) -> None:
        """Sleep for ``ms`` milliseconds."""
        ...

    def wait(self, condition: threading.Condition, timeout_ms: float) -> bool:
        """Wait on a condition whose lock is held. Returns False if ``timeout_ms`` passed without a notification."""
        ...


class MockTime:
    """A clock that moves only when it is told to; ``auto_tick_ms`` advances it a little at every reading."""

    def __init__(self, start_ms: int = 1_500_000_000_000, auto_tick_ms: float = 0) -> None:
        self._wall_ms = float(start_ms)
        self._mono_ms = 0.0
        self._auto_tick_ms = auto_tick_ms
        self._lock = threading.Lock()
        self._listeners: list[Callable[[], None]] = []

    def milliseconds(self) -> int:
        """The simulated wall-clock time in ms."""
        self._tick()
        return int(self._wall_ms)

    def hi_res_ms(self) -> float:
        """The simulated monotonic time in ms."""
        self._tick()
        return self._mono_ms

    def sleep(self, ms: float) -> None:
        """Advance the clock by ``ms`` and notify all listeners (schedulers, waiters)."""
        with self._lock:
            self._wall_ms += ms
            self._mono_ms += ms
            listeners = list(self._listeners)
        for listener in listeners:
            listener()

    def wait(self, condition: threading.Condition, timeout_ms: float) -> bool:
        """Advance the clock by ``timeout_ms`` and return False, as if no notification came."""
        condition.release()
        try:
            self.sleep(timeout_ms)
        finally:
            condition.acquire()
        return False

    def add_listener(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` after every ``sleep``; MockScheduler runs due tasks this way."""
        self._listeners.append(listener)

    def _tick(self) -> None:
        if self._auto_tick_ms:
            self.sleep(self._auto_tick_ms)
