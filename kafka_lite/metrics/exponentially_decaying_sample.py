"""A sample of fixed size out of a stream of any length, in which the last five minutes weigh most.

Kafka 0.10.2: com.yammer.metrics.stats.ExponentiallyDecayingSample, of the library metrics-core 2.2 · book 2.3
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from itertools import compress
from typing import Final

RESERVOIR_SIZE = 1028
"""Enough for a quantile to be within 5 % at a confidence of 99.9 %, if the values are about normally distributed."""
ALPHA = 0.015
"""Per second: a value of five minutes ago weighs a hundredth of one of now."""
RESCALE_AFTER_MS: Final = 60 * 60 * 1000.0

_MAX_EXPONENT: Final = 700.0  # math.exp overflows at 709


class ExponentiallyDecayingSample:
    """Cormode's forward-decaying priority sample.

    A value that comes ``t`` seconds after a landmark has the weight ``e**(alpha * t)`` and, with ``u`` drawn evenly
    from (0, 1], the priority ``weight / u``. The values of the highest priorities are the sample. Weights are relative,
    so those in the sample need not be touched while time passes. Once an hour the landmark is moved, lest they
    overflow.

    ::

        priorities     lowest of the last selection        highest
                                  │
           not candidates         ├─ size + size/2 candidates ─┤    too many: select the size best of them,
                                        ├─ the sample ────────┤     and raise the lowest

    Two things make it cheap. Candidates are only put in order when there are half as many again as are wanted: sorting
    them then is less work than to keep them sorted, as a heap, with every value. And once there is a lowest priority,
    hardly any value becomes a candidate, so no number is drawn for each: a value gets in with the probability
    ``weight / lowest``, and how many values do not before one does is distributed geometrically; that is drawn.
    """

    def __init__(
        self, now_ms: float = 0.0, size: int = RESERVOIR_SIZE, alpha: float = ALPHA, rng: random.Random | None = None
    ) -> None:
        self._size = size
        self._max_candidates = size + size // 2 + 1
        self._alpha = alpha
        # All samples may draw from the same source; one of its own takes a while to seed, and 2.5 KB.
        self._random = random.random if rng is None else rng.random
        self._landmark_ms = now_ms
        self._priorities: list[float] = []
        self._values: list[float] = []  # in the same order; pairs would be objects for the garbage collector to look at
        self._lowest = 0.0

    def __len__(self) -> int:
        return min(len(self._values), self._size)

    @property
    def values(self) -> list[float]:
        """The sample, in no order."""
        if len(self._values) > self._size:
            self._select()
        return list(self._values)

    def update(self, values: Sequence[float], now_ms: float) -> None:
        """Let values take part that came at about the same time."""
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
        """Find the values from ``begin`` on that become candidates, ``room`` at most; returns where it stopped."""
        count = len(values)
        passed_over = math.log1p(-weight / self._lowest)  # log of the probability of that, for one value
        index = begin
        while room:
            # At most 2**53 * e**54, for logarithms of numbers from random() are above -37, and never NaN.
            skipped = math.log(1 - self._random()) / passed_over
            if skipped >= count - index:
                return count
            index += int(skipped)
            # Given that it gets in, its u lies evenly in (0, weight / lowest].
            self._priorities.append(self._lowest / (1 - self._random()))
            self._values.append(values[index])
            index += 1
            room -= 1
        return index

    def _select(self) -> None:
        """Keep the candidates of the highest priorities; of equal ones (0 after days of rest) those that came last."""
        self._lowest = sorted(self._priorities)[-self._size]
        stays = [priority >= self._lowest for priority in self._priorities]
        self._priorities = list(compress(self._priorities, stays))[-self._size :]
        self._values = list(compress(self._values, stays))[-self._size :]

    def _rescale(self, age_ms: float) -> None:
        """Move the landmark by so much, to now. All priorities shrink by the same factor, so their order stays."""
        factor = math.exp(-min(age_ms / 1000 * self._alpha, _MAX_EXPONENT))
        self._priorities = [priority * factor for priority in self._priorities]
        self._lowest *= factor
        self._landmark_ms += age_ms
