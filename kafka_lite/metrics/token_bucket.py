"""A bucket of tokens that fills at the rate of its quota.

Kafka 2.7: clients/.../common/metrics/stats/TokenBucket.java · book 10.1
"""

from __future__ import annotations

from kafka_lite.metrics.quota import UNLIMITED
from kafka_lite.metrics.stats import MetricConfig


class TokenBucket:
    """The tokens that are left; below zero, the quota is violated.

    ::

        burst = samples * window * bound    ┬  the bucket is full: more tokens are lost
                                            │  ▲ bound tokens per second
                                            │  ▼ recorded values
                                          0 ┼
                                            │  debt: it is paid back before anything more is admitted
                                            ▼

    Unlike a rate over samples, it admits a burst at once and forgets nothing early: a client that takes ten times the
    bound waits ten seconds. It begins full, as Kafka's does, since its first refill is for the time since the epoch.
    """

    def __init__(self) -> None:
        self._tokens: float | None = None
        self._last_update_ms = 0.0

    def record(self, config: MetricConfig, value: float, events: float, now_ms: float) -> None:
        """Take ``value`` tokens, even if there are fewer; a negative value puts tokens back."""
        del events
        if config.quota is not None:
            self._tokens = min(_burst(config, config.quota.bound), self._refill(config, now_ms) - value)

    def measure(self, config: MetricConfig, now_ms: float) -> float:
        """The tokens that are left, negative if more were taken than there were; unlimited without a quota."""
        return UNLIMITED if config.quota is None else self._refill(config, now_ms)

    def _refill(self, config: MetricConfig, now_ms: float) -> float:
        bound = config.quota.bound if config.quota is not None else UNLIMITED
        burst = _burst(config, bound)
        if self._tokens is None:
            self._tokens = burst
        else:
            self._tokens = min(burst, self._tokens + bound * (now_ms - self._last_update_ms) / 1000)
        self._last_update_ms = now_ms
        return self._tokens


def _burst(config: MetricConfig, bound: float) -> float:
    return config.samples * config.time_window_ms / 1000 * bound
