"""A replica manager, and the state changes of its partitions, without a broker around them.

For tests, benchmarks and figures.

Not in Kafka, whose tests build theirs in ``ReplicaManagerTest.scala``.
"""

from __future__ import annotations

from collections.abc import Collection

from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_manager import LogManager
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.server.quotas.quota_factory import quota_managers
from kafka_lite.server.replica_manager import ReplicaManager
from kafka_lite.server.replica_state_changes import ReplicaStateChanges
from kafka_lite.server.replication.isr_changes import IsrChanges, IsrStore
from kafka_lite.zookeeper.data import LeaderIsrAndControllerEpoch


class RefusingIsrStore:
    """An IsrStore that takes no change: every ISR stays as the controller made it."""

    def update_partition_state(self, partition: TopicPartition, state: LeaderIsrAndControllerEpoch) -> int | None:
        """Refuse the change, as if somebody else had changed the znode."""

    def propagate_isr_changes(self, partitions: Collection[TopicPartition]) -> None:
        """Do nothing: there are no changes."""


def new_replica_manager(
    config: KafkaConfig,
    log_manager: LogManager,
    scheduler: Scheduler,
    time: Time,
    *,
    registry: MetricsRegistry | None = None,
    isr_store: IsrStore | None = None,
    metadata_cache: MetadataCache | None = None,
) -> ReplicaManager:
    """The replica manager of a broker that knows no others, whose ISRs do not change and whose replication is not
    throttled, unless a collaborator says otherwise.

    ``time`` is the clock of the replicas; the purgatories have the machine's.
    """
    return ReplicaManager(
        config,
        log_manager,
        scheduler,
        time,
        SYSTEM_TIME,
        registry or MetricsRegistry(),
        IsrChanges(isr_store or RefusingIsrStore(), time),
        quota_managers(config, time, Metrics(time=time)),
        metadata_cache or MetadataCache(config.broker_id),
    )


def new_replica_state_changes(replica_manager: ReplicaManager, config: LogConfig) -> ReplicaStateChanges:
    """Makes partitions of a replica manager leaders or followers; every topic has the same configuration.

    It knows the brokers that a request names, and no others.
    """
    return ReplicaStateChanges(replica_manager, lambda _topic: config, list)
