"""Fetches many partitions from one broker, and lets others come and go without waiting for it.

uReplicator kafka-0.10.2.1: uReplicator-Worker/.../mirrormaker/CompactConsumerFetcherThread.scala · book 8.2.3
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Mapping

from kafka_lite.clients.abstract_fetcher_thread import PartitionFetchState
from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.ureplicator.worker.compact_fetcher_maps import AddedPartition, FetcherMaps, FetcherRound
from kafka_lite.old_consumer.consumer_config import ConsumerConfig
from kafka_lite.old_consumer.consumer_fetcher_thread import ConsumerFetcherThread
from kafka_lite.old_consumer.consumer_stats import ConsumerStats
from kafka_lite.old_consumer.partition_topic_info import PartitionTopicInfo, is_offset_invalid
from kafka_lite.old_consumer.simple.simple_fetch import FetchRequest, FetchResponsePartitionData

logger = logging.getLogger(__name__)


class CompactConsumerFetcherThread(ConsumerFetcherThread):
    """A ConsumerFetcherThread whose partitions change between two requests only::

        manager            add ─▶ added   remove ─▶ removed      a short lock, never held for a request or a full queue
                                    │                  │
        this thread        ─────────▼── next round ────▼── request ── response ── queue ──▶ next round ──▶ …

    ConsumerFetcherThread's own ``add_partitions`` waits until the response that it handles fits into the queue. All
    partitions of a worker share one queue, so that a slow target would delay every change.

    The records of a partition that was removed since its request are dropped: see ``PartitionTopicInfo.revoke``.
    """

    def __init__(
        self,
        name: str,
        config: ConsumerConfig,
        source_broker: BrokerEndPoint,
        owned: Mapping[TopicPartition, PartitionTopicInfo],
        add_partitions_with_error: Callable[[Collection[TopicPartition]], None],
        stats: ConsumerStats,
        time: Time = SYSTEM_TIME,
    ) -> None:
        """``owned`` are all partitions of the manager, which changes them; this thread has its own map."""
        super().__init__(name, config, source_broker, {}, add_partitions_with_error, stats, time)
        self._owned = owned
        self._maps = FetcherMaps()
        self._update_map_lock = threading.Lock()
        self._new_bytes = 0

    # ── called by the manager ─────────────────────────────────────────────────────────────────────────────────────

    def add_partitions(self, partitions_and_offsets: Mapping[TopicPartition, int]) -> None:
        """Fetch more partitions from the next round on. A negative offset is looked up then."""
        with self._update_map_lock:
            for partition, offset in partitions_and_offsets.items():
                self._maps.add(partition, AddedPartition(self._owned[partition], offset))

    def remove_partitions(self, partitions: Iterable[TopicPartition]) -> None:
        """Fetch these partitions in no further round."""
        with self._update_map_lock:
            self._maps.remove(partitions)

    @property
    def partition_count(self) -> int:
        """The number of partitions, as of the next round."""
        with self._update_map_lock:
            return self._maps.count(self._partition_map.keys())

    # ── the loop ──────────────────────────────────────────────────────────────────────────────────────────────────

    def do_work(self) -> None:
        """Apply the maps, then send one request."""
        self._begin_round()
        super().do_work()

    def _begin_round(self) -> None:
        with self._update_map_lock:
            changes = self._maps.begin_round(self._partition_map.keys())
        if changes.removed or changes.added:
            self.change_partitions(changes)

    def change_partitions(self, changes: FetcherRound) -> None:
        """Fetch what was added, and what was removed no more. Called between two requests, by this thread."""
        removed, added = changes
        # A new map, because wake_up may iterate over the old one in another thread.
        kept = {partition: info for partition, info in self._partition_map.items() if partition not in removed}
        self._partition_map = kept | {partition: each.info for partition, each in added.items()}
        super().remove_partitions(removed)
        self._start_to_fetch(added)

    def _start_to_fetch(self, added: Mapping[TopicPartition, AddedPartition]) -> None:
        failed = []
        for partition, (_, offset) in added.items():
            try:
                start = self.handle_offset_out_of_range(partition) if is_offset_invalid(offset) else offset
            except (KafkaError, OSError) as error:
                if self.is_running:
                    logger.warning("[%s] The first offset of %s is not known yet: %s", self.name, partition, error)
                failed.append(partition)
            else:
                with self._partition_map_cond:
                    states = dict(self._partition_states.items())
                    self._partition_states.set(states | {partition: PartitionFetchState(start)})
        if failed:
            self.handle_partitions_with_errors(failed)

    def _process_fetch_request(self, request: FetchRequest) -> None:
        """Pause after a round that brought too little: a broker may respond before ``fetch.wait.max.ms``."""
        self._new_bytes = 0
        super()._process_fetch_request(request)
        if self._new_bytes < self._config["fetch.min.bytes"]:
            self.pause(self._config["fetch.wait.max.ms"])

    def process_partition_data(
        self, partition: TopicPartition, fetch_offset: int, data: FetchResponsePartitionData
    ) -> None:
        """Pass the messages to the worker's queue, unless the partition has been removed meanwhile."""
        if self._partition_map[partition].is_revoked:
            return
        super().process_partition_data(partition, fetch_offset, data)
        self._new_bytes += data.records.valid_bytes
