"""The old consumer's metrics: messages per topic, fetches per broker, commits and rebalances.

Kafka 0.10.2: core/.../consumer/ConsumerTopicStats.scala, FetchRequestAndResponseStats.scala,
ZookeeperConsumerConnector.scala, core/.../metrics/KafkaMetricsGroup.scala · book 3.1.1, 3.3.3, 3.4.2
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.metrics.kafka_metrics_reporter import KafkaMetricsReporter
from kafka_lite.metrics.meter import TICK_INTERVAL_MS
from kafka_lite.metrics.metric import AttributeValue
from kafka_lite.metrics.metric_name import MetricName
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.metrics.metrics_reporter import configured_instance
from kafka_lite.old_consumer.consumer_config import ConsumerConfig


class ConsumerTopicMetrics:
    """``kafka.consumer:type=ConsumerTopicMetrics`` of one topic, or of all."""

    def __init__(self, group: KafkaMetricsGroup, tags: Mapping[str, str]) -> None:
        self.message_rate = group.new_meter("MessagesPerSec", "messages", tags)
        self.byte_rate = group.new_meter("BytesPerSec", "bytes", tags)


class ConsumerTopicStats:
    """The metrics of one client, created per topic on first use."""

    def __init__(self, client_id: str, registry: MetricsRegistry | None = None, time: Time = SYSTEM_TIME) -> None:
        registry = registry if registry is not None else MetricsRegistry()
        self._group = KafkaMetricsGroup(registry, time, "kafka.consumer", "ConsumerTopicMetrics")
        self._client_id = client_id
        self._stats: dict[str, ConsumerTopicMetrics] = {}
        self._all_topics = ConsumerTopicMetrics(self._group, {"clientId": client_id})

    def get_consumer_all_topic_stats(self) -> ConsumerTopicMetrics:
        """The metrics of all topics together."""
        return self._all_topics

    def get_consumer_topic_stats(self, topic: str) -> ConsumerTopicMetrics:
        """The metrics of one topic."""
        found = self._stats.get(topic)
        if found is None:
            made = ConsumerTopicMetrics(self._group, {"clientId": self._client_id, "topic": topic})
            found = self._stats.setdefault(topic, made)
        return found


class FetchRequestAndResponseMetrics:
    """``kafka.consumer:type=FetchRequestAndResponseMetrics`` of one broker, or of all."""

    def __init__(self, group: KafkaMetricsGroup, tags: Mapping[str, str]) -> None:
        self.request_timer = group.new_timer("FetchRequestRateAndTimeMs", tags)
        self.request_size_hist = group.new_histogram("FetchResponseSize", tags)
        self.throttle_time_stats = group.new_timer("FetchRequestThrottleRateAndTimeMs", tags)

    def update(self, duration_ms: float, response_bytes: int, throttle_time_ms: float) -> None:
        """A fetch was completed."""
        self.request_timer.update(duration_ms)
        self.request_size_hist.update(response_bytes)
        self.throttle_time_stats.update(throttle_time_ms)


class FetchRequestAndResponseStats:
    """The metrics of one client, created per broker on first use."""

    def __init__(self, client_id: str, registry: MetricsRegistry | None = None, time: Time = SYSTEM_TIME) -> None:
        registry = registry if registry is not None else MetricsRegistry()
        self._group = KafkaMetricsGroup(registry, time, "kafka.consumer", "FetchRequestAndResponseMetrics")
        self._client_id = client_id
        self._stats: dict[tuple[str, int], FetchRequestAndResponseMetrics] = {}
        self._all_brokers = FetchRequestAndResponseMetrics(self._group, {"clientId": client_id})

    def get_fetch_request_and_response_stats(self, host: str, port: int) -> FetchRequestAndResponseMetrics:
        """The metrics of one broker."""
        found = self._stats.get((host, port))
        if found is None:
            tags = {"clientId": self._client_id, "brokerHost": host, "brokerPort": str(port)}
            found = self._stats.setdefault((host, port), FetchRequestAndResponseMetrics(self._group, tags))
        return found

    def update(self, host: str, port: int, duration_ms: float, response_bytes: int, throttle_time_ms: float) -> None:
        """A broker has responded to a fetch."""
        for metrics in (self.get_fetch_request_and_response_stats(host, port), self._all_brokers):
            metrics.update(duration_ms, response_bytes, throttle_time_ms)


class ConsumerStats:
    """The metrics of one consumer, under the names of Kafka's beans.

    In Kafka, all clients of a process share a registry, and clients with the same client.id share their metrics.
    """

    def __init__(self, config: ConsumerConfig, time: Time = SYSTEM_TIME) -> None:
        """Raises KafkaError if a configured reporter cannot be created."""
        client_id = config["client.id"]
        self.registry = MetricsRegistry()
        self.topics = ConsumerTopicStats(client_id, self.registry, time)
        self.fetches = FetchRequestAndResponseStats(client_id, self.registry, time)
        self.connector = KafkaMetricsGroup(self.registry, time, "kafka.consumer", "ZookeeperConsumerConnector")
        """The group for the connector's gauges."""
        tags = {"clientId": client_id}
        self.kafka_commit_meter = self.connector.new_meter("KafkaCommitsPerSec", "commits", tags)
        self.zk_commit_meter = self.connector.new_meter("ZooKeeperCommitsPerSec", "commits", tags)
        self.rebalance_timer = self.connector.new_timer("RebalanceRateAndTime", tags)
        self.connector.new_gauge("yammer-metrics-count", lambda: len(self.registry))
        configs = config.originals | dict(config.values)
        self._reporters = [
            configured_instance(name, KafkaMetricsReporter, configs)  # type: ignore[type-abstract]
            for name in config["kafka.metrics.reporters"]
        ]

    def beans(self) -> dict[MetricName, dict[str, AttributeValue]]:
        """All metrics with their current attributes."""
        return self.registry.beans()

    def start(self, scheduler: Scheduler) -> None:
        """Start to update the rates periodically, and start the reporters."""
        scheduler.schedule("metrics-tick", self.registry.tick, TICK_INTERVAL_MS, TICK_INTERVAL_MS)
        for reporter in self._reporters:
            reporter.start(self.registry)

    def close(self) -> None:
        """Close the reporters."""
        for reporter in self._reporters:
            reporter.close()
