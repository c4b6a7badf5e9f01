"""The worker's consumer of the source cluster: no group, no rebalance; partitions are added and deleted at any time.

uReplicator kafka-0.10.2.1: uReplicator-Worker/.../mirrormaker/KafkaConnector.scala · book 8.2.3
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping

from kafka_lite.common.scheduler import KafkaScheduler
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.maker.mirror_maker_commits import MirrorMakerCommits
from kafka_lite.mirror.ureplicator.worker.compact_consumer_fetcher_manager import CompactConsumerFetcherManager
from kafka_lite.mirror.ureplicator.worker.record_in_hand import RecordInHand
from kafka_lite.old_consumer.consumer_config import ConsumerConfig
from kafka_lite.old_consumer.consumer_offsets import ConsumerOffsets
from kafka_lite.old_consumer.consumer_stats import ConsumerStats
from kafka_lite.old_consumer.decoder import DefaultDecoder
from kafka_lite.old_consumer.fetched_data_queue import FetchedDataQueue
from kafka_lite.old_consumer.kafka_stream import KafkaStream
from kafka_lite.old_consumer.partition_topic_info import FetchedDataChunk, PartitionTopicInfo, is_offset_invalid
from kafka_lite.old_consumer.topic_count import ConsumerThreadId
from kafka_lite.old_consumer.zookeeper_consumer_connector import make_consumer_uuid
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

logger = logging.getLogger(__name__)


class KafkaConnector:
    """Creates the parts of the worker's consumer, and connects them::

        add, delete ─▶ CompactConsumerFetcherManager ─▶ CompactConsumerFetcherThread (per broker)
             │                                                    │ chunks
             │ offset                                             ▼
             └──────▶ ConsumerOffsets ◀─ commit ─ stream ◀─ one FetchedDataQueue
                     /consumers/GROUP/offsets in the source's ZooKeeper

    The group exists in its offsets only: it has no ids and no owners. That a partition has one worker is Helix's
    business.
    """

    def __init__(self, config: ConsumerConfig, commits: MirrorMakerCommits, time: Time = SYSTEM_TIME) -> None:
        """Connect to the source's ZooKeeper. Raises ZkConnectionError, KafkaError for a bad metrics reporter."""
        self.config = config
        self.in_hand = RecordInHand()
        self.stats = ConsumerStats(config, time)
        self._commits = commits
        self._consumer_id = f"{config['group.id']}_{config['consumer.id'] or make_consumer_uuid(time)}"
        self._topic_registry: dict[TopicPartition, PartitionTopicInfo] = {}
        self._registry_lock = threading.Lock()
        self._is_shutting_down = threading.Event()
        self._queue: FetchedDataQueue[FetchedDataChunk] = FetchedDataQueue(config["queued.max.message.chunks"], time)
        self._zk = KafkaZkClient(
            config["zookeeper.connect"],
            config["zookeeper.session.timeout.ms"],
            config["zookeeper.connection.timeout.ms"],
            time,
        )
        self._zk.start()
        self._offsets = ConsumerOffsets(config, self._zk, self.stats, self._is_shutting_down)
        self._fetcher_manager = CompactConsumerFetcherManager(self._consumer_id, config, self._zk, self.stats, time)
        self._scheduler = KafkaScheduler(1, "kafka-connector-", time)
        self._scheduler.startup()
        self.stats.start(self._scheduler)
        self._fetcher_manager.start_connections()

    def get_stream(self) -> KafkaStream[bytes, bytes]:
        """The records of all partitions, for one thread."""
        timeout_ms, client_id = self.config["consumer.timeout.ms"], self.config["client.id"]
        return KafkaStream(self._queue, timeout_ms, DefaultDecoder(), DefaultDecoder(), client_id, self.stats.topics)

    # ── partitions ────────────────────────────────────────────────────────────────────────────────────────────────

    def add_topic_partition(self, partition: TopicPartition) -> None:
        """Copy a partition from its committed offset on. The others are not touched. Raises ZkError, ZnodeDataError."""
        with self._registry_lock:
            if partition in self._topic_registry:
                logger.info("[%s] %s is there already", self._consumer_id, partition)
                return
            found = self._offsets.fetch_offsets([partition])
            if found is None:
                return  # shutting down
            offset = found[partition]
            self._offsets.remember(partition, offset)
            info = PartitionTopicInfo(
                *(partition.topic, partition.partition, self._queue, offset, offset, self.stats.topics),
                ConsumerThreadId(self._consumer_id, 0),
            )
            self._topic_registry[partition] = info
        logger.info("[%s] Adding %s from offset %d", self._consumer_id, partition, offset)
        self._fetcher_manager.add_topic_partition(info)

    def delete_topic_partition(self, partition: TopicPartition) -> None:
        """Stop copying a partition; when this returns, the offset of all that was copied is committed.

        Waits until the producer has flushed, which may be as long as the target cluster is down. (uReplicator commits
        without a flush.) Raises ZkError.
        """
        with self._registry_lock:
            info = self._topic_registry.pop(partition, None)
        if info is None:
            logger.info("[%s] %s is not there", self._consumer_id, partition)
            return
        self._fetcher_manager.remove_topic_partition(info)
        offset = self.in_hand.give_up(info)
        self._commits.flush_and_commit(OffsetsToCommit(self._offsets, {partition: offset}))
        logger.info("[%s] Deleted %s at offset %d", self._consumer_id, partition, offset)

    # ── offsets ───────────────────────────────────────────────────────────────────────────────────────────────────

    def commit_offsets(self) -> None:
        """Commit the offsets of all partitions that have changed. The worker's thread calls this after a flush.

        The lock keeps an older offset from being written after that of ``delete_topic_partition``.
        """
        with self._registry_lock:
            offsets = {partition: info.consume_offset for partition, info in self._topic_registry.items()}
            OffsetsToCommit(self._offsets, offsets).commit()

    def progress(self) -> dict[TopicPartition, tuple[int, int | None]]:
        """Of each partition the consume offset, and the end of its log as of the last fetch; None before it."""
        found: dict[TopicPartition, tuple[int, int | None]] = {}
        for partition, info in list(self._topic_registry.items()):
            lag = self._fetcher_manager.lag(partition)
            if not is_offset_invalid(info.consume_offset):
                found[partition] = info.consume_offset, None if lag is None else info.fetch_offset + lag
        return found

    # ── shutdown ──────────────────────────────────────────────────────────────────────────────────────────────────

    def end_stream(self) -> None:
        """End the stream, which its thread may be waiting at. What is in the queue is not copied."""
        self._queue.shut_down()
        # Without a connection to ZooKeeper, a commit that waits for one must not block the shutdown.
        self._zk.close_if_disconnected()

    def shutdown(self) -> None:
        """Stop the fetchers and close the connection to ZooKeeper, without a commit."""
        if self._is_shutting_down.is_set():
            return
        self._is_shutting_down.set()
        self._scheduler.shutdown()
        self._fetcher_manager.stop_connections()
        self._offsets.disconnect()
        self._zk.close()
        self.stats.close()


class OffsetsToCommit:
    """Offsets, as MirrorMakerCommits commits them."""

    def __init__(self, offsets: ConsumerOffsets, to_commit: Mapping[TopicPartition, int]) -> None:
        self._offsets = offsets
        self._to_commit = {each: offset for each, offset in to_commit.items() if not is_offset_invalid(offset)}

    def commit(self) -> None:
        """Write those that have changed. A partition that never had an offset gets none. (uReplicator writes -1.)"""
        self._offsets.commit_offsets(self._to_commit, retry_on_failure=True)

    def forget_missing_topics(self) -> None:
        """No-op: a commit to ZooKeeper does not ask whether the topic exists."""
