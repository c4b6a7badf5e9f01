"""Keeps the beans of a worker: ``kafka.connect:type=sink-task-metrics,connector=a,task=0``.

Kafka 1.0: connect/runtime/.../connect/runtime/ConnectMetrics.java, ConnectMetricsRegistry.java · book 8.3.5
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.metrics.mbean_server import Beans, MBeanServer
from kafka_lite.metrics.metric import AttributeValue
from kafka_lite.metrics.metric_name import MetricName
from kafka_lite.metrics.stats import Avg, Max, MetricConfig, Rate, SampledStat

DOMAIN = "kafka.connect"
Read = Callable[[], AttributeValue]


class ConnectMetrics:
    """Makes groups, and reads them. Each group is one bean, until it is closed."""

    def __init__(self, time: Time = SYSTEM_TIME) -> None:
        self.time = time
        self.beans = MBeanServer()
        """All that this process has to show. Other libraries' beans may be added."""
        self.beans.add_source(self._read)
        self._lock = threading.Lock()
        self._groups: dict[MetricName, MetricGroup] = {}

    def group(self, kind: str, **tags: str) -> MetricGroup:
        """A new, empty group. It replaces one of the same name: a task that was abandoned may still have it."""
        group = MetricGroup(MetricName.of(DOMAIN, kind, tags=tags), self)
        with self._lock:
            self._groups[group.name] = group
        return group

    def remove(self, group: MetricGroup) -> None:
        """Show a group no longer, unless another one has taken its name."""
        with self._lock:
            if self._groups.get(group.name) is group:
                del self._groups[group.name]

    def _read(self) -> Beans:
        with self._lock:
            groups = list(self._groups.values())
        return {group.name: group.read() for group in groups}


class MetricGroup:
    """The attributes of a bean. They are read when somebody asks: what a task counts in its loop is a plain number."""

    def __init__(self, name: MetricName, metrics: ConnectMetrics) -> None:
        self.name = name
        self._metrics = metrics
        self._reads: dict[str, Read] = {}

    def gauge(self, name: str, read: Read) -> None:
        """An attribute that is kept elsewhere: a number, or a text."""
        self._reads[name] = read

    def counter(self, name: str, read_total: Callable[[], float]) -> None:
        """``NAME-total``, and ``NAME-rate`` per second over the last windows."""
        rate = _CountedRate(read_total, self._metrics.time)
        self.gauge(f"{name}-total", read_total)
        self.gauge(f"{name}-rate", rate.read)

    def times(self, name: str) -> Window:
        """``NAME-avg-time-ms`` and ``NAME-max-time-ms``."""
        return self.window({f"{name}-avg-time-ms": Avg(), f"{name}-max-time-ms": Max()})

    def window(self, stats: Mapping[str, SampledStat]) -> Window:
        """Attributes that are computed of the values of the last windows; 0 if there are none."""
        window = Window(list(stats.values()), self._metrics.time)
        for name, stat in stats.items():
            self.gauge(name, lambda stat=stat: window.measure(stat))  # type: ignore[misc]
        return window

    def read(self) -> dict[str, AttributeValue]:
        """The values of all attributes."""
        return {name: read() for name, read in self._reads.items()}

    def close(self) -> None:
        """Show the group no longer."""
        self._metrics.remove(self)


class Window:
    """Values of the last half minute or so, and what is computed of them."""

    def __init__(self, stats: list[SampledStat], time: Time) -> None:
        self._stats = stats
        self._time = time
        self._lock = threading.Lock()
        self._config = MetricConfig()

    def record(self, value: float) -> None:
        """Add a value. Any thread may call this."""
        with self._lock:
            for stat in self._stats:
                stat.record(self._config, value, 1, self._time.hi_res_ms())

    def measure(self, stat: SampledStat) -> float:
        """The statistic of the values."""
        with self._lock:
            value = stat.measure(self._config, self._time.hi_res_ms())
        return value if math.isfinite(value) else 0.0


class _CountedRate:
    """How fast a total grows. What was added since the last reading counts as added now: a reader comes often."""

    def __init__(self, read_total: Callable[[], float], time: Time) -> None:
        self._read_total = read_total
        self._time = time
        self._lock = threading.Lock()
        self._config = MetricConfig()
        self._rate = Rate()
        self._known = 0.0

    def read(self) -> float:
        with self._lock:
            now_ms, total = self._time.hi_res_ms(), self._read_total()
            added, self._known = total - self._known, total
            self._rate.record(self._config, added, 1, now_ms)
            return self._rate.measure(self._config, now_ms)
