"""Limits of time that grow with the machine's load.

A limit tells what is broken from what is slow, so it is given in seconds of a quiet machine. On a busy one, the same
work takes as many times longer as there are processes per core: a second counts for that much less.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

MAX_SLOWNESS = 30.0
"""Enough for sixty busy processes on two cores. A test that hangs ends at some time even there."""


def slowness() -> float:
    """How many times longer work takes at present: processes that want to run per core, at least 1.

    The load average of the last minute, which the kernel keeps; the tests themselves are a part of it.
    """
    return min(max(1.0, os.getloadavg()[0] / cores()), MAX_SLOWNESS)


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def patient_s(limit_s: float) -> float:
    """The limit in seconds of this machine at its present load, for calls that take a timeout (``subprocess.run``)."""
    return limit_s * slowness()


class Patience:
    """``limit_s`` seconds of a quiet machine, which begin now. The load is sampled whenever ``is_over`` is called."""

    def __init__(
        self,
        limit_s: float,
        clock: Callable[[], float] = time.monotonic,
        slowness: Callable[[], float] = slowness,
    ) -> None:
        self._clock, self._slowness = clock, slowness
        self._left_s = limit_s
        self._sampled_at_s = clock()

    def is_over(self) -> bool:
        """Count the time since the last call at the present load; True once the limit is used up."""
        now_s = self._clock()
        self._left_s -= (now_s - self._sampled_at_s) / self._slowness()
        self._sampled_at_s = now_s
        return self._left_s < 0

    def left_s(self) -> float:
        """The seconds of this machine until it is over, if the load stays the same; at least 0."""
        return max(0.0, self._left_s * self._slowness())
