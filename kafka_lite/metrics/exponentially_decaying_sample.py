"""A sample of fixed size out of a stream of any length, in which the last five minutes weigh most.

Kafka 0.10.2: com.yammer.metrics.stats.ExponentiallyDecayingSample, of the library metrics-core 2.2 · book 2.3
"""

from __future__ import annotations

import heapq
import math
import random
import sys
from collections.abc import Sequence

RESERVOIR_SIZE = 1028
"""Enough for a quantile to be within 5 % at a confidence of 99.9 %, if the values are about normally distributed."""
ALPHA = 0.015
"""Per second: a value of five minutes ago weighs a hundredth of one of now."""
RESCALE_AFTER_MS = 60 * 60 * 1000

_MAX_EXPONENT = 700.0  # math.exp overflows at 709


class ExponentiallyDecayingSample:
    """Cormode's forward-decaying priority sample.

    A value that comes ``t`` seconds after a landmark has the weight ``e**(alpha * t)`` and, with ``u`` drawn evenly
    from (0, 1], the priority ``weight / u``. The values of the highest priorities are the sample. Weights are relative,
    so those in the sample need not be touched while time passes. Once an hour the landmark is moved, lest they
    overflow.

    Drawing a number for each value would be the most of the work, and nearly all of them for nothing. So the number is
    drawn of values to *skip*: with the lowest priority ``p`` in a full sample, a value gets in with the probability
    ``weight / p``, and how many do not before one does is distributed geometrically.
    """

    def __init__(
        self, now_ms: float = 0.0, size: int = RESERVOIR_SIZE, alpha: float = ALPHA, rng: random.Random | None = None
    ) -> None:
        self._size = size
        self._alpha = alpha
        self._random = (rng or random.Random()).random
        self._landmark_ms = now_ms
        self._heap: list[tuple[float, float]] = []

    def __len__(self) -> int:
        return len(self._heap)

    @property
    def values(self) -> list[float]:
        """The sample, in no order."""
        return [value for _, value in self._heap]

    def update(self, values: Sequence[float], now_ms: float) -> None:
        """Let values take part that came at about the same time."""
        if now_ms - self._landmark_ms >= RESCALE_AFTER_MS:
            self._rescale(now_ms)
        weight = math.exp(max(now_ms - self._landmark_ms, 0.0) / 1000 * self._alpha)
        room = self._size - len(self._heap)
        for value in values[:room] if room else ():
            heapq.heappush(self._heap, (weight / (1 - self._random()), value))
        if len(values) > room:
            self._replace_some(values, room, weight)

    def _replace_some(self, values: Sequence[float], begin: int, weight: float) -> None:
        """The sample is full: some of the values from ``begin`` on take the place of those of the lowest priority."""
        index = begin + self._skipped(weight)
        while index < len(values):
            # Given that it gets in, u lies evenly in (0, weight / lowest].
            u = (1 - self._random()) * min(1.0, weight / self._heap[0][0])
            heapq.heapreplace(self._heap, (weight / u, values[index]))
            index += 1 + self._skipped(weight)

    def _skipped(self, weight: float) -> int:
        """How many values of this weight are passed over before one gets in."""
        chance = weight / self._heap[0][0]
        if chance >= 1:
            return 0
        skipped = math.log(1 - self._random()) / math.log1p(-chance)
        return int(min(skipped, 1e18))

    def _rescale(self, now_ms: float) -> None:
        """Move the landmark to now. All priorities shrink by the same factor, so their order stays."""
        exponent = min((now_ms - self._landmark_ms) / 1000 * self._alpha, _MAX_EXPONENT)
        factor = math.exp(-exponent)
        self._heap = [(max(priority * factor, sys.float_info.min), value) for priority, value in self._heap]
        self._landmark_ms = now_ms
