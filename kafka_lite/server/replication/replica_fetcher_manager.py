"""The threads with which this broker follows leaders on other brokers.

Kafka 0.10.2: core/.../server/ReplicaFetcherManager.scala, ReplicaManager.scala (makeFollowers) · book 6.2.1
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping

from kafka_lite.clients.abstract_fetcher_manager import AbstractFetcherManager, BrokerAndInitialOffset
from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.cluster.partition import Partition
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log_manager import LogManager
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.server.config.replica_fetch_config import ReplicaFetchConfig
from kafka_lite.server.quotas.replication_quota_manager import ReplicaQuota
from kafka_lite.server.replication.inter_broker_versions import leader_epochs_are_known
from kafka_lite.server.replication.leader_end_point import LeaderEndPoint, RemoteLeaderEndPoint
from kafka_lite.server.replication.replica_fetcher_thread import ReplicaFetcherThread

logger = logging.getLogger(__name__)

Connect = Callable[[BrokerEndPoint, ReplicaFetchConfig, Time], LeaderEndPoint]


class ReplicaFetcherManager(AbstractFetcherManager[ReplicaFetcherThread]):
    """Starts and stops following leaders."""

    def __init__(
        self,
        config: ReplicaFetchConfig,
        num_fetchers: int,
        partition_of: Callable[[TopicPartition], Partition | None],
        log_manager: LogManager,
        *,
        registry: MetricsRegistry,
        time: Time,
        quota: ReplicaQuota,
        on_high_watermark: Callable[[TopicPartition], object] = lambda _partition: None,
        connect: Connect = RemoteLeaderEndPoint,
    ) -> None:
        super().__init__(
            f"ReplicaFetcherManager on broker {config.broker_id}",
            "Replica",
            num_fetchers,
            registry=registry,
            time=time,
            metric_group=("kafka.server", "ReplicaFetcherManager"),
        )
        self._config = config
        self._partition_of = partition_of
        self._log_manager = log_manager
        self._time = time
        self._connect = connect
        self._quota = quota
        self._on_high_watermark = on_high_watermark

    def create_fetcher_thread(self, fetcher_id: int, source_broker: BrokerEndPoint) -> ReplicaFetcherThread:
        """A thread that follows a leader, without starting it."""
        return ReplicaFetcherThread(
            f"ReplicaFetcherThread-{fetcher_id}-{source_broker.id}",
            source_broker,
            self._config,
            self._connect(source_broker, self._config, self._time),
            self._partition_of,
            self._log_manager,
            registry=self.registry,
            time=self._time,
            quota=self._quota,
            on_high_watermark=self._on_high_watermark,
        )

    def follow(
        self,
        partitions: Collection[Partition],
        leaders: Mapping[int, BrokerEndPoint],
        leaders_before: Mapping[TopicPartition, int],
    ) -> list[TopicPartition]:
        """Start fetching these partitions from their leaders; returns those whose leader is not among ``leaders``.

        Leaders of 0.10 cannot say where their logs and ours part. Then a new leader's followers keep what is committed
        as far as they know. They learn of it one fetch late, so a follower whose leader has not changed keeps all: it
        may be the only one that has, besides the leader, what a producer got acknowledged.
        """
        followed: list[Partition] = []
        waiting: list[TopicPartition] = []
        for partition in partitions:
            if partition.leader_id in leaders and partition.log is not None:
                followed.append(partition)
            else:
                waiting.append(partition.topic_partition)
                logger.error(
                    "Broker %d cannot follow %s: its leader %d is not alive",
                    *(self._config.broker_id, partition.topic_partition, partition.leader_id),
                )
        if not leader_epochs_are_known(self._config.protocol):
            self._truncate_to_high_watermarks(
                [p for p in followed if leaders_before.get(p.topic_partition) != p.leader_id]
            )
        positions = {
            partition.topic_partition: BrokerAndInitialOffset(leaders[partition.leader_id], log.log_end_offset)
            for partition in followed
            if (log := partition.log) is not None
        }
        if positions:
            self.add_fetcher_for_partitions(positions)
        return waiting

    def _truncate_to_high_watermarks(self, partitions: Collection[Partition]) -> None:
        replicas = [replica for partition in partitions if (replica := partition.get_replica()) is not None]
        self._log_manager.truncate_to({each.topic_partition: each.high_watermark.message_offset for each in replicas})

    def unfollow(self, partitions: Collection[TopicPartition]) -> None:
        """Stop fetching these partitions. Once this returns, nothing is appended to them any more."""
        if self.fetcher_thread_map and partitions:
            self.remove_fetcher_for_partitions(partitions)
