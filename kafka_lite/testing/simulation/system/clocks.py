"""The modules ``time`` and ``random``: the world's clock, and chance that comes from the seed.

Not in Kafka. A reading of the clock costs a little of the world's time, so a loop that waits for time
to pass ends.
"""

from __future__ import annotations

import _random
import time as _time
import types
from typing import Any

from kafka_lite.testing.simulation.system.kernel import CLOCK_READING_NS, EPOCH_NS, Kernel, stand_in

UPTIME_NS = 1_000 * 10**9
"""The reading of a monotonic clock when a world begins."""


class Clocks:
    """The functions of ``time`` for one process."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    def monotonic_ns(self) -> int:
        """Nanoseconds since the machine was switched on."""
        scheduler = self._kernel.scheduler
        scheduler.now_ns += CLOCK_READING_NS
        return scheduler.now_ns + UPTIME_NS

    def monotonic(self) -> float:
        """The same in seconds. Read most often, so it calls nothing."""
        scheduler = self._kernel.scheduler
        scheduler.now_ns = now_ns = scheduler.now_ns + CLOCK_READING_NS
        return (now_ns + UPTIME_NS) / 1e9

    def time_ns(self) -> int:
        """Nanoseconds since 1970, by the process's wall clock."""
        return self.monotonic_ns() - UPTIME_NS + EPOCH_NS + self._kernel.wall_offset_ns

    def time(self) -> float:
        """The same in seconds."""
        return self.time_ns() / 1e9

    def sleep(self, duration_s: float) -> None:
        """Block the calling thread. Raises ValueError for a negative duration."""
        if duration_s < 0:
            raise ValueError("sleep length must be non-negative")
        scheduler = self._kernel.scheduler
        deadline_ns = scheduler.now_ns + int(duration_s * 1e9)
        while scheduler.park(deadline_ns):
            pass

    def localtime(self, at: float | None = None) -> _time.struct_time:
        """UTC: a world has no time zones."""
        return _time.gmtime(self.time() if at is None else at)

    def strftime(self, pattern: str, at: Any = None) -> str:
        """The time as text."""
        return _time.strftime(pattern, self.localtime() if at is None else at)

    def ctime(self, at: float | None = None) -> str:
        """The time as C writes it."""
        return _time.asctime(self.localtime(at))

    def module(self) -> types.ModuleType:
        """``time`` itself."""
        names: dict[str, object] = {
            "monotonic": self.monotonic, "monotonic_ns": self.monotonic_ns, "time": self.time, "time_ns": self.time_ns,
            "perf_counter": self.monotonic, "perf_counter_ns": self.monotonic_ns, "process_time": self.monotonic,
            "process_time_ns": self.monotonic_ns, "thread_time": self.monotonic, "thread_time_ns": self.monotonic_ns,
            "sleep": self.sleep, "localtime": self.localtime, "gmtime": self.localtime, "strftime": self.strftime,
            "ctime": self.ctime, "timezone": 0, "altzone": 0, "daylight": 0, "tzname": ("UTC", "UTC"),
        }  # fmt: skip
        return stand_in("time", _time, names)


def random_module(kernel: Kernel) -> types.ModuleType:
    """``_random``: a generator without a seed gets one from the world."""

    class Random(_random.Random):
        """The generator under Python's ``random.Random``."""

        def __new__(cls, *_: object, **__: object) -> Random:
            return super().__new__(cls, 0)  # type: ignore[call-arg]  # the seed

        def seed(self, value: Any = None, /) -> None:
            super().seed(kernel.random.getrandbits(128) if value is None else value)

    return stand_in("_random", None, {"Random": Random})
