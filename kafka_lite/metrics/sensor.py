"""A sensor: something that is measured, and its statistics.

Kafka 0.10.2: clients/.../common/metrics/Sensor.java, KafkaMetric.java, MeasurableStat.java · book 10.1
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from kafka_lite.common.time import Time
from kafka_lite.metrics.metric_name import MetricName
from kafka_lite.metrics.recording_level import RecordingLevel
from kafka_lite.metrics.stats import MetricConfig


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
        self._config = config
        self._time = time
        self._collect = collect

    @property
    def value(self) -> float:
        """The current value."""
        self._collect()
        return float(self._measure(self._config, self._time.hi_res_ms()))


class Sensor:
    """Passes each recorded value to all of its statistics, and to its parents."""

    def __init__(
        self,
        name: str,
        parents: tuple[Sensor, ...],
        config: MetricConfig,
        time: Time,
        level: RecordingLevel,
        register: Callable[[KafkaMetric], None],
        collect: Callable[[], None] = lambda: None,
    ) -> None:
        self.name = name
        self.metrics: list[KafkaMetric] = []
        self._parents = parents
        self._config = config
        self._time = time
        self._level = level
        self._register = register
        self._collect = collect
        self._lock = threading.Lock()
        self._stats: list[MeasurableStat] = []

    def add(self, name: KafkaMetricName, stat: MeasurableStat) -> None:
        """Add a statistic under a name. Raises ValueError if the name is taken."""

        def measure(config: MetricConfig, now_ms: float) -> float:
            with self._lock:
                return stat.measure(config, now_ms)

        metric = KafkaMetric(name, measure, self._config, self._time, self._collect)
        self._register(metric)
        with self._lock:
            self.metrics.append(metric)
            self._stats.append(stat)

    def should_record(self) -> bool:
        """Whether the recording level enables this sensor."""
        return self._level.should_record(self._config.record_level)

    def record(self, value: float = 1.0, now_ms: float | None = None, events: float = 1) -> None:
        """Record a value, or ``events`` values with this sum."""
        if not self.should_record():
            return
        now_ms = self._time.hi_res_ms() if now_ms is None else now_ms
        with self._lock:
            for stat in self._stats:
                stat.record(self._config, value, events, now_ms)
        for parent in self._parents:
            parent.record(value, now_ms, events)


def tags_of(tags: Mapping[str, str] | None) -> tuple[tuple[str, str], ...]:
    """Tags as part of a name."""
    return tuple((tags or {}).items())
