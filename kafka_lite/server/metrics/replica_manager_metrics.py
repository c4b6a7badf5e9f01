"""The metrics of a replica manager: its partitions, its purgatories, and the traffic of topics.

Kafka 0.10.2: core/.../server/ReplicaManager.scala, DelayedFetch.scala (DelayedFetchMetrics), DelayedProduce.scala
(DelayedProduceMetrics), core/.../cluster/Partition.scala · book 6.2.1
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kafka_lite.cluster.isr_writes import IsrChange
from kafka_lite.cluster.partition import Partition
from kafka_lite.common.purgatory.delayed_operation import DelayedOperationPurgatory
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.metrics.meter import Meter
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.server.metrics.broker_topic_stats import BrokerTopicStats

PACKAGE = "kafka.server"


class ReplicaManagerMetrics:
    """Reads ``partitions`` on demand; its methods count expirations and ISR changes."""

    def __init__(
        self,
        registry: MetricsRegistry,
        time: Time,
        partitions: Callable[[], Iterable[Partition]],
        transaction_max_timeout_ms: int,
    ) -> None:
        self._transaction_max_timeout_ms = transaction_max_timeout_ms
        self._registry = registry
        self._time = time
        self._partitions = partitions
        manager = self._group("ReplicaManager")
        manager.new_gauge("LeaderCount", lambda: sum(1 for _ in self._led()))
        manager.new_gauge("PartitionCount", lambda: sum(1 for _ in partitions()))
        manager.new_gauge("UnderReplicatedPartitions", lambda: sum(p.is_under_replicated for p in self._led()))
        manager.new_gauge("PartitionsWithLateTransactionsCount", self._late_transactions)
        self.isr_expand_rate = manager.new_meter("IsrExpandsPerSec", "expands")
        self.isr_shrink_rate = manager.new_meter("IsrShrinksPerSec", "shrinks")
        fetch = self._group("DelayedFetchMetrics")
        self.follower_expired_request_meter = fetch.new_meter("ExpiresPerSec", "requests", {"fetcherType": "follower"})
        self.consumer_expired_request_meter = fetch.new_meter("ExpiresPerSec", "requests", {"fetcherType": "consumer"})
        self._produce = self._group("DelayedProduceMetrics")
        self._expired_produce = self._produce.new_meter("ExpiresPerSec", "requests")
        self._expired_by_partition: dict[TopicPartition, Meter] = {}
        KafkaMetricsGroup(registry, time, "kafka.cluster", "Partition").new_gauges(
            {
                "InSyncReplicasCount": lambda p: len(p.isr) if _is_led(p) else 0,
                "ReplicasCount": lambda p: len(p.assigned_replicas) if _is_led(p) else 0,
                "UnderReplicated": lambda p: int(p.is_under_replicated),
            },
            lambda: ((partition_tags(p.topic_partition), p) for p in partitions()),
        )

    def _group(self, class_name: str) -> KafkaMetricsGroup:
        return KafkaMetricsGroup(self._registry, self._time, PACKAGE, class_name)

    def _led(self) -> Iterable[Partition]:
        return filter(_is_led, self._partitions())

    def _late_transactions(self) -> int:
        """Partitions whose oldest transaction should have ended, and most likely hangs."""
        now_ms, timeout_ms = self._time.milliseconds(), self._transaction_max_timeout_ms
        logs = [partition.log for partition in self._led()]
        return sum(log.producer_state.has_late_transaction(now_ms, timeout_ms) for log in logs if log is not None)

    def measure_topics(self, exists: Callable[[TopicPartition], bool]) -> BrokerTopicStats:
        """Register the meters of incoming and outgoing messages and bytes."""
        return BrokerTopicStats(self._registry, self._time, exists)

    def measure_purgatories(self, *purgatories: DelayedOperationPurgatory[Any]) -> None:
        """Register the sizes of the purgatories: entries of watch lists, and operations."""
        for purgatory in purgatories:
            measure_purgatory(self._registry, self._time, purgatory)

    def isr_changed(self, change: IsrChange) -> None:
        """Count a change of an ISR."""
        (self.isr_shrink_rate if change is IsrChange.SHRINK else self.isr_expand_rate).mark()

    def fetch_expired(self, from_follower: bool) -> None:
        """Count a fetch that waited in vain."""
        (self.follower_expired_request_meter if from_follower else self.consumer_expired_request_meter).mark()

    def produce_expired(self, topic_partition: TopicPartition) -> None:
        """Count a partition that was not replicated in time."""
        self._expired_produce.mark()
        if topic_partition not in self._expired_by_partition:
            tags = partition_tags(topic_partition)
            self._expired_by_partition[topic_partition] = self._produce.new_meter("ExpiresPerSec", "requests", tags)
        self._expired_by_partition[topic_partition].mark()

    def remove_partition(self, topic_partition: TopicPartition) -> None:
        """Remove the metrics of a partition that this broker no longer holds."""
        if self._expired_by_partition.pop(topic_partition, None) is not None:
            self._produce.remove_metric("ExpiresPerSec", partition_tags(topic_partition))


def measure_purgatory(registry: MetricsRegistry, time: Time, purgatory: DelayedOperationPurgatory[Any]) -> None:
    """Register the gauges of one purgatory, whose name is the tag ``delayedOperation``."""
    group = KafkaMetricsGroup(registry, time, PACKAGE, "DelayedOperationPurgatory")
    tags = {"delayedOperation": purgatory.name}
    group.new_gauge("PurgatorySize", lambda: purgatory.watched, tags)
    group.new_gauge("NumDelayedOperations", lambda: purgatory.delayed, tags)


def partition_tags(topic_partition: TopicPartition) -> Mapping[str, str]:
    """The tags that identify a partition in beans."""
    return {"topic": topic_partition.topic, "partition": str(topic_partition.partition)}


def _is_led(partition: Partition) -> bool:
    return partition.leader_replica_if_local is not None
