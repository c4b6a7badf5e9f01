"""The machine's clock, which a test can advance.

Kafka 0.10.2: core/.../utils/MockTime.scala · book 6.3.3
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from datetime import timedelta

from kafka_lite.common.time import SystemTime
from kafka_lite.testing.arguments import check_number

STEPS = "say advance(days=…, hours=…, minutes=…, seconds=…, ms=…), any of them, or pass a datetime.timedelta"


class ShiftedTime(SystemTime):
    """Runs like the machine's clock, ahead of it by the sum of all ``advance`` calls.

    A mock clock that only moves when told to cannot drive a broker with sockets: a thread that waits for bytes blocks
    in the kernel, and the client at the other end has its own clock. So this clock keeps running, waiting is real, and
    a test makes the clock *jump*::

        machine   ──10:00:00────10:00:01────────────────────10:00:02────▶
        broker    ──10:00:00────10:00:01  advance(hours=1)  11:00:02────▶
                                              │
                                              └▶ every wait for a time before 11:00 ends

    Both clocks of ``Time`` jump, the one for timestamps and the one for deadlines: otherwise records would be old, but
    the check that deletes them would not be due.
    """

    def __init__(self) -> None:
        self._ahead_ms = 0.0
        self._lock = threading.Lock()
        self._waited_on: weakref.WeakSet[threading.Condition] = weakref.WeakSet()
        self._listeners: list[Callable[[], None]] = []

    @property
    def ahead_ms(self) -> float:
        """How far this clock is ahead of the machine's clock, in ms."""
        return self._ahead_ms

    def milliseconds(self) -> int:
        """Wall clock, ms since the epoch."""
        return super().milliseconds() + int(self._ahead_ms)

    def hi_res_ms(self) -> float:
        """Monotonic clock in ms."""
        return super().hi_res_ms() + self._ahead_ms

    def advance(
        self,
        delta: timedelta | None = None,
        *,
        days: float | None = None,
        hours: float | None = None,
        minutes: float | None = None,
        seconds: float | None = None,
        milliseconds: float | None = None,
        ms: float | None = None,
    ) -> None:
        """Advance the clock, wake up all timed waits, and call the listeners. ``ms`` is short for ``milliseconds``.

        Raises ValueError for a negative step: deadlines rely on a clock that never goes back. Raises TypeError without
        a step, and for a step that is not a timedelta and has no unit.
        """
        if delta is not None and not isinstance(delta, timedelta):
            raise TypeError(f"advance({delta!r}): of which unit? {STEPS}")
        if (delta, days, hours, minutes, seconds, milliseconds, ms) == (None,) * 7:
            raise TypeError(f"advance(): by how much? {STEPS}")
        step = delta or timedelta()
        for unit, value in (
            ("days", days), ("hours", hours), ("minutes", minutes), ("seconds", seconds),
            ("milliseconds", milliseconds), ("milliseconds", ms),
        ):  # fmt: skip
            if value is not None:
                check_number("a step of the clock", value, STEPS)
                step += timedelta(**{unit: value})
        step_ms = step / timedelta(milliseconds=1)
        if step_ms < 0:
            raise ValueError(f"time can only move forward, not by {step_ms:g} ms")
        with self._lock:
            self._ahead_ms += step_ms
            waited_on = list(self._waited_on)
        for condition in waited_on:
            with condition:
                condition.notify_all()
        for listener in list(self._listeners):
            listener()

    def go_back(self) -> None:
        """Show the machine's time again. Call it only while no broker runs on this clock: deadlines rely on that."""
        with self._lock:
            self._ahead_ms = 0.0

    def add_listener(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` at the end of every ``advance``."""
        self._listeners.append(listener)

    def remove_listener(self, listener: Callable[[], None]) -> None:
        """Stop calling ``listener``."""
        self._listeners.remove(listener)

    def wait(self, condition: threading.Condition, timeout_ms: float) -> bool:
        """Wait on ``condition``, whose lock is held, for at most ``timeout_ms`` of this clock."""
        with self._lock:
            known = condition in self._waited_on
            self._waited_on.add(condition)
        # advance() takes the lock of every known condition, so it runs either before the caller reads the clock or
        # after the wait has begun. It may not have known a new condition, so the caller must read the clock again.
        return True if not known else super().wait(condition, timeout_ms)
