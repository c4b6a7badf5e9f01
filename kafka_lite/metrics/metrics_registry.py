"""All metrics of a broker, by name.

Kafka 0.10.2: com.yammer.metrics.core.MetricsRegistry, of the library metrics-core 2.2 · book 2.3
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from kafka_lite.metrics.metric import AttributeValue, Gauge, Metric
from kafka_lite.metrics.metric_name import MetricName

logger = logging.getLogger(__name__)

M = TypeVar("M", bound=Metric)
T = TypeVar("T")


@dataclass(frozen=True)
class GaugeFamily(Generic[T]):
    """The gauges of a changing set, such as a broker's partitions: the same gauges for each member.

    They are created when they are read, so thousands of partitions cost nothing until then, and the gauges of a removed
    member need no clean-up.
    """

    group: str
    type: str
    gauges: Mapping[str, Callable[[T], AttributeValue]]
    """Gauge name → function that reads it from a member."""
    members: Callable[[], Iterable[tuple[Mapping[str, str], T]]]
    """Returns the current members with their tags."""

    def __len__(self) -> int:
        return len(self.gauges) * sum(1 for _ in self.members())

    def metrics(self) -> Iterable[tuple[MetricName, Gauge]]:
        """The current gauges."""
        for tags, member in self.members():
            key = tuple(tags.items())
            for name, read in self.gauges.items():
                yield MetricName(self.group, self.type, name, key), Gauge(partial(read, member))


class MetricsRegistry:
    """Metrics are registered here when they are created, and reporters read them from here.

    Kafka has one registry per process; here each broker has its own, since a test may run several brokers.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._metrics: dict[MetricName, Metric] = {}
        self._families: list[GaugeFamily[object]] = []
        self._collectors: list[Callable[[], None]] = []

    def add(self, name: MetricName, metric: M) -> M:
        """Register a metric, replacing one with the same name. Returns the metric."""
        with self._lock:
            self._metrics[name] = metric
        return metric

    def add_family(self, family: GaugeFamily[T]) -> None:
        """Register the gauges of a changing set."""
        with self._lock:
            self._families.append(family)  # type: ignore[arg-type]

    def add_collector(self, collect: Callable[[], None]) -> None:
        """Call ``collect`` at every tick and before metrics are read, to fetch what is counted elsewhere."""
        with self._lock:
            self._collectors.append(collect)

    def remove(self, name: MetricName) -> None:
        """Remove a metric, if it exists."""
        with self._lock:
            self._metrics.pop(name, None)

    def get(self, name: MetricName) -> Metric | None:
        """The metric of this name, or None."""
        return self._metrics.get(name) or self.all_metrics().get(name)

    def all_metrics(self) -> dict[MetricName, Metric]:
        """All current metrics, up to date."""
        with self._lock:
            families, collectors = list(self._families), list(self._collectors)
        for collect in collectors:
            collect()
        with self._lock:
            metrics = dict(self._metrics)
        for family in families:
            metrics.update(family.metrics())
        return metrics

    def __len__(self) -> int:
        return len(self._metrics) + sum(map(len, list(self._families)))

    def __bool__(self) -> bool:
        """True also without metrics, so that ``registry or MetricsRegistry()`` keeps a registry that is still empty."""
        return True

    def tick(self) -> None:
        """Update all rates. The broker's scheduler calls this every five seconds."""
        with self._lock:
            metrics, collectors = list(self._metrics.values()), list(self._collectors)
        for collect in collectors:
            collect()
        for metric in metrics:
            metric.tick()

    def beans(self) -> dict[MetricName, dict[str, AttributeValue]]:
        """The attributes of all metrics. A metric that cannot be read is logged and left out."""
        beans = {}
        for name, metric in self.all_metrics().items():
            try:
                beans[name] = metric.attributes()
            except Exception:
                logger.exception("Cannot read the metric %s", name)
        return beans
