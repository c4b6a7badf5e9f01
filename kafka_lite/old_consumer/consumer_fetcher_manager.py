"""Manages a consumer's fetchers, and the thread that looks up their leaders.

Kafka 0.10.2: core/.../consumer/ConsumerFetcherManager.scala (LeaderFinderThread) · book 3.2.4, 3.3.1
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Iterable, Mapping
from typing import ClassVar

from kafka_lite.clients.abstract_fetcher_manager import AbstractFetcherManager, BrokerAndInitialOffset
from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.clients.fetcher_stats import NO_LAG
from kafka_lite.common.errors import KafkaError
from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.old_consumer.client_utils import fetch_topic_metadata, get_plaintext_broker_end_points
from kafka_lite.old_consumer.consumer_config import ConsumerConfig
from kafka_lite.old_consumer.consumer_fetcher_thread import ConsumerFetcherThread
from kafka_lite.old_consumer.consumer_stats import ConsumerStats
from kafka_lite.old_consumer.partition_topic_info import PartitionTopicInfo
from kafka_lite.protocol.messages.api_03_metadata import MetadataResponse
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

logger = logging.getLogger(__name__)


class ConsumerFetcherManager(AbstractFetcherManager[ConsumerFetcherThread]):
    """``start_connections`` and ``stop_connections`` are called in turn, once per rebalance.

    ::

        start_connections ─▶ partitions without a leader ─▶ LeaderFinderThread ─▶ fetcher of the leader
                                        ▲                                              │
                                        └──────────── partitions with an error ────────┘
    """

    METRIC_GROUP: ClassVar = ("kafka.consumer", "ConsumerFetcherManager")

    def __init__(
        self,
        consumer_id: str,
        config: ConsumerConfig,
        zk: KafkaZkClient,
        stats: ConsumerStats,
        time: Time = SYSTEM_TIME,
    ) -> None:
        super().__init__(
            f"ConsumerFetcherManager-{time.milliseconds()}",
            config["client.id"],
            config["num.consumer.fetchers"],
            registry=stats.registry,
            time=time,
            metric_group=self.METRIC_GROUP,
        )
        self._consumer_id = consumer_id
        self._config = config
        self._zk = zk
        self._stats = stats
        self._time = time
        self._partition_map: Mapping[TopicPartition, PartitionTopicInfo] = {}
        self._no_leader_partitions: set[TopicPartition] = set()
        self._cond = threading.Condition()
        self._leader_finder_thread: LeaderFinderThread | None = None

    def create_fetcher_thread(self, fetcher_id: int, source_broker: BrokerEndPoint) -> ConsumerFetcherThread:
        """A fetcher for the current partitions."""
        return ConsumerFetcherThread(
            f"ConsumerFetcherThread-{self._consumer_id}-{fetcher_id}-{source_broker.id}",
            self._config,
            source_broker,
            self._partition_map,
            self.add_partitions_with_error,
            self._stats,
            self._time,
        )

    def start_connections(self, topic_infos: Iterable[PartitionTopicInfo]) -> None:
        """Fetch these partitions, each from its leader, as soon as it is known."""
        with self._cond:
            self._partition_map = {info.topic_partition: info for info in topic_infos}
            self._no_leader_partitions = set(self._partition_map)
        self._leader_finder_thread = LeaderFinderThread(
            f"{self._consumer_id}-leader-finder-thread", self, self._config["refresh.leader.backoff.ms"]
        )
        self._leader_finder_thread.start()

    def stop_connections(self) -> None:
        """Stop fetching. Once this returns, nothing more is added to the queues."""
        logger.info("[%s] Stopping leader finder thread and all fetchers", self.name)
        finder, self._leader_finder_thread = self._leader_finder_thread, None
        if finder is not None:
            finder.initiate_shutdown()
        # The finder may wait for a fetcher's lock, and that fetcher for room in a queue that is not read.
        self.initiate_shutdown_of_all_fetchers()
        if finder is not None:
            finder.await_shutdown()
        self.close_all_fetchers()
        with self._cond:
            self._partition_map = {}
            self._no_leader_partitions.clear()

    def add_partitions_with_error(self, partitions: Collection[TopicPartition]) -> None:
        """Look up the leaders of partitions whose broker does not lead them or cannot be reached."""
        with self._cond:
            self._no_leader_partitions |= self._partition_map.keys() & set(partitions)
            self._cond.notify_all()

    def lag(self, partition: TopicPartition) -> int | None:
        """Records between the fetch offset and the end of the partition, as of the last fetch; None before it."""
        threads = list(self.fetcher_thread_map.values())
        return max((lag for each in threads if (lag := each.fetcher_lag_stats.lag(partition)) != NO_LAG), default=None)

    # ── called by the LeaderFinderThread ──────────────────────────────────────────────────────────────────────────

    def await_partitions_without_leader(self, finder: LeaderFinderThread) -> set[TopicPartition]:
        """Wait until there are partitions without a leader, or until the thread must end."""
        with self._cond:
            while not self._no_leader_partitions and finder.is_running:
                self._cond.wait()
            return set(self._no_leader_partitions)

    def wake_finder(self) -> None:
        """Make the thread check whether it must end."""
        with self._cond:
            self._cond.notify_all()

    def find_leaders(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, BrokerEndPoint]:
        """The leaders of those partitions that have one. Raises KafkaError if no broker responds."""
        brokers = get_plaintext_broker_end_points(self._zk)
        topics = {partition.topic for partition in partitions}
        client_id, timeout_ms = self._config["client.id"], self._config["socket.timeout.ms"]
        return leaders_of(partitions, fetch_topic_metadata(topics, brokers, client_id, timeout_ms))

    def add_fetchers(self, leaders: Mapping[TopicPartition, BrokerEndPoint]) -> None:
        """Start to fetch these partitions. Raises KafkaError, OSError, after which their leaders must be looked up
        again."""
        self.add_fetcher_for_partitions(
            {p: BrokerAndInitialOffset(leader, self._partition_map[p].fetch_offset) for p, leader in leaders.items()}
        )

    def remove_from_partitions_without_leader(self, partitions: Collection[TopicPartition]) -> None:
        """Remove partitions whose leader was found."""
        with self._cond:
            self._no_leader_partitions -= set(partitions)


class LeaderFinderThread(ShutdownableThread):
    """Looks up leaders of partitions without one, and starts their fetchers. Backs off between two rounds."""

    def __init__(self, name: str, manager: ConsumerFetcherManager, backoff_ms: float) -> None:
        super().__init__(name)
        self._manager = manager
        self._backoff_ms = backoff_ms

    def do_work(self) -> None:
        """One round: wait for partitions, look up their leaders, start fetchers."""
        manager = self._manager
        partitions = manager.await_partitions_without_leader(self)
        if not self.is_running:
            return
        leaders: Mapping[TopicPartition, BrokerEndPoint] = {}
        try:
            leaders = manager.find_leaders(partitions)
            # Remove them first, because a fetcher may fail and put partitions back before add_fetchers returns.
            manager.remove_from_partitions_without_leader(leaders)
            manager.add_fetchers(leaders)
        except (KafkaError, OSError) as error:
            if self.is_running:
                logger.warning("Failed to find or add leaders for %s, will retry: %s", _names(partitions), error)
            manager.add_partitions_with_error(leaders)
        manager.shutdown_idle_fetcher_threads()
        self.pause(self._backoff_ms)

    def wake_up(self) -> None:
        """End the wait for partitions."""
        self._manager.wake_finder()


def leaders_of(
    partitions: Collection[TopicPartition], metadata: MetadataResponse
) -> dict[TopicPartition, BrokerEndPoint]:
    """The leaders of these partitions in a metadata response."""
    brokers = {each.node_id: BrokerEndPoint(each.node_id, each.host, each.port) for each in metadata.brokers}
    return {
        TopicPartition(topic.name or "", each.partition_index): brokers[each.leader_id]
        for topic in metadata.topics
        for each in topic.partitions
        if TopicPartition(topic.name or "", each.partition_index) in partitions and each.leader_id in brokers
    }


def _names(partitions: Iterable[TopicPartition]) -> str:
    return ",".join(map(str, partitions))
