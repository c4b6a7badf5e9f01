"""The distribution of values: minimum, maximum, mean, standard deviation and percentiles.

Kafka 0.10.2: com.yammer.metrics.core.Histogram and stats.Snapshot, of the library metrics-core 2.2 · book 2.3
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import Final

from kafka_lite.common.time import Time
from kafka_lite.metrics.exponentially_decaying_sample import ExponentiallyDecayingSample
from kafka_lite.metrics.metric import AttributeValue

PERCENTILES: dict[str, float] = {
    "50thPercentile": 0.5,
    "75thPercentile": 0.75,
    "95thPercentile": 0.95,
    "98thPercentile": 0.98,
    "99thPercentile": 0.99,
    "999thPercentile": 0.999,
}
"""Attribute → quantile."""

MAX_PENDING: Final = 128
"""How many values may be queued before they are processed."""


class Moments:
    """Count, minimum, maximum, mean and deviation of a set of values; two sets can be combined."""

    __slots__ = ("count", "deviations", "max", "mean", "min")

    def __init__(self, count: int, low: float, high: float, mean: float, deviations: float) -> None:
        self.count = count
        self.min = low
        self.max = high
        self.mean = mean
        self.deviations = deviations
        """The sum of squared differences from the mean."""

    @staticmethod
    def of(values: Sequence[float]) -> Moments:
        """Compute them for at least one value. (Mostly in C: sorting a few values is faster than min() and max().)"""
        ordered = sorted(values)
        low, high, count = ordered[0], ordered[-1], len(ordered)
        if low == high:
            return Moments(count, low, high, low, 0.0)
        mean = sum(ordered) / count
        return Moments(count, low, high, mean, math.dist(ordered, (mean,) * count) ** 2)

    def add(self, other: Moments) -> None:
        """Combine two sets with Chan's formula, which stays accurate for any number of values."""
        total = self.count + other.count
        distance = other.mean - self.mean
        self.deviations += other.deviations + distance * distance * self.count * other.count / total
        self.mean += distance * other.count / total
        self.count = total
        self.min = min(self.min, other.min)
        self.max = max(self.max, other.max)


class Histogram:
    """Count, extremes, mean and standard deviation of all values, and percentiles of a sample biased to recent ones.

    ``update`` only appends the value to a queue. The queue is processed when it is long or when the histogram is read:
    for many values at once, C does the arithmetic. ``update_all`` is for callers that already have many values.
    """

    __slots__ = ("_lock", "_moments", "_pending", "_sample", "_time")

    def __init__(self, time: Time) -> None:
        self._time = time
        self._lock = threading.Lock()
        self._pending: list[float] = []
        self._sample = ExponentiallyDecayingSample(time.hi_res_ms())
        self._moments = Moments(0, math.inf, -math.inf, 0.0, 0.0)

    def update(self, value: float) -> None:
        """Add a value."""
        self._pending.append(value)
        if len(self._pending) >= MAX_PENDING:
            self._work_in_pending()

    def update_all(self, values: Sequence[float], now_ms: float) -> None:
        """Add values that arrived at about ``now_ms``, a reading of ``Time.hi_res_ms``."""
        if values:
            self.add(Moments.of(values), values, now_ms)

    def add(self, moments: Moments, values: Sequence[float], now_ms: float) -> None:
        """Add values whose moments are already computed, because they go into several histograms."""
        with self._lock:
            self._moments.add(moments)
            self._sample.update(values, now_ms)

    def _work_in_pending(self) -> None:
        now_ms = self._time.hi_res_ms()
        with self._lock:  # until the end, so that a reader does not miss the values removed from the queue
            count = len(self._pending)  # other threads may append meanwhile, at the end
            values = self._pending[:count]
            del self._pending[:count]
            if values:
                self._moments.add(Moments.of(values))
                self._sample.update(values, now_ms)

    def tick(self) -> None:
        """Process queued values, because a value's weight in the sample depends on when it is processed."""
        if self._pending:
            self._work_in_pending()

    @property
    def count(self) -> int:
        """Number of values."""
        self.tick()
        with self._lock:
            return self._moments.count

    def percentiles(self, quantiles: Sequence[float]) -> list[float]:
        """The values at these quantiles (0 to 1) of the sample; 0 if there are no values."""
        self.tick()
        with self._lock:
            values = sorted(self._sample.values)
        return [quantile_of(values, quantile) for quantile in quantiles]

    def attributes(self) -> dict[str, AttributeValue]:
        """All attributes; 0 before the first value."""
        self.tick()
        with self._lock:
            moments, count = self._moments, self._moments.count
            shown: dict[str, AttributeValue] = {
                "Count": count,
                "Min": moments.min if count else 0.0,
                "Max": moments.max if count else 0.0,
                "Mean": moments.mean,
                "StdDev": math.sqrt(moments.deviations / (count - 1)) if count > 1 else 0.0,
            }
        return shown | dict(zip(PERCENTILES, self.percentiles(list(PERCENTILES.values())), strict=True))


def quantile_of(ordered: Sequence[float], quantile: float) -> float:
    """Interpolate between the two values around the quantile's position, ``quantile * (n + 1)``."""
    if not ordered:
        return 0.0
    position = quantile * (len(ordered) + 1)
    if position < 1:
        return ordered[0]
    if position >= len(ordered):
        return ordered[-1]
    below = int(position)
    lower, upper = ordered[below - 1], ordered[below]
    return lower + (position - below) * (upper - lower)
