"""How much of a timeout is left, for calls that wait in several places.

Kafka 2.0: clients/.../common/utils/Timer.java · book 4.1.2
"""

from __future__ import annotations

import math

from kafka_lite.common.time import Time


class Timer:
    """A deadline and the time it was last looked at: what a call hands down to everything that it waits for.

    Reading the clock is explicit (``update``), so that one turn of a loop decides everything by one moment.
    """

    def __init__(self, time: Time, timeout_ms: float) -> None:
        """Runs out after ``timeout_ms``; infinity: never."""
        self._time = time
        self.now_ms = time.hi_res_ms()
        """When the clock was last read; monotonic."""
        self.deadline_ms = self.now_ms + max(0.0, timeout_ms)

    def update(self) -> float:
        """Read the clock, and return it."""
        self.now_ms = self._time.hi_res_ms()
        return self.now_ms

    @property
    def remaining_ms(self) -> float:
        """What is left, at least 0."""
        return max(0.0, self.deadline_ms - self.now_ms)

    @property
    def is_expired(self) -> bool:
        """Whether nothing is left."""
        return self.now_ms >= self.deadline_ms

    @property
    def not_expired(self) -> bool:
        """Whether something is left."""
        return self.now_ms < self.deadline_ms

    def sleep(self, ms: float) -> None:
        """Let ``ms`` pass, but no more than is left."""
        self._time.sleep(min(ms, self.remaining_ms))
        self.update()

    def part(self, timeout_ms: float) -> Timer:
        """A timer of ``timeout_ms`` that runs out no later than this one."""
        return Timer(self._time, min(timeout_ms, self.remaining_ms))


class Backoff:
    """Keeps the next attempt away from the last failure, also when the call that failed had no time to wait."""

    def __init__(self, time: Time, backoff_ms: float) -> None:
        self._time = time
        self._backoff_ms = backoff_ms
        self._until_ms = -math.inf

    def begin(self) -> None:
        """An attempt has failed just now."""
        self._until_ms = self._time.hi_res_ms() + self._backoff_ms

    def is_over(self, timer: Timer) -> bool:
        """Wait for what is left of it; false when the timer runs out before."""
        left_ms = self._until_ms - timer.update()
        if left_ms > 0:
            timer.sleep(left_ms)
        return timer.now_ms >= self._until_ms


def unlimited(time: Time) -> Timer:
    """A timer that never runs out."""
    return Timer(time, math.inf)
