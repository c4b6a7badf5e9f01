"""How values are distributed: smallest, largest, mean, deviation and percentiles.

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
"""Values that may wait to be worked in."""


class Moments:
    """Count, extremes, mean and deviation of some values; two sets of values can be put together."""

    __slots__ = ("count", "deviations", "max", "mean", "min")

    def __init__(self, count: int, low: float, high: float, mean: float, deviations: float) -> None:
        self.count = count
        self.min = low
        self.max = high
        self.mean = mean
        self.deviations = deviations
        """The sum of the squares of all values' distances from the mean."""

    @staticmethod
    def of(values: Sequence[float]) -> Moments:
        """Of one value at least. (C does most of it: to sort so few takes less than to ask for both extremes.)"""
        ordered = sorted(values)
        low, high, count = ordered[0], ordered[-1], len(ordered)
        if low == high:
            return Moments(count, low, high, low, 0.0)
        mean = sum(ordered) / count
        return Moments(count, low, high, mean, math.dist(ordered, (mean,) * count) ** 2)

    def add(self, other: Moments) -> None:
        """Chan's way to combine two sets, which loses no digits however long it goes on."""
        total = self.count + other.count
        distance = other.mean - self.mean
        self.deviations += other.deviations + distance * distance * self.count * other.count / total
        self.mean += distance * other.count / total
        self.count = total
        self.min = min(self.min, other.min)
        self.max = max(self.max, other.max)


class Histogram:
    """Count, extremes, mean and standard deviation of all values; percentiles of a sample that prefers recent ones.

    ``update`` only puts the value into a queue. The queue is worked in when it is long, or somebody looks: over many
    values at once, C does the arithmetic. ``update_all`` is for callers who have many values anyway.
    """

    __slots__ = ("_lock", "_moments", "_pending", "_sample", "_time")

    def __init__(self, time: Time) -> None:
        self._time = time
        self._lock = threading.Lock()
        self._pending: list[float] = []
        self._sample = ExponentiallyDecayingSample(time.hi_res_ms())
        self._moments = Moments(0, math.inf, -math.inf, 0.0, 0.0)

    def update(self, value: float) -> None:
        """There was a value."""
        self._pending.append(value)
        if len(self._pending) >= MAX_PENDING:
            self._work_in_pending()

    def update_all(self, values: Sequence[float], now_ms: float) -> None:
        """There were values, at about the reading ``now_ms`` of ``Time.hi_res_ms``."""
        if values:
            self.add(Moments.of(values), values, now_ms)

    def add(self, moments: Moments, values: Sequence[float], now_ms: float) -> None:
        """The same for who has their moments at hand, since they go into several histograms."""
        with self._lock:
            self._moments.add(moments)
            self._sample.update(values, now_ms)

    def _work_in_pending(self) -> None:
        now_ms = self._time.hi_res_ms()
        with self._lock:  # to the end: whoever reads meanwhile shall not miss what has been taken out
            count = len(self._pending)  # others may append meanwhile, which they do at the end
            values = self._pending[:count]
            del self._pending[:count]
            if values:
                self._moments.add(Moments.of(values))
                self._sample.update(values, now_ms)

    def tick(self) -> None:
        """Let no value wait longer than this: its weight in the sample is that of the time when it is worked in."""
        if self._pending:
            self._work_in_pending()

    @property
    def count(self) -> int:
        """How many values there were."""
        self.tick()
        with self._lock:
            return self._moments.count

    def percentiles(self, quantiles: Sequence[float]) -> list[float]:
        """The values below which these parts (0 to 1) of the sample lie; 0 without any value."""
        self.tick()
        with self._lock:
            values = sorted(self._sample.values)
        return [quantile_of(values, quantile) for quantile in quantiles]

    def attributes(self) -> dict[str, AttributeValue]:
        """All of it; everything is 0 before the first value."""
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
    """Interpolated between the two values that the quantile falls between, at position ``quantile * (n + 1)``."""
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
