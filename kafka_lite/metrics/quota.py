"""A bound for a metric, and the error of a metric that has left it.

Kafka 0.10.2: clients/.../common/metrics/Quota.java, QuotaViolationException.java; the throttle times:
core/.../server/ClientQuotaManager.scala (throttleTime), later QuotaUtils.java · book 10.1
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from kafka_lite.common.errors import KafkaError

UNLIMITED = (1 << 63) - 1
"""The bound of a quota that nobody has set."""
MAX_THROTTLE_TIME_MS = (1 << 31) - 1
"""The largest ``throttle_time_ms`` that a response can carry: an INT32."""


@dataclass(frozen=True)
class Quota:
    """The bound of a metric; the bound itself is acceptable."""

    bound: float
    is_upper_bound: bool = True

    @classmethod
    def upper_bound(cls, bound: float) -> Quota:
        """The value may be at most ``bound``."""
        return cls(bound, is_upper_bound=True)

    @classmethod
    def lower_bound(cls, bound: float) -> Quota:
        """The value must be at least ``bound``."""
        return cls(bound, is_upper_bound=False)

    def acceptable(self, value: float) -> bool:
        """Whether a value keeps to the bound."""
        return value <= self.bound if self.is_upper_bound else value >= self.bound


class QuotaViolationError(KafkaError):
    """A metric has left its bound.

    ``window_size_ms`` is the time in which the value accumulated, for a rate; 0 for other metrics.
    """

    def __init__(self, metric: str, value: float, bound: float, window_size_ms: float = 0) -> None:
        super().__init__(f"'{metric}' violated quota. Actual: {value}, Threshold: {bound}")
        self.metric = metric
        self.value = value
        self.bound = bound
        self.window_size_ms = window_size_ms


def rate_throttle_time_ms(violation: QuotaViolationError, maximum_ms: int = MAX_THROTTLE_TIME_MS) -> int:
    """How long to be idle until the rate has sunk to its bound, in ms.

    ::

        (rate - bound) / bound * window size   =   sum / bound - window size

    That is: with nothing more recorded, the same sum is spread over so much time that its rate is the bound. A bound of
    0 is never reached: the result is ``maximum_ms``. (In Kafka it is -1 then, an overflow, and nothing is throttled.)
    """
    if violation.bound <= 0:
        return maximum_ms
    excess = (violation.value - violation.bound) / violation.bound
    return min(math.floor(excess * violation.window_size_ms + 0.5), maximum_ms)


def tokens_throttle_time_ms(violation: QuotaViolationError) -> int:
    """How long until a token bucket with a negative balance is back at 0, in ms."""
    if violation.bound <= 0:
        return MAX_THROTTLE_TIME_MS
    return min(math.floor(-violation.value / violation.bound * 1000 + 0.5), MAX_THROTTLE_TIME_MS)
