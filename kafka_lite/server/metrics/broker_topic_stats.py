"""Meters of the messages and bytes that go into topics and out of them.

Kafka 0.10.2: core/.../server/KafkaRequestHandler.scala (BrokerTopicMetrics, BrokerTopicStats) · book 2.3.4
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Final

from kafka_lite.common.errors import Errors
from kafka_lite.common.sendable import Buffer, size_of
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.server.delayed_produce import ProducePartitionStatus

METERS: dict[str, str] = {
    "MessagesInPerSec": "messages",
    "BytesInPerSec": "bytes",
    "BytesOutPerSec": "bytes",
    "BytesRejectedPerSec": "bytes",
    "FailedProduceRequestsPerSec": "requests",
    "FailedFetchRequestsPerSec": "requests",
    "TotalProduceRequestsPerSec": "requests",
    "TotalFetchRequestsPerSec": "requests",
}
"""Name → what is counted."""

_NONE: Final = Errors.NONE
"""Bound once: looking up a member of an Enum runs Python code each time."""

EXPECTED_PRODUCE_ERRORS = frozenset(
    {
        Errors.NONE,
        Errors.UNKNOWN_TOPIC_OR_PARTITION,
        Errors.NOT_LEADER_OR_FOLLOWER,
        Errors.MESSAGE_TOO_LARGE,
        Errors.RECORD_LIST_TOO_LARGE,
        Errors.CORRUPT_MESSAGE,
        Errors.INVALID_TIMESTAMP,
        Errors.INVALID_TOPIC_EXCEPTION,
        Errors.KAFKA_STORAGE_ERROR,
    }
)
"""Any other error of a partition in a produce request is unexpected, and counts as *failed*."""

EXPECTED_FETCH_ERRORS = frozenset(
    {
        Errors.NONE,
        Errors.UNKNOWN_TOPIC_OR_PARTITION,
        Errors.NOT_LEADER_OR_FOLLOWER,
        Errors.REPLICA_NOT_AVAILABLE,
        Errors.OFFSET_OUT_OF_RANGE,
        Errors.UNKNOWN_LEADER_EPOCH,
        Errors.FENCED_LEADER_EPOCH,
        Errors.KAFKA_STORAGE_ERROR,
    }
)
"""Any other error of a partition in a fetch request is unexpected, and counts as *failed*."""


class BrokerTopicMetrics:
    """The meters of one topic, or of all topics together. Requests are counted once per partition, as in Kafka."""

    def __init__(self, group: KafkaMetricsGroup, topic: str | None = None) -> None:
        self._group = group
        self._tags = {"topic": topic} if topic is not None else {}
        meters = {name: group.new_meter(name, event_type, self._tags) for name, event_type in METERS.items()}
        self.messages_in_rate = meters["MessagesInPerSec"]
        self.bytes_in_rate = meters["BytesInPerSec"]
        self.bytes_out_rate = meters["BytesOutPerSec"]
        self.bytes_rejected_rate = meters["BytesRejectedPerSec"]
        self.failed_produce_request_rate = meters["FailedProduceRequestsPerSec"]
        self.failed_fetch_request_rate = meters["FailedFetchRequestsPerSec"]
        self.total_produce_request_rate = meters["TotalProduceRequestsPerSec"]
        self.total_fetch_request_rate = meters["TotalFetchRequestsPerSec"]

    def appended(self, size_bytes: int, messages: int) -> None:
        """Count appended messages and the size of their batches in bytes."""
        self.total_produce_request_rate.mark()
        self.bytes_in_rate.mark(size_bytes)
        self.messages_in_rate.mark(messages)

    def refused(self, size_bytes: int, error: Errors) -> None:
        """Count records of this size in bytes that were rejected because of the error."""
        self.total_produce_request_rate.mark()
        if error is Errors.MESSAGE_TOO_LARGE:
            self.bytes_rejected_rate.mark(size_bytes)
        elif error not in EXPECTED_PRODUCE_ERRORS:
            self.failed_produce_request_rate.mark()

    def read(self, error: Errors) -> None:
        """Count a read of a partition for a fetch request, with its error."""
        self.total_fetch_request_rate.mark()
        if error is not _NONE and error not in EXPECTED_FETCH_ERRORS:
            self.failed_fetch_request_rate.mark()

    def close(self) -> None:
        """Remove the meters."""
        for name in METERS:
            self._group.remove_metric(name, self._tags)


class BrokerTopicStats:
    """The meters of all topics together, and of each topic with something to count.

    Kafka creates meters for any name that a client sends. Here a name must be that of a topic on this broker
    (``exists``), so that clients cannot exhaust memory with names.
    """

    def __init__(self, registry: MetricsRegistry, time: Time, exists: Callable[[TopicPartition], bool]) -> None:
        self._group = KafkaMetricsGroup(registry, time, "kafka.server", "BrokerTopicMetrics")
        self._exists = exists
        self._lock = threading.Lock()
        self._topics: dict[str, BrokerTopicMetrics] = {}
        self.all_topics_stats = BrokerTopicMetrics(self._group)
        self._strangers = BrokerTopicMetrics(KafkaMetricsGroup(MetricsRegistry(), time, "kafka.server", "Strangers"))

    def topic_stats(self, topic_partition: TopicPartition) -> BrokerTopicMetrics:
        """The meters of a topic; those of an unknown topic are not registered."""
        found = self._topics.get(topic_partition.topic)
        if found is not None:
            return found
        with self._lock:
            if topic_partition.topic not in self._topics:
                if not self._exists(topic_partition):
                    return self._strangers
                self._topics[topic_partition.topic] = BrokerTopicMetrics(self._group, topic_partition.topic)
            return self._topics[topic_partition.topic]

    def produced(
        self, records: Mapping[TopicPartition, Buffer], statuses: Mapping[TopicPartition, ProducePartitionStatus]
    ) -> None:
        """Count a produce request's results, partition by partition."""
        for topic_partition, status in statuses.items():
            size_bytes = size_of(records[topic_partition])
            response = status.response
            error = response.error
            if error is _NONE:
                messages = status.required_offset - response.base_offset
                self.topic_stats(topic_partition).appended(size_bytes, messages)
                self.all_topics_stats.appended(size_bytes, messages)
            else:
                self.topic_stats(topic_partition).refused(size_bytes, error)
                self.all_topics_stats.refused(size_bytes, error)

    def read(self, topic_partition: TopicPartition, error: Errors) -> None:
        """Count a read for a fetch request; a request that waited is read and counted twice."""
        self.topic_stats(topic_partition).read(error)
        self.all_topics_stats.read(error)

    def sent(self, topic_partition: TopicPartition, size_bytes: int) -> None:
        """Count records of this size in bytes as part of a fetch response."""
        if size_bytes:
            self.topic_stats(topic_partition).bytes_out_rate.mark(size_bytes)
            self.all_topics_stats.bytes_out_rate.mark(size_bytes)

    def remove_metrics(self, topic: str) -> None:
        """Remove the meters of a topic that has no partition on this broker any more."""
        with self._lock:
            metrics = self._topics.pop(topic, None)
        if metrics is not None:
            metrics.close()
