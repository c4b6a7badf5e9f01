"""Metrics that all clients have: connections, and the time that the user has waited.

Kafka 0.10.2: clients/.../producer/KafkaProducer.java, clients/.../consumer/KafkaConsumer.java · book 2.1.3
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from kafka_lite.clients.node_metrics import NodeMetrics
from kafka_lite.common.new_instance import new_instance
from kafka_lite.common.time import Time
from kafka_lite.metrics.jmx_reporter import JmxReporter
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.metrics_reporter import MetricsReporter
from kafka_lite.metrics.recording_level import RecordingLevel
from kafka_lite.metrics.sensor import Sensor
from kafka_lite.metrics.stats import CumulativeSum, MetricConfig
from kafka_lite.network.metrics.connection_counters import ConnectionCounters
from kafka_lite.network.metrics.selector_metrics import NANOS_PER_MS, SelectorMetrics
from kafka_lite.network.selector import Selector


class ClientConfig(Protocol):
    """The configuration of a producer or a consumer: checked values by key, and the user's originals."""

    @property
    def originals(self) -> Mapping[str, object]:
        """The configuration as the user gave it."""
        ...

    def __getitem__(self, key: str) -> Any: ...


class ClientMetrics:
    """The metrics of one client. ``kind`` is ``producer`` or ``consumer``, and the prefix of group names.

    ::

        Metrics ─▶ JmxReporter        beans: kafka.producer:type=producer-metrics,client-id=…
           └────▶ metric.reporters    the user's own
    """

    def __init__(self, kind: str, config: ClientConfig, time: Time) -> None:
        """Raises ConfigError for a reporter that cannot be created."""
        self._kind = kind
        self._time = time
        self.jmx_reporter = JmxReporter(f"kafka.{kind}")
        kept = MetricConfig(
            config["metrics.num.samples"],
            config["metrics.sample.window.ms"],
            RecordingLevel.for_name(config["metrics.recording.level"]),
            (("client-id", config["client.id"]),),
        )
        reporters = [_reporter(config, name) for name in config["metric.reporters"]]
        self.metrics = Metrics(kept, [self.jmx_reporter, *reporters], time)
        self.counters = ConnectionCounters()
        """The counters that the selector updates."""
        self.nodes = NodeMetrics(self.metrics, kind, self.counters, time)
        self.metrics.add_collector(self.nodes.collect)

    def measure_selector(self, selector: Selector) -> None:
        """Add the metrics of the selector's connections."""
        measured = SelectorMetrics(
            self.metrics, self._kind, {}, self.counters, lambda: len(selector.channels()), self._time
        )
        self.metrics.add_collector(measured.collect)

    def close(self) -> None:
        """Close the reporters."""
        self.metrics.close()

    def _total_time(self, name: str, description: str) -> Sensor:
        """The sensor of ``NAME-time-ns-total``, a total time in ns."""
        sensor = self.metrics.sensor(f"{name}-time-ns-total")
        metric = self.metrics.metric_name(f"{name}-time-ns-total", f"{self._kind}-metrics", description)
        sensor.add(metric, CumulativeSum())
        return sensor

    def _record_since(self, begin_ms: float, sensor: Sensor) -> None:
        sensor.record((self._time.hi_res_ms() - begin_ms) * NANOS_PER_MS)


def _reporter(config: ClientConfig, name: str) -> MetricsReporter:
    reporter: MetricsReporter = new_instance("metric.reporters", MetricsReporter, name)
    reporter.configure(config.originals)
    return reporter
