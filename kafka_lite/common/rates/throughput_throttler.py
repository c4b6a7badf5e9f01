"""Limits a tool's rate of messages per second.

Kafka 0.10.2: tools/.../tools/ThroughputThrottler.java · book 1.4.1
"""

from __future__ import annotations

import threading

from kafka_lite.common.time import SYSTEM_TIME, Time

MIN_SLEEP_MS = 2.0
"""Shorter sleeps are unreliable, so sleep time is accumulated until it reaches this."""


class ThroughputThrottler:
    """Call between sends: ``if throttler.should_throttle(sent, now_ms): throttler.throttle()``.

    ``target`` is in messages per second; a negative target is no limit, and at 0 ``throttle`` waits for
    ``wakeup``.
    """

    def __init__(self, target: float, start_ms: float, time: Time = SYSTEM_TIME) -> None:
        self._target = target
        self._start_ms = start_ms
        self._time = time
        self._sleep_ms = 1000 / target if target > 0 else 0.0
        self._deficit_ms = 0.0
        self._wakeup = threading.Condition()
        self._woken = False

    def should_throttle(self, amount_so_far: int, now_ms: float) -> bool:
        """Whether ``amount_so_far`` messages exceed the target rate at ``now_ms``."""
        if self._target < 0:
            return False
        elapsed_s = (now_ms - self._start_ms) / 1000
        return elapsed_s > 0 and amount_so_far / elapsed_s > self._target

    def throttle(self) -> None:
        """Sleep for the time of one message, or add it to the accumulated sleep time."""
        if self._target == 0:
            with self._wakeup:
                while not self._woken:
                    self._time.wait(self._wakeup, 1000)
            return
        self._deficit_ms += self._sleep_ms
        if self._deficit_ms >= MIN_SLEEP_MS:
            begin_ms = self._time.hi_res_ms()
            with self._wakeup:
                if not self._woken:
                    self._time.wait(self._wakeup, self._deficit_ms)
            # Oversleeping is deducted from the next sleep.
            self._deficit_ms -= self._time.hi_res_ms() - begin_ms

    def wakeup(self) -> None:
        """End the sleep of another thread, and any later one."""
        with self._wakeup:
            self._woken = True
            self._wakeup.notify_all()
