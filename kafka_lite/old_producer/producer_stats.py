"""What goes wrong in an old producer, in numbers; and the registry of all that is measured of it.

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
        """Batches that were sent again."""
        self.failed_send_rate = group.new_meter("FailedSendsPerSec", "failed sends", tags)
        """Batches that were given up."""


class ProducerStatsRegistry:
    """All that is measured of one producer. Kafka keeps it for the whole process, by client id.

    Nobody but the producer's own threads ever runs here, so they tick: rates follow when something is sent or read.
    """

    def __init__(self, client_id: str, time: Time = SYSTEM_TIME) -> None:
        self.registry = MetricsRegistry()
        self._time = time
        self._ticked_ms = time.hi_res_ms()
        self.producer = ProducerStats(self.group("ProducerStats"), client_id)
        self.topics = ProducerTopicStats(self.group("ProducerTopicMetrics"), client_id)
        self.requests = ProducerRequestStats(self.group("ProducerRequestMetrics"), client_id)

    def group(self, class_name: str, package: str = PACKAGE) -> KafkaMetricsGroup:
        """For the metrics of one more class; the package is Scala's."""
        return KafkaMetricsGroup(self.registry, self._time, package, class_name)

    def tick_if_necessary(self) -> None:
        """Let the rates follow, once for every five seconds that have passed."""
        elapsed_ms = self._time.hi_res_ms() - self._ticked_ms
        if elapsed_ms < TICK_INTERVAL_MS:
            return
        ticks = int(elapsed_ms // TICK_INTERVAL_MS)
        self._ticked_ms += ticks * TICK_INTERVAL_MS
        for _ in range(min(ticks, MAX_TICKS)):
            self.registry.tick()

    def beans(self) -> dict[MetricName, dict[str, AttributeValue]]:
        """All beans with the values of now."""
        self.tick_if_necessary()
        return self.registry.beans()


MAX_TICKS = 15 * 60_000 * 5 // TICK_INTERVAL_MS
"""After five quarters of an hour without anything, every rate is 0 for all that anybody can see."""
