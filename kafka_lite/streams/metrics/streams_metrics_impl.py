"""Sensors with Kafka's names: latencies and throughput of an operation, for each entity and for all of them.

Kafka 0.10.2: streams/.../processor/internals/StreamsMetricsImpl.java · book 9.1.3
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TypeVar

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.recording_level import RecordingLevel
from kafka_lite.metrics.sensor import KafkaMetric, KafkaMetricName, MeasurableStat, Sensor
from kafka_lite.metrics.stats import Avg, Count, CumulativeSum, Max, Rate
from kafka_lite.streams.streams_metrics import StreamsMetrics

T = TypeVar("T")
AddMetric = Callable[[str, str, MeasurableStat], None]
"""Adds a metric to a sensor: name, description, statistic."""

NANOS_PER_MS = 1_000_000
_ALL = "all"


class StreamsMetricsImpl(StreamsMetrics):
    """The metrics of one thread in the registry of the instance; ``tags`` say which thread.

    ::

        record ─▶ sensor of an entity     task.0_1.COUNT-process-latency-avg, …-latency-max, …-rate
                       └─▶ its parent     all-process-latency-avg, …-latency-max, …-rate

    Both are in the group ``stream-SCOPE-metrics``. (In 0.10.2 all threads share one parent, and the first entity that
    is removed takes it away from the others.)
    """

    def __init__(self, registry: Metrics, tags: Mapping[str, str] | None = None, time: Time = SYSTEM_TIME) -> None:
        self.registry = registry
        self._tags = dict(tags or {})
        self._time = time
        self._prefix = ",".join(self._tags.values())
        self._parents: dict[str, Sensor] = {}
        """By the name of a sensor, the one that aggregates it."""
        self._without_parent: set[str] = set()
        self._children: Counter[str] = Counter()
        """By the name of a parent, how many sensors it aggregates."""

    def metrics(self) -> dict[KafkaMetricName, KafkaMetric]:
        """All metrics of the instance."""
        return self.registry.metrics

    # ── sensors ───────────────────────────────────────────────────────────────────────────────────────────────────

    def add_latency_and_throughput_sensor(
        self,
        scope_name: str,
        entity_name: str,
        operation_name: str,
        level: RecordingLevel,
        tags: Mapping[str, str] | None = None,
    ) -> Sensor:
        """A sensor of latencies in ns."""
        return self._add(_add_latencies, scope_name, entity_name, operation_name, level, tags)

    def add_throughput_sensor(
        self,
        scope_name: str,
        entity_name: str,
        operation_name: str,
        level: RecordingLevel,
        tags: Mapping[str, str] | None = None,
    ) -> Sensor:
        """The same without latencies."""
        return self._add(_add_throughput, scope_name, entity_name, operation_name, level, tags)

    def add_rate_total_sensor(
        self,
        scope_name: str,
        entity_name: str,
        operation_name: str,
        level: RecordingLevel,
        tags: Mapping[str, str] | None = None,
    ) -> Sensor:
        """A sensor of events. It has no parent."""
        sensor = self.registry.sensor(f"{self._prefix}.{scope_name}.{entity_name}.{operation_name}", level=level)
        self._without_parent.add(sensor.name)
        own = {"thread-id": self._prefix, f"{scope_name}-id": entity_name, **(tags or {})}
        add = self._adder(sensor, f"stream-{scope_name}-metrics", own)
        what = operation_name.replace("-", " ")
        add(f"{operation_name}-rate", f"The average number of {what} per second", Rate())
        add(f"{operation_name}-total", f"The total number of {what}", CumulativeSum())
        return sensor

    def _add(
        self,
        add_stats: Callable[[AddMetric, str, str], None],
        scope: str,
        entity: str,
        operation: str,
        level: RecordingLevel,
        tags: Mapping[str, str] | None,
    ) -> Sensor:
        parent = self.registry.sensor(f"{self._prefix}.{scope}.{operation}", level=level)
        name = f"{self._prefix}.{scope}.{entity}-{operation}"
        sensor = self.registry.sensor(name, parent, level=level)
        if name not in self._parents:
            self._parents[name] = parent
            self._children[parent.name] += 1
        for each, whose in ((parent, _ALL), (sensor, entity)):
            add_stats(self._adder(each, f"stream-{scope}-metrics", tags), whose, operation)
        return sensor

    def _adder(self, sensor: Sensor, group: str, tags: Mapping[str, str] | None) -> AddMetric:
        def add(name: str, description: str, stat: MeasurableStat) -> None:
            metric = self.registry.metric_name(name, group, description, {**self._tags, **(tags or {})})
            if self.registry.metric(metric) is None:
                sensor.add(metric, stat)

        return add

    def add_sensor(self, name: str, level: RecordingLevel, *parents: Sensor) -> Sensor:
        """A sensor without metrics."""
        return self.registry.sensor(name, *parents, level=level)

    def remove_sensor(self, sensor: Sensor) -> None:
        """Remove a sensor, and its parent after the last one."""
        self.registry.remove_sensor(sensor.name)
        self._without_parent.discard(sensor.name)
        parent = self._parents.pop(sensor.name, None)
        if parent is not None:
            self._children[parent.name] -= 1
            if self._children[parent.name] == 0:
                self.registry.remove_sensor(parent.name)

    def close(self) -> None:
        """Remove the sensors of all entities, after the thread has ended."""
        for name in [*self._parents, *self._children, *self._without_parent]:
            self.registry.remove_sensor(name)
        self._without_parent.clear()
        self._parents.clear()
        self._children.clear()

    # ── recording ─────────────────────────────────────────────────────────────────────────────────────────────────

    def record_latency(self, sensor: Sensor, start_ns: float, end_ns: float) -> None:
        """Record how long an operation has taken."""
        sensor.record(end_ns - start_ns)

    def record_throughput(self, sensor: Sensor, value: int) -> None:
        """Record that an operation has happened ``value`` times."""
        sensor.record(value, events=value)

    def measure_latency_ns(self, action: Callable[[], T], sensor: Sensor) -> T:
        """Call ``action`` and record how long it takes."""
        if not sensor.should_record():
            return action()
        start_ms = self._time.hi_res_ms()
        result = action()
        self.record_latency(sensor, start_ms * NANOS_PER_MS, self._time.hi_res_ms() * NANOS_PER_MS)
        return result


def _add_latencies(add: AddMetric, entity: str, operation: str) -> None:
    name = f"{entity}-{operation}-latency"
    add(f"{name}-avg", f"The average latency of {entity} {operation} operation.", Avg())
    add(f"{name}-max", f"The max latency of {entity} {operation} operation.", Max())
    _add_throughput(add, entity, operation)


def _add_throughput(add: AddMetric, entity: str, operation: str) -> None:
    description = f"The average number of occurrence of {entity} {operation} operation per second."
    add(f"{entity}-{operation}-rate", description, Rate(stat=Count()))
