"""Metrics of the old producer's messages, per topic.

Kafka 0.10.2: core/.../producer/ProducerTopicStats.scala (ProducerTopicMetrics) · book 2.2.1
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup


class ProducerTopicMetrics:
    """The meters of one topic, or of all together."""

    def __init__(self, group: KafkaMetricsGroup, tags: Mapping[str, str]) -> None:
        self.message_rate = group.new_meter("MessagesPerSec", "messages", tags)
        """Messages passed to ``send``."""
        self.byte_rate = group.new_meter("BytesPerSec", "bytes", tags)
        """Bytes of their encoded values."""
        self.dropped_message_rate = group.new_meter("DroppedMessagesPerSec", "drops", tags)
        """Messages dropped because the queue was full."""


class ProducerTopicStats:
    """``kafka.producer:type=ProducerTopicMetrics,name=…,clientId=…``, per topic with ``,topic=…``."""

    def __init__(self, group: KafkaMetricsGroup, client_id: str) -> None:
        self._group = group
        self._client_id = client_id
        self._topics: dict[str, ProducerTopicMetrics] = {}
        self.all_topics = ProducerTopicMetrics(group, {"clientId": client_id})

    def topic(self, name: str) -> ProducerTopicMetrics:
        """The meters of one topic."""
        metrics = self._topics.get(name)
        if metrics is None:
            tags = {"clientId": self._client_id, "topic": name}
            metrics = self._topics[name] = ProducerTopicMetrics(self._group, tags)
        return metrics

    def sent(self, topic: str) -> None:
        """A message was passed to ``send``."""
        self.topic(topic).message_rate.mark()
        self.all_topics.message_rate.mark()

    def encoded(self, topic: str, size_bytes: int) -> None:
        """A message was encoded."""
        self.topic(topic).byte_rate.mark(size_bytes)
        self.all_topics.byte_rate.mark(size_bytes)

    def dropped(self, topic: str) -> None:
        """A message was dropped because the queue was full."""
        self.topic(topic).dropped_message_rate.mark()
        self.all_topics.dropped_message_rate.mark()
