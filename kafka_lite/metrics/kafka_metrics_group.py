"""Creates the metrics of a broker class, named after its package and class.

Kafka 0.10.2: core/.../metrics/KafkaMetricsGroup.scala · book 2.3
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from kafka_lite.common.time import Time
from kafka_lite.metrics.histogram import Histogram
from kafka_lite.metrics.meter import DerivedMeter, Meter, RateUnit
from kafka_lite.metrics.metric import AttributeValue, Gauge
from kafka_lite.metrics.metric_name import MetricName
from kafka_lite.metrics.metrics_registry import GaugeFamily, MetricsRegistry
from kafka_lite.metrics.timer import Timer

T = TypeVar("T")


class KafkaMetricsGroup:
    """Creates and removes the metrics of one class: ``kafka.server:type=ReplicaManager,name=…``.

    Package and class are Kafka's, even if ours have other names, because the beans are known by these names.
    """

    def __init__(self, registry: MetricsRegistry, time: Time, package: str, class_name: str) -> None:
        self._registry = registry
        self._time = time
        self._package = package
        self._class_name = class_name

    def metric_name(self, name: str, tags: Mapping[str, str] | None = None) -> MetricName:
        """The full name of a metric of this class."""
        return MetricName.of(self._package, self._class_name, name, tags)

    def new_gauge(self, name: str, read: Callable[[], AttributeValue], tags: Mapping[str, str] | None = None) -> Gauge:
        """Create a gauge, whose value is computed when it is read."""
        return self._registry.add(self.metric_name(name, tags), Gauge(read))

    def new_gauges(
        self,
        gauges: Mapping[str, Callable[[T], AttributeValue]],
        members: Callable[[], Iterable[tuple[Mapping[str, str], T]]],
    ) -> None:
        """Create the same gauges for each member of a changing set; see ``GaugeFamily``."""
        self._registry.add_family(GaugeFamily(self._package, self._class_name, gauges, members))

    def new_meter(self, name: str, event_type: str, tags: Mapping[str, str] | None = None) -> Meter:
        """Create a meter, which counts events and their rates per second."""
        return self._registry.add(self.metric_name(name, tags), Meter(event_type, self._time))

    def new_derived_meter(
        self,
        name: str,
        event_type: str,
        count_of: Callable[[], float],
        tags: Mapping[str, str] | None = None,
        unit: RateUnit = RateUnit.SECONDS,
    ) -> Meter:
        """Create a meter of events that are counted elsewhere."""
        return self._registry.add(self.metric_name(name, tags), DerivedMeter(event_type, self._time, count_of, unit))

    def new_histogram(self, name: str, tags: Mapping[str, str] | None = None) -> Histogram:
        """Create a histogram, which shows the distribution of values."""
        return self._registry.add(self.metric_name(name, tags), Histogram(self._time))

    def new_timer(self, name: str, tags: Mapping[str, str] | None = None) -> Timer:
        """Create a timer, which measures how often something happens and how long it takes."""
        return self._registry.add(self.metric_name(name, tags), Timer(self._time))

    def remove_metric(self, name: str, tags: Mapping[str, str] | None = None) -> None:
        """Remove a metric."""
        self._registry.remove(self.metric_name(name, tags))
