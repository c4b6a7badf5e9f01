"""Manages a worker's fetchers, whose partitions come and go one by one.

uReplicator kafka-0.10.2.1: uReplicator-Worker/.../mirrormaker/CompactConsumerFetcherManager.scala · book 8.2.3
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable
from typing import ClassVar

from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.mirror.ureplicator.worker.compact_consumer_fetcher_thread import CompactConsumerFetcherThread
from kafka_lite.mirror.ureplicator.worker.compact_fetcher_maps import ManagerMaps
from kafka_lite.old_consumer.consumer_config import ConsumerConfig
from kafka_lite.old_consumer.consumer_fetcher_manager import ConsumerFetcherManager, LeaderFinderThread
from kafka_lite.old_consumer.consumer_stats import ConsumerStats
from kafka_lite.old_consumer.partition_topic_info import PartitionTopicInfo
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

logger = logging.getLogger(__name__)


class CompactConsumerFetcherManager(ConsumerFetcherManager):
    """A ConsumerFetcherManager that is started once, and then changed while it runs::

        add_topic_partition ──▶ added ────────────┐
        remove_topic_partition ─▶ removed ────────┤ LeaderFinderThread ─▶ CompactConsumerFetcherThread
        a fetcher's errors ───▶ with a new leader ┘   applies the maps     one per leader and fetcher number

    ConsumerFetcherManager stops all fetchers for every rebalance, and starts them for the new partitions. Here a
    change concerns nobody but its partition.
    """

    METRIC_GROUP: ClassVar = ("kafka.mirrormaker", "CompactConsumerFetcherManager")

    def __init__(
        self,
        consumer_id: str,
        config: ConsumerConfig,
        zk: KafkaZkClient,
        stats: ConsumerStats,
        time: Time = SYSTEM_TIME,
    ) -> None:
        super().__init__(consumer_id, config, zk, stats, time)
        self._use(ManagerMaps())
        metrics = KafkaMetricsGroup(stats.registry, time, *self.METRIC_GROUP)
        metrics.new_gauge("OwnedPartitionsCount", lambda: len(self._maps.owned), {"clientId": config["client.id"]})

    def _use(self, maps: ManagerMaps) -> None:
        self._maps = maps
        self._partition_map = maps.owned

    def create_fetcher_thread(self, fetcher_id: int, source_broker: BrokerEndPoint) -> CompactConsumerFetcherThread:
        """A fetcher for partitions that are added later."""
        return CompactConsumerFetcherThread(
            f"CompactConsumerFetcherThread-{self._consumer_id}-{fetcher_id}-{source_broker.id}",
            self._config,
            source_broker,
            self._maps.owned,
            self.add_partitions_with_error,
            self._stats,
            self._time,
        )

    # ── partitions ────────────────────────────────────────────────────────────────────────────────────────────────

    def start_connections(self, topic_infos: Iterable[PartitionTopicInfo] = ()) -> None:
        """Begin to fetch, with these partitions."""
        with self._cond:  # the leader finder must not look before the maps are in their place
            super().start_connections(())
            self._use(self._maps)
        for info in topic_infos:
            self.add_topic_partition(info)

    def stop_connections(self) -> None:
        """Stop fetching, and forget all partitions."""
        super().stop_connections()
        with self._cond:
            self._use(ManagerMaps())

    def add_topic_partition(self, info: PartitionTopicInfo) -> None:
        """Fetch a partition, from its fetch offset on, as soon as its leader is known. Thread-safe; does not wait."""
        logger.info("[%s] Adding topic-partition %s", self.name, info.topic_partition)
        with self._cond:
            self._maps.add(info)
            self._cond.notify_all()

    def remove_topic_partition(self, info: PartitionTopicInfo) -> None:
        """Stop fetching a partition. Thread-safe; does not wait.

        From now on its records are dropped, those of a request in flight and those in the queue, too.
        """
        logger.info("[%s] Removing topic-partition %s", self.name, info.topic_partition)
        info.revoke()
        with self._cond:
            self._maps.remove(info.topic_partition)
            self._cond.notify_all()

    def add_partitions_with_error(self, partitions: Collection[TopicPartition]) -> None:
        """Look up the leaders of partitions whose broker does not lead them or cannot be reached."""
        with self._cond:
            self._maps.failed(partitions)
            self._cond.notify_all()

    # ── called by the LeaderFinderThread ──────────────────────────────────────────────────────────────────────────

    def await_partitions_without_leader(self, finder: LeaderFinderThread) -> set[TopicPartition]:
        """Apply the maps, until there are partitions without a leader, or until the thread must end."""
        while finder.is_running:
            with self._cond:
                removed = self._maps.begin_round()
                if not (removed or self._maps.without_leader) and finder.is_running:
                    self._cond.wait()
                    continue
                without_leader = set(self._maps.without_leader)
            # Not under the lock: a fetcher that ends may wait for it.
            if removed:
                self.remove_fetcher_for_partitions(removed)
                self.shutdown_idle_fetcher_threads()
            if without_leader:
                return without_leader
        return set()

    def remove_from_partitions_without_leader(self, partitions: Collection[TopicPartition]) -> None:
        """Remove partitions whose leader was found."""
        with self._cond:
            self._maps.leaders_found(partitions)
