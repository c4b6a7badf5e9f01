"""Everything that one old consumer measures, and who is shown it.

Kafka 0.10.2: core/.../consumer/ZookeeperConsumerConnector.scala, metrics/KafkaMetricsGroup.scala · book 3.1.1
"""

from __future__ import annotations

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
from kafka_lite.old_consumer.consumer_topic_stats import ConsumerTopicStats
from kafka_lite.old_consumer.fetch_request_and_response_stats import FetchRequestAndResponseStats


class ConsumerStats:
    """The metrics of one consumer under the names of Kafka's beans.

    In Kafka all clients of a process share a registry, and those of the same client.id their metrics.
    """

    def __init__(self, config: ConsumerConfig, time: Time = SYSTEM_TIME) -> None:
        """Raises KafkaError when a reporter that is configured is not there."""
        client_id = config["client.id"]
        self.registry = MetricsRegistry()
        self.topics = ConsumerTopicStats(client_id, self.registry, time)
        self.fetches = FetchRequestAndResponseStats(client_id, self.registry, time)
        self.connector = KafkaMetricsGroup(self.registry, time, "kafka.consumer", "ZookeeperConsumerConnector")
        """For the gauges of the connector."""
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
        """All metrics of now, with their attributes."""
        return self.registry.beans()

    def start(self, scheduler: Scheduler) -> None:
        """Let the rates follow the counts, and the reporters begin."""
        scheduler.schedule("metrics-tick", self.registry.tick, TICK_INTERVAL_MS, TICK_INTERVAL_MS)
        for reporter in self._reporters:
            reporter.start(self.registry)

    def close(self) -> None:
        """Tell the reporters."""
        for reporter in self._reporters:
            reporter.close()
