"""A fixed-size sample of a stream, biased towards the last five minutes.

Kafka 0.10.2: com.yammer.metrics.stats.ExponentiallyDecayingSample, of the library metrics-core 2.2 · book 2.3
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from itertools import compress
from typing import Final

RESERVOIR_SIZE = 1028
"""For a margin of error of 5 % at a confidence level of 99.9 %, assuming a normal distribution."""
ALPHA = 0.015
"""Per second: a value five minutes old has a hundredth of the weight of a current one."""
RESCALE_AFTER_MS: Final = 60 * 60 * 1000.0

_MAX_EXPONENT: Final = 700.0  # math.exp overflows at 709


class ExponentiallyDecayingSample:
    """Cormode's forward-decaying priority sample.

    A value that arrives ``t`` seconds after a landmark has the weight ``e**(alpha * t)`` and, with a random ``u`` from
    (0, 1], the priority ``weight / u``. The sample consists of the values with the highest priorities. Only the ratios
    of weights matter, so the weights of sampled values need not change as time passes. The landmark is moved once an
    hour, to keep the weights from overflowing.

    ::

        priorities     lowest of the last selection        highest
                                  │
           not candidates         ├─ size + size/2 candidates ─┤    too many: keep the highest ``size`` of them
                                        ├─ the sample ────────┤     and raise the lowest

    Two optimizations make it cheap. Candidates are sorted only when there are half as many again as needed, which
    is less work than keeping them in a heap. And once there is a lowest priority, hardly any value becomes a
    candidate, so no random number is drawn per value. A value becomes a candidate with the probability
    ``weight / lowest``, so the number of values skipped before the next candidate has a geometric distribution; only
    that number is drawn.
    """

    def __init__(
        self, now_ms: float = 0.0, size: int = RESERVOIR_SIZE, alpha: float = ALPHA, rng: random.Random | None = None
    ) -> None:
        self._size = size
        self._max_candidates = size + size // 2 + 1
        self._alpha = alpha
        # Samples share a random source by default: one of its own takes a while to seed, and 2.5 KB.
        self._random = random.random if rng is None else rng.random
        self._landmark_ms = now_ms
        self._priorities: list[float] = []
        self._values: list[float] = []  # in the same order; pairs would be objects for the garbage collector to visit
        self._lowest = 0.0

    def __len__(self) -> int:
        return min(len(self._values), self._size)

    @property
    def values(self) -> list[float]:
        """The sample, unordered."""
        if len(self._values) > self._size:
            self._select()
        return list(self._values)

    def update(self, values: Sequence[float], now_ms: float) -> None:
        """Add values that arrived at about the same time."""
        age_ms = now_ms - self._landmark_ms
        if age_ms >= RESCALE_AFTER_MS:
            self._rescale(age_ms)
            age_ms = 0.0
        weight = math.exp(max(age_ms, 0.0) / 1000 * self._alpha)
        begin = 0
        while begin < len(values):
            room = self._max_candidates - len(self._values)
            if weight >= self._lowest:
                end = min(begin + room, len(values))
                self._priorities += [weight / (1 - self._random()) for _ in range(begin, end)]
                self._values += values[begin:end]
            else:
                end = self._add_some(values, begin, room, weight)
            if len(self._values) >= self._max_candidates:
                self._select()
            begin = end

    def _add_some(self, values: Sequence[float], begin: int, room: int, weight: float) -> int:
        """Add those values from ``begin`` on that become candidates, at most ``room``. Returns where it stopped."""
        count = len(values)
        passed_over = math.log1p(-weight / self._lowest)  # log of the probability that a value is skipped
        index = begin
        while room:
            # At most 2**53 * e**54, since the logarithm of a number from random() is above -37; never NaN.
            skipped = math.log(1 - self._random()) / passed_over
            if skipped >= count - index:
                return count
            index += int(skipped)
            # Given that it becomes a candidate, its u is uniform in (0, weight / lowest].
            self._priorities.append(self._lowest / (1 - self._random()))
            self._values.append(values[index])
            index += 1
            room -= 1
        return index

    def _select(self) -> None:
        """Keep the candidates with the highest priorities; among equal ones (0 after idle days), the latest."""
        self._lowest = sorted(self._priorities)[-self._size]
        stays = [priority >= self._lowest for priority in self._priorities]
        self._priorities = list(compress(self._priorities, stays))[-self._size :]
        self._values = list(compress(self._values, stays))[-self._size :]

    def _rescale(self, age_ms: float) -> None:
        """Move the landmark by ``age_ms``, to now. All priorities shrink by the same factor, so their order stays."""
        factor = math.exp(-min(age_ms / 1000 * self._alpha, _MAX_EXPONENT))
        self._priorities = [priority * factor for priority in self._priorities]
        self._lowest *= factor
        self._landmark_ms += age_ms
