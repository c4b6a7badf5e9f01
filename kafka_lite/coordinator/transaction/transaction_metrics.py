"""The metrics of the transaction coordinator: load times, and markers and completions that cannot be written yet.

Kafka 3.9: core/.../coordinator/transaction/TransactionStateManager.scala, TransactionMarkerChannelManager.scala
(metrics) · book 10.3
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from kafka_lite.common.time import Time
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.metrics.stats import Avg, Max

PACKAGE = "kafka.coordinator.transaction"
SENSOR_GROUP = "transaction-coordinator-metrics"


class TransactionStateManagerMetrics:
    """Collects load times until ``TransactionBeans`` reads them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._load_times_ms: list[float] = []

    def loaded(self, time_ms: float) -> None:
        """A partition was loaded, in this time."""
        with self._lock:
            self._load_times_ms.append(time_ms)

    def take(self) -> list[float]:
        """The load times (ms) since the last call."""
        with self._lock:
            taken, self._load_times_ms = self._load_times_ms, []
        return taken


class TransactionBeans:
    """The beans of the transaction coordinator."""

    def __init__(
        self,
        registry: MetricsRegistry,
        metrics: Metrics,
        time: Time,
        collected: TransactionStateManagerMetrics,
        markers_without_leader: Callable[[], int],
        completions_to_retry: Callable[[], int],
    ) -> None:
        self._collected = collected
        beans = KafkaMetricsGroup(registry, time, PACKAGE, "TransactionMarkerChannelManager")
        beans.new_gauge("UnknownDestinationQueueSize", markers_without_leader)
        beans.new_gauge("LogAppendRetryQueueSize", completions_to_retry)
        self._loads = metrics.sensor("TransactionsPartitionLoadTime")
        for name, stat in (("partition-load-time-max", Max()), ("partition-load-time-avg", Avg())):
            self._loads.add(metrics.metric_name(name, SENSOR_GROUP, "time to load a partition, ms"), stat)
        metrics.add_collector(self.collect)
        registry.add_collector(self.collect)

    def collect(self) -> None:
        """Record the load times since the last call."""
        for time_ms in self._collected.take():
            self._loads.record(time_ms)
