"""The clock, passed in wherever time decides something, so that tests need not wait.

Kafka 0.10.2: clients/.../common/utils/Time.java; its tests' MockTime.java · book 6.3.3
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

from kafka_lite.common.system_time import SYSTEM_TIME, SystemTime

__all__ = ["SYSTEM_TIME", "MockTime", "SystemTime", "Time"]


class Time(Protocol):
    """What code that depends on time may ask of it."""

    def milliseconds(self) -> int:
        """Wall clock, ms since the epoch: for timestamps that are stored or sent."""
        ...

    def hi_res_ms(self) -> float:
        """Monotonic clock in ms (fractions included): for durations and deadlines."""
        ...

    def sleep(self, ms: float) -> None:
        """Let ``ms`` milliseconds pass."""
        ...

    def wait(self, condition: threading.Condition, timeout_ms: float) -> bool:
        """Wait on a condition whose lock is held; false when ``timeout_ms`` passed without a notification."""
        ...


class MockTime:
    """A clock that moves only when told to; ``auto_tick_ms`` moves it a little at every reading."""

    def __init__(self, start_ms: int = 1_500_000_000_000, auto_tick_ms: float = 0) -> None:
        self._wall_ms = float(start_ms)
        self._mono_ms = 0.0
        self._auto_tick_ms = auto_tick_ms
        self._lock = threading.Lock()
        self._listeners: list[Callable[[], None]] = []

    def milliseconds(self) -> int:
        """The pretended wall clock, ms."""
        self._tick()
        return int(self._wall_ms)

    def hi_res_ms(self) -> float:
        """The pretended monotonic clock, ms."""
        self._tick()
        return self._mono_ms

    def sleep(self, ms: float) -> None:
        """Move the clock by ``ms`` and tell everybody who listens (schedulers, waiters)."""
        with self._lock:
            self._wall_ms += ms
            self._mono_ms += ms
            listeners = list(self._listeners)
        for listener in listeners:
            listener()

    def wait(self, condition: threading.Condition, timeout_ms: float) -> bool:
        """Pretend that nobody notified and that ``timeout_ms`` passed."""
        condition.release()
        try:
            self.sleep(timeout_ms)
        finally:
            condition.acquire()
        return False

    def add_listener(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` after every ``sleep``: how MockScheduler runs what has become due."""
        self._listeners.append(listener)

    def _tick(self) -> None:
        if self._auto_tick_ms:
            self.sleep(self._auto_tick_ms)
