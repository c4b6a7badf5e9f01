"""Failure metrics of an old producer, and the registry of all its metrics.

Kafka 0.10.2: core/.../producer/ProducerStats.scala, ProducerStatsRegistry · book 2.2.1
"""

from __future__ import annotations

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.metrics.meter import TICK_INTERVAL_MS
from kafka_lite.metrics.metric import AttributeValue
from kafka_lite.metrics.metric_name import MetricName
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.old_producer.producer_request_stats import ProducerRequestStats
from kafka_lite.old_producer.producer_topic_stats import ProducerTopicStats

PACKAGE = "kafka.producer"


class ProducerStats:
    """``kafka.producer:type=ProducerStats,name=…,clientId=…``."""

    def __init__(self, group: KafkaMetricsGroup, client_id: str) -> None:
        tags = {"clientId": client_id}
        self.serialization_error_rate = group.new_meter("SerializationErrorsPerSec", "errors", tags)
        self.resend_rate = group.new_meter("ResendsPerSec", "resends", tags)
        """Batches that were retried."""
        self.failed_send_rate = group.new_meter("FailedSendsPerSec", "failed sends", tags)
        """Batches that were given up."""


class ProducerStatsRegistry:
    """The metrics of one producer. Kafka keeps one registry per process and client id.

    There is no ticking thread: the rates are updated when something is sent or read.
    """

    def __init__(self, client_id: str, time: Time = SYSTEM_TIME) -> None:
        self.registry = MetricsRegistry()
        self._time = time
        self._ticked_ms = time.hi_res_ms()
        self.producer = ProducerStats(self.group("ProducerStats"), client_id)
        self.topics = ProducerTopicStats(self.group("ProducerTopicMetrics"), client_id)
        self.requests = ProducerRequestStats(self.group("ProducerRequestMetrics"), client_id)

    def group(self, class_name: str, package: str = PACKAGE) -> KafkaMetricsGroup:
        """A group for the metrics of one class, in Scala's package."""
        return KafkaMetricsGroup(self.registry, self._time, package, class_name)

    def tick_if_necessary(self) -> None:
        """Update the rates, once for every five seconds that have passed."""
        elapsed_ms = self._time.hi_res_ms() - self._ticked_ms
        if elapsed_ms < TICK_INTERVAL_MS:
            return
        ticks = int(elapsed_ms // TICK_INTERVAL_MS)
        self._ticked_ms += ticks * TICK_INTERVAL_MS
        for _ in range(min(ticks, MAX_TICKS)):
            self.registry.tick()

    def beans(self) -> dict[MetricName, dict[str, AttributeValue]]:
        """All beans with their current values."""
        self.tick_if_necessary()
        return self.registry.beans()


MAX_TICKS = 15 * 60_000 * 5 // TICK_INTERVAL_MS
"""After an hour and a quarter without events, every rate is practically 0."""
