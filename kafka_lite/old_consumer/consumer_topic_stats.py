"""What streams have handed out and fetchers brought, by topic.

Kafka 0.10.2: core/.../consumer/ConsumerTopicStats.scala · book 3.4.2
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.metrics.metrics_registry import MetricsRegistry


class ConsumerTopicMetrics:
    """``kafka.consumer:type=ConsumerTopicMetrics`` of one topic, or of all."""

    def __init__(self, group: KafkaMetricsGroup, tags: Mapping[str, str]) -> None:
        self.message_rate = group.new_meter("MessagesPerSec", "messages", tags)
        self.byte_rate = group.new_meter("BytesPerSec", "bytes", tags)


class ConsumerTopicStats:
    """The metrics of one client; a topic's are made when they are first wanted."""

    def __init__(self, client_id: str, registry: MetricsRegistry | None = None, time: Time = SYSTEM_TIME) -> None:
        registry = registry if registry is not None else MetricsRegistry()
        self._group = KafkaMetricsGroup(registry, time, "kafka.consumer", "ConsumerTopicMetrics")
        self._client_id = client_id
        self._stats: dict[str, ConsumerTopicMetrics] = {}
        self._all_topics = ConsumerTopicMetrics(self._group, {"clientId": client_id})

    def get_consumer_all_topic_stats(self) -> ConsumerTopicMetrics:
        """Those of all topics together."""
        return self._all_topics

    def get_consumer_topic_stats(self, topic: str) -> ConsumerTopicMetrics:
        """Those of one topic."""
        found = self._stats.get(topic)
        if found is None:
            made = ConsumerTopicMetrics(self._group, {"clientId": self._client_id, "topic": topic})
            found = self._stats.setdefault(topic, made)
        return found
