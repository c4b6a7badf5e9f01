"""Kafka's own metrics library: sensors, their statistics, and reporters.

Kafka 0.10.2: clients/.../common/metrics/Metrics.java · book 10.1

As in Kafka, it exists beside the other library (``MetricsRegistry``) because the new clients brought it along; quotas
and the network layer use it.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Mapping, Sequence

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.metrics.metrics_reporter import MetricsReporter
from kafka_lite.metrics.recording_level import RecordingLevel
from kafka_lite.metrics.sensor import KafkaMetric, KafkaMetricName, Measurable, Sensor, tags_of
from kafka_lite.metrics.stats import MetricConfig

logger = logging.getLogger(__name__)


class Metrics:
    """The sensors and metrics of one broker (or client), by name."""

    def __init__(
        self, config: MetricConfig | None = None, reporters: Sequence[MetricsReporter] = (), time: Time = SYSTEM_TIME
    ) -> None:
        self.config = config or MetricConfig()
        self._time = time
        self._lock = threading.RLock()
        self._metrics: dict[KafkaMetricName, KafkaMetric] = {}
        self._sensors: dict[str, Sensor] = {}
        self._reporters: list[MetricsReporter] = []
        self._collectors: list[Callable[[], None]] = []
        self._collecting = threading.Lock()
        for reporter in reporters:
            self.add_reporter(reporter)
        count = self.metric_name("count", "kafka-metrics-count", "total number of registered metrics")
        self.add_metric(count, lambda _config, _now: len(self._metrics))

    def metric_name(
        self, name: str, group: str, description: str = "", tags: Mapping[str, str] | None = None
    ) -> KafkaMetricName:
        """Create a metric name; the configured tags are added to ``tags``."""
        return KafkaMetricName(name, group, description, tags_of(dict(self.config.tags) | dict(tags or {})))

    def sensor(
        self,
        name: str,
        *parents: Sensor,
        level: RecordingLevel = RecordingLevel.INFO,
        inactive_expiration_ms: float = math.inf,
    ) -> Sensor:
        """Return the sensor of this name, creating it if necessary. Its parents also record its values.

        With ``inactive_expiration_ms``, it is removed some time after its last value.
        """
        with self._lock:
            sensor = self._sensors.get(name)
            if sensor is None:
                arguments = (self.config, self._time, level, self._register, self.collect, inactive_expiration_ms)
                sensor = Sensor(name, parents, *arguments)
                self._sensors[name] = sensor
            return sensor

    def get_sensor(self, name: str) -> Sensor | None:
        """The sensor of this name, or None."""
        return self._sensors.get(name)

    def remove_sensor(self, name: str) -> None:
        """Remove a sensor and its metrics, if it exists."""
        with self._lock:
            sensor = self._sensors.pop(name, None)
            for metric in sensor.metrics if sensor is not None else ():
                self.remove_metric(metric.metric_name)

    def remove_expired_sensors(self) -> None:
        """Remove the sensors that have recorded nothing for too long, such as those of clients that are gone."""
        now_ms = self._time.hi_res_ms()
        with self._lock:
            for sensor in [sensor for sensor in self._sensors.values() if sensor.has_expired(now_ms)]:
                logger.debug("Removing the expired sensor %s", sensor.name)
                self.remove_sensor(sensor.name)

    def add_metric(self, name: KafkaMetricName, measure: Measurable) -> None:
        """Add a metric whose value is computed by ``measure``. Raises ValueError if the name is taken."""
        self._register(KafkaMetric(name, measure, self.config, self._time, self.collect))

    def add_collector(self, collect: Callable[[], None]) -> None:
        """Call ``collect`` before values are read, to record what has only been counted so far. It must be quick.

        Only one thread at a time runs collectors.
        """
        with self._lock:
            self._collectors.append(collect)

    def collect(self) -> None:
        """Run all collectors, unless they are already running.

        It never blocks, because a reporter may read a value when it is notified of a metric that a collector has
        created.
        """
        if not self._collectors or not self._collecting.acquire(blocking=False):
            return
        try:
            for collect in self._collectors:
                collect()
        finally:
            self._collecting.release()

    def remove_metric(self, name: KafkaMetricName) -> None:
        """Remove a metric, if it exists, and notify the reporters."""
        with self._lock:
            metric = self._metrics.pop(name, None)
            if metric is not None:
                self._tell(lambda reporter: reporter.metric_removal(metric))

    def metric(self, name: KafkaMetricName) -> KafkaMetric | None:
        """The metric of this name, or None."""
        return self._metrics.get(name)

    @property
    def metrics(self) -> dict[KafkaMetricName, KafkaMetric]:
        """All current metrics."""
        self.collect()
        with self._lock:
            return dict(self._metrics)

    def add_reporter(self, reporter: MetricsReporter) -> None:
        """Notify ``reporter`` of all existing and future metrics."""
        with self._lock:
            reporter.init(list(self._metrics.values()))
            self._reporters.append(reporter)

    def close(self) -> None:
        """Close all reporters."""
        with self._lock:
            self._tell(lambda reporter: reporter.close())
            self._reporters.clear()

    def _register(self, metric: KafkaMetric) -> None:
        with self._lock:
            name = metric.metric_name
            if name in self._metrics:
                raise ValueError(f"A metric named {name.group}:{name.name} {dict(name.tags)} already exists")
            self._metrics[name] = metric
            self._tell(lambda reporter: reporter.metric_change(metric))

    def _tell(self, tell: Callable[[MetricsReporter], None]) -> None:
        """Notify all reporters; an error in one, which may be third-party code, does not affect the others."""
        for reporter in self._reporters:
            try:
                tell(reporter)
            except Exception:
                logger.exception("The metrics reporter %s failed", type(reporter).__name__)
