"""The rest of a timeout, for calls that block in several places.

Kafka 2.0: clients/.../common/utils/Timer.java · book 4.1.2
"""

from __future__ import annotations

import math

from kafka_lite.common.time import Time


class Timer:
    """A deadline, and the time when the clock was last read. A call passes it on to everything that it waits for.

    The clock is only read by ``update``, so that one turn of a loop bases all its decisions on the same time.
    """

    def __init__(self, time: Time, timeout_ms: float) -> None:
        """Expires after ``timeout_ms``; never if that is infinity."""
        self._time = time
        self.now_ms = time.hi_res_ms()
        """When the clock was last read (monotonic)."""
        self.deadline_ms = self.now_ms + max(0.0, timeout_ms)

    def update(self) -> float:
        """Read the clock; returns the time, ms."""
        self.now_ms = self._time.hi_res_ms()
        return self.now_ms

    @property
    def remaining_ms(self) -> float:
        """The time left, ms, at least 0."""
        return max(0.0, self.deadline_ms - self.now_ms)

    @property
    def is_expired(self) -> bool:
        """Whether no time is left."""
        return self.now_ms >= self.deadline_ms

    @property
    def not_expired(self) -> bool:
        """Whether time is left."""
        return self.now_ms < self.deadline_ms

    def sleep(self, ms: float) -> None:
        """Sleep for ``ms``, but not longer than the time left."""
        self._time.sleep(min(ms, self.remaining_ms))
        self.update()

    def part(self, timeout_ms: float) -> Timer:
        """A timer of ``timeout_ms`` that does not expire later than this one."""
        return Timer(self._time, min(timeout_ms, self.remaining_ms))


class Backoff:
    """Delays the next attempt after a failure, also across calls that had no time to wait."""

    def __init__(self, time: Time, backoff_ms: float) -> None:
        self._time = time
        self._backoff_ms = backoff_ms
        self._until_ms = -math.inf

    def begin(self) -> None:
        """Start the backoff: an attempt has just failed."""
        self._until_ms = self._time.hi_res_ms() + self._backoff_ms

    def is_over(self, timer: Timer) -> bool:
        """Wait for the rest of the backoff; false if the timer expires first."""
        left_ms = self._until_ms - timer.update()
        if left_ms > 0:
            timer.sleep(left_ms)
        return timer.now_ms >= self._until_ms


def unlimited(time: Time) -> Timer:
    """A timer that never expires."""
    return Timer(time, math.inf)
