"""All quotas of a broker.

Kafka 0.10.2: core/.../server/QuotaFactory.scala (QuotaManagers); log directories: Kafka 1.1 · book 10.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kafka_lite.common.time import Time
from kafka_lite.log.log_config import LogConfig
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.stats import MetricConfig
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.quotas.client_quota_managers import ClientQuotaManagers, client_quota_managers
from kafka_lite.server.quotas.custom_quotas import load_client_quota_callback
from kafka_lite.server.quotas.replication_quota_manager import (
    UNLIMITED,
    ReplicationQuotaManager,
    ReplicationType,
    parse_throttled_partitions,
)

LEADER_THROTTLED_RATE = "leader.replication.throttled.rate"
FOLLOWER_THROTTLED_RATE = "follower.replication.throttled.rate"
ALTER_LOG_DIRS_RATE = "replica.alter.log.dirs.io.max.bytes.per.second"


@dataclass(frozen=True)
class QuotaManagers:
    """Three quotas of replicas, and those of clients::

    leader            what this broker sends to followers that are not in sync
    follower          what it fetches while it is not in sync
    alter_log_dirs    what it copies from one log directory to another
    clients           what clients produce, fetch, keep busy and change
    """

    broker_id: int
    leader: ReplicationQuotaManager
    follower: ReplicationQuotaManager
    alter_log_dirs: ReplicationQuotaManager
    clients: ClientQuotaManagers

    def __iter__(self) -> Iterator[ReplicationQuotaManager]:
        """The quotas of replicas."""
        return iter((self.leader, self.follower, self.alter_log_dirs))

    def register(self, metrics: Metrics) -> None:
        """Show the rates."""
        for quota in self:
            quota.register(metrics)

    def update_rates(self, config: Mapping[str, str]) -> None:
        """Apply the overrides of a broker; a rate without an override is unlimited."""
        for quota, key in zip(self, (LEADER_THROTTLED_RATE, FOLLOWER_THROTTLED_RATE, ALTER_LOG_DIRS_RATE), strict=True):
            quota.update_quota(int(config.get(key, UNLIMITED)))

    def update_topic(self, topic: str, config: LogConfig) -> None:
        """Throttle those replicas of a topic that its configuration lists."""
        for quota, entries in (
            (self.leader, config.leader_replication_throttled_replicas),
            (self.follower, config.follower_replication_throttled_replicas),
        ):
            if entries:
                quota.mark_throttled(topic, parse_throttled_partitions(entries, self.broker_id))
            else:
                quota.remove_throttle(topic)


def quota_managers(config: KafkaConfig, time: Time, metrics: Metrics) -> QuotaManagers:
    """The quotas of a broker, which limit nothing yet. Raises ConfigError for ``client.quota.callback.class``."""
    replication = MetricConfig(
        config.num_replication_quota_samples, config.replication_quota_window_size_seconds * 1000
    )
    alter_log_dirs = MetricConfig(
        config.num_alter_log_dirs_replication_quota_samples,
        config.alter_log_dirs_replication_quota_window_size_seconds * 1000,
    )
    return QuotaManagers(
        config.broker_id,
        ReplicationQuotaManager(ReplicationType.LEADER, replication, time),
        ReplicationQuotaManager(ReplicationType.FOLLOWER, replication, time),
        ReplicationQuotaManager(ReplicationType.ALTER_LOG_DIRS, alter_log_dirs, time),
        client_quota_managers(
            MetricConfig(config.num_quota_samples, config.quota_window_size_seconds * 1000),
            MetricConfig(config.num_controller_quota_samples, config.controller_quota_window_size_seconds * 1000),
            metrics,
            time,
            config.quota_producer_default,
            config.quota_consumer_default,
            load_client_quota_callback(config),
        ),
    )
