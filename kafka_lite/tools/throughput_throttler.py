"""Keeps a tool to so many messages a second.

Kafka 0.10.2: tools/.../tools/ThroughputThrottler.java · book 1.4.1
"""

from __future__ import annotations

import threading

from kafka_lite.common.time import SYSTEM_TIME, Time

MIN_SLEEP_MS = 2.0
"""Shorter than this nobody sleeps reliably: what is due is gathered until it is worth it."""


class ThroughputThrottler:
    """Between two sends: ``if throttler.should_throttle(sent, now_ms): throttler.throttle()``.

    ``target`` messages per second; none below 0, and at 0 ``throttle`` never returns.
    """

    def __init__(self, target: float, start_ms: float, time: Time = SYSTEM_TIME) -> None:
        self._target = target
        self._start_ms = start_ms
        self._time = time
        self._sleep_ms = 1000 / target if target > 0 else 0.0
        self._deficit_ms = 0.0

    def should_throttle(self, amount_so_far: int, now_ms: float) -> bool:
        """Whether that were too many by now."""
        if self._target < 0:
            return False
        elapsed_s = (now_ms - self._start_ms) / 1000
        return elapsed_s > 0 and amount_so_far / elapsed_s > self._target

    def throttle(self) -> None:
        """Sleep for the time of one message, or remember that it is due."""
        if self._target == 0:
            threading.Event().wait()
        self._deficit_ms += self._sleep_ms
        if self._deficit_ms >= MIN_SLEEP_MS:
            begin_ms = self._time.hi_res_ms()
            self._time.sleep(self._deficit_ms)
            # Who wakes up too late need not sleep as long the next time.
            self._deficit_ms -= self._time.hi_res_ms() - begin_ms
