"""A sensor: something that is measured, and its statistics.

Kafka 0.10.2: clients/.../common/metrics/Sensor.java, KafkaMetric.java, MeasurableStat.java · book 10.1
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from kafka_lite.common.time import Time
from kafka_lite.metrics.metric_name import MetricName
from kafka_lite.metrics.quota import QuotaViolationError
from kafka_lite.metrics.recording_level import RecordingLevel
from kafka_lite.metrics.stats import MetricConfig, Rate
from kafka_lite.metrics.token_bucket import TokenBucket


@dataclass(frozen=True)
class KafkaMetricName:
    """The name of a metric: name, group and tags identify it; the description is for people."""

    name: str
    group: str
    description: str = field(default="", compare=False)
    tags: tuple[tuple[str, str], ...] = ()

    def bean(self, prefix: str) -> MetricName:
        """The bean that has this metric as an attribute."""
        return MetricName.of(prefix, self.group, tags=dict(self.tags))


class MeasurableStat(Protocol):
    """A statistic that records values and computes a result."""

    def record(self, config: MetricConfig, value: float, events: float, now_ms: float) -> None:
        """See ``SampledStat.record``."""
        ...

    def measure(self, config: MetricConfig, now_ms: float) -> float:
        """The current value."""
        ...


Measurable = Callable[[MetricConfig, float], float]
"""Computes a value: (config, now in ms) → value."""


class KafkaMetric:
    """A named number, as reporters see it."""

    def __init__(
        self,
        name: KafkaMetricName,
        measure: Measurable,
        config: MetricConfig,
        time: Time,
        collect: Callable[[], None] = lambda: None,
    ) -> None:
        """``collect`` is called before the value is read; see ``Metrics.add_collector``."""
        self.metric_name = name
        self._measure = measure
        self.config = config
        """The configuration; replace it to change the quota."""
        self._time = time
        self._collect = collect

    @property
    def value(self) -> float:
        """The current value."""
        self._collect()
        return float(self._measure(self.config, self._time.hi_res_ms()))


class Sensor:
    """Passes each recorded value to all of its statistics, and to its parents; then compares them with their quotas.

    A sensor can expire: ``Metrics`` removes it when nothing has been recorded for ``inactive_expiration_ms``.
    """

    def __init__(
        self,
        name: str,
        parents: tuple[Sensor, ...],
        config: MetricConfig,
        time: Time,
        level: RecordingLevel,
        register: Callable[[KafkaMetric], None],
        collect: Callable[[], None] = lambda: None,
        inactive_expiration_ms: float = math.inf,
    ) -> None:
        self.name = name
        self.metrics: list[KafkaMetric] = []
        self._parents = parents
        self._config = config
        self._time = time
        self._level = level
        self._register = register
        self._collect = collect
        self._inactive_expiration_ms = inactive_expiration_ms
        self._lock = threading.Lock()
        self._stats: list[tuple[MeasurableStat, KafkaMetric]] = []
        self._last_record_ms = 0.0 if inactive_expiration_ms == math.inf else time.hi_res_ms()

    def add(self, name: KafkaMetricName, stat: MeasurableStat, config: MetricConfig | None = None) -> None:
        """Add a statistic under a name, with a configuration of its own if given. Raises ValueError if it is taken."""

        def measure(config: MetricConfig, now_ms: float) -> float:
            with self._lock:
                return stat.measure(config, now_ms)

        metric = KafkaMetric(name, measure, config or self._config, self._time, self._collect)
        self._register(metric)
        with self._lock:
            self.metrics.append(metric)
            self._stats.append((stat, metric))

    def should_record(self) -> bool:
        """Whether the recording level enables this sensor."""
        return self._level.should_record(self._config.record_level)

    def has_expired(self, now_ms: float) -> bool:
        """Whether nothing has been recorded for too long."""
        return now_ms - self._last_record_ms > self._inactive_expiration_ms

    # ── recording ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def record(
        self, value: float = 1.0, now_ms: float | None = None, events: float = 1, *, check_quotas: bool = True
    ) -> None:
        """Record a value, or ``events`` values with this sum.

        Raises QuotaViolationError if a statistic is then beyond its quota; the value has been recorded nevertheless.
        """
        if not self.should_record():
            return
        now_ms = self._time.hi_res_ms() if now_ms is None else now_ms
        with self._lock:
            self._record(value, now_ms, events)
            if check_quotas:
                self._check_quotas(now_ms)
        for parent in self._parents:
            parent.record(value, now_ms, events, check_quotas=check_quotas)

    def check_then_record(self, value: float, now_ms: float) -> None:
        """Record a value only if no quota is violated yet; raises QuotaViolationError otherwise.

        So the last value that is admitted may exceed the quota by any amount, and the next one waits for it.
        """
        with self._lock:
            self._check_quotas(now_ms)
            self._record(value, now_ms, 1)

    def _record(self, value: float, now_ms: float, events: float) -> None:
        self._last_record_ms = now_ms
        for stat, metric in self._stats:
            stat.record(metric.config, value, events, now_ms)

    def _check_quotas(self, now_ms: float) -> None:
        for stat, metric in self._stats:
            quota = metric.config.quota
            if quota is None:
                continue
            value = stat.measure(metric.config, now_ms)
            acceptable = value >= 0 if isinstance(stat, TokenBucket) else quota.acceptable(value)
            if acceptable:
                continue
            window_size_ms = stat.window_size_ms(metric.config, now_ms) if isinstance(stat, Rate) else 0
            raise QuotaViolationError(metric.metric_name.name, value, quota.bound, window_size_ms)


def tags_of(tags: Mapping[str, str] | None) -> tuple[tuple[str, str], ...]:
    """Tags as part of a name."""
    return tuple((tags or {}).items())
