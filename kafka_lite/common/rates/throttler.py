"""Limits a rate, such as the bytes per second that the log cleaner reads and writes.

Kafka 0.10.2: core/.../utils/Throttler.scala · book 6.1.6
"""

from __future__ import annotations

import math
import threading

from kafka_lite.common.time import Time

DEFAULT_CHECK_INTERVAL_MS = 300


class Throttler:
    """Counts work and tells the caller how long to pause.

    ::

        observed  │▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒│            3 MB within 300 ms, at a limit of 5 MB/s:
        time      │── 300 ms ──│ pause 300 ms │     3 MB should take 600 ms

    The rate is checked once every ``check_interval_ms``, so that short bursts do not count. Threads may share a
    throttler; the limit then applies to their sum.
    """

    def __init__(
        self, desired_rate_per_second: float, time: Time, check_interval_ms: float = DEFAULT_CHECK_INTERVAL_MS
    ) -> None:
        self.desired_rate_per_second = desired_rate_per_second
        self._time = time
        self._check_interval_ms = check_interval_ms
        self._lock = threading.Lock()
        self._period_start_ms = time.hi_res_ms()
        self._observed_so_far = 0.0
        self.total_observed = 0.0
        """Everything counted so far."""

    def update_desired_rate_per_second(self, rate: float) -> None:
        """Change the limit. Discards the current period, since a pause under the old limit may be infinite."""
        with self._lock:
            self.desired_rate_per_second = rate
            self._period_start_ms = self._time.hi_res_ms()
            self._observed_so_far = 0.0

    def pause_ms(self, observed: float) -> float:
        """Count ``observed``. Returns how long to pause now (ms): usually 0, infinity if the limit is 0.

        The caller sleeps, because it may have to stop or abort its work before the pause is over.
        """
        with self._lock:
            self._observed_so_far += observed
            self.total_observed += observed
            now_ms = self._time.hi_res_ms()
            elapsed_ms = now_ms - self._period_start_ms
            if elapsed_ms <= self._check_interval_ms or self._observed_so_far == 0:
                return 0
            rate = self.desired_rate_per_second
            worth_ms = 1000 * self._observed_so_far / rate if rate > 0 else math.inf
            pause_ms = max(0.0, worth_ms - elapsed_ms)
            self._period_start_ms = now_ms + pause_ms
            self._observed_so_far = 0.0
            return pause_ms
