"""Keeps a rate, such as the bytes that the log cleaner reads and writes in a second, below a limit.

Kafka 0.10.2: core/.../utils/Throttler.scala · book 6.1.6
"""

from __future__ import annotations

import math
import threading

from kafka_lite.common.time import Time

DEFAULT_CHECK_INTERVAL_MS = 300


class Throttler:
    """Adds up what is done, and tells whoever does it how long to pause.

    ::

        observed  │▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒│            3 MB within 300 ms, at a limit of 5 MB/s:
        time      │── 300 ms ──│ pause 300 ms │     3 MB are worth 600 ms

    The rate is looked at once in ``check_interval_ms``, so that a single step does not count. Several threads may share
    one: then the limit is that of their sum.
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
        """All that was ever counted."""

    def update_desired_rate_per_second(self, rate: float) -> None:
        """Another limit from now on. Pauses that the old one asked for are forgiven, as they may be endless."""
        with self._lock:
            self.desired_rate_per_second = rate
            self._period_start_ms = self._time.hi_res_ms()
            self._observed_so_far = 0.0

    def pause_ms(self, observed: float) -> float:
        """Count ``observed``; returns how long to pause now (ms), mostly 0; infinity when the limit is 0.

        The caller sleeps: it may have to stop, or to give up its work, before the pause is over.
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
