"""How values are distributed: smallest, largest, mean, deviation and percentiles.

Kafka 0.10.2: com.yammer.metrics.core.Histogram and stats.Snapshot, of the library metrics-core 2.2 · book 2.3
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Sequence

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

MAX_PENDING = 128
"""Values that may wait to be worked in."""


class Histogram:
    """Count, extremes, mean and standard deviation of all values; percentiles of a sample that prefers recent ones.

    ``update`` only puts the value into a queue. The queue is worked in when it is long, or somebody looks: over many
    values at once, C does the arithmetic. ``update_all`` is for callers who have many values anyway.
    """

    __slots__ = ("_count", "_deviations", "_lock", "_max", "_mean", "_min", "_pending", "_sample", "_time")

    def __init__(self, time: Time) -> None:
        self._time = time
        self._lock = threading.Lock()
        self._pending: deque[float] = deque()
        self._sample = ExponentiallyDecayingSample(time.hi_res_ms())
        self._count = 0
        self._min = math.inf
        self._max = -math.inf
        self._mean = 0.0
        self._deviations = 0.0  # the sum of the squares of all values' distances from the mean

    def update(self, value: float) -> None:
        """There was a value."""
        self._pending.append(value)
        if len(self._pending) >= MAX_PENDING:
            self._work_in_pending()

    def update_all(self, values: Sequence[float], now_ms: float) -> None:
        """There were values, at about the reading ``now_ms`` of ``Time.hi_res_ms``."""
        if values:
            with self._lock:
                self._work_in(values, now_ms)

    def _work_in_pending(self) -> None:
        with self._lock:
            # Others may append meanwhile: what is there now is taken, one by one, which is safe without their help.
            values = [self._pending.popleft() for _ in range(len(self._pending))]
            if values:
                self._work_in(values, self._time.hi_res_ms())

    def _work_in(self, values: Sequence[float], now_ms: float) -> None:
        """Chan's way to combine the means and deviations of two sets, which loses no digits however long it goes on."""
        n = len(values)
        mean = sum(values) / n
        deviations = math.dist(values, (mean,) * n) ** 2
        distance = mean - self._mean
        total = self._count + n
        self._deviations += deviations + distance * distance * self._count * n / total
        self._mean += distance * n / total
        self._count = total
        self._min = min(self._min, min(values))
        self._max = max(self._max, max(values))
        self._sample.update(values, now_ms)

    def tick(self) -> None:
        """Let no value wait longer than this: its weight in the sample is that of the time when it is worked in."""
        if self._pending:
            self._work_in_pending()

    @property
    def count(self) -> int:
        """How many values there were."""
        self.tick()
        return self._count

    def percentiles(self, quantiles: Sequence[float]) -> list[float]:
        """The values below which these parts (0 to 1) of the sample lie; 0 without any value."""
        self.tick()
        with self._lock:
            values = sorted(self._sample.values)
        return [quantile_of(values, quantile) for quantile in quantiles]

    def attributes(self) -> dict[str, AttributeValue]:
        """All of it; everything is 0 before the first value."""
        count = self.count
        shown: dict[str, AttributeValue] = {
            "Count": count,
            "Min": self._min if count else 0.0,
            "Max": self._max if count else 0.0,
            "Mean": self._mean,
            "StdDev": math.sqrt(self._deviations / (count - 1)) if count > 1 else 0.0,
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
