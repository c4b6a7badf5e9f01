"""The high-level consumer: a member of a group that is coordinated through ZooKeeper.

Kafka 0.10.2: core/.../consumer/ZookeeperConsumerConnector.scala, ConsumerConnector.scala (object Consumer)
· book 3.1.1, 3.7.1
"""

from __future__ import annotations

import logging
import socket
import threading
import uuid
from collections.abc import Mapping
from functools import partial
from typing import Any

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.scheduler import KafkaScheduler
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.old_consumer.consumer_config import ConsumerConfig
from kafka_lite.old_consumer.consumer_connector import ConsumerConnector, ConsumerRebalanceListener
from kafka_lite.old_consumer.consumer_fetcher_manager import ConsumerFetcherManager
from kafka_lite.old_consumer.consumer_offsets import ConsumerOffsets
from kafka_lite.old_consumer.consumer_stats import ConsumerStats
from kafka_lite.old_consumer.decoder import Decoder, DefaultDecoder
from kafka_lite.old_consumer.fetched_data_queue import FetchedDataQueue
from kafka_lite.old_consumer.kafka_stream import KafkaStream
from kafka_lite.old_consumer.partition_topic_info import FetchedDataChunk, is_offset_invalid
from kafka_lite.old_consumer.rebalance.zk_listeners import ZKSessionExpireListener, ZKTopicPartitionChangeListener
from kafka_lite.old_consumer.rebalance.zk_rebalancer_listener import ZKRebalancerListener
from kafka_lite.old_consumer.rebalance.zookeeper_topic_event_watcher import (
    WildcardStreamsHandler,
    ZookeeperTopicEventWatcher,
)
from kafka_lite.old_consumer.topic_count import ConsumerThreadId, StaticTopicCount, TopicCount, WildcardTopicCount
from kafka_lite.old_consumer.topic_filter import TopicFilter
from kafka_lite.zookeeper.consumer_groups import ConsumerGroups
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

logger = logging.getLogger(__name__)

QueueAndStream = tuple[FetchedDataQueue[FetchedDataChunk], KafkaStream[Any, Any]]


class MessageStreamsExistError(KafkaError):
    """A connector creates its streams only once, and some settings must be made before."""


class ZookeeperConsumerConnector(ConsumerConnector):
    """Creates the parts of a consumer and connects them.

    ::

        ZooKeeper ─ watches ─▶ ZKRebalancerListener ─ start, stop ─▶ ConsumerFetcherManager
                                    (one thread)                       │          │
                                                          LeaderFinderThread   ConsumerFetcherThread (one per broker)
                                                                                  │ chunks
            scheduler ─ commit ─▶ ConsumerOffsets              KafkaStream ◀─ FetchedDataQueue (one per stream)
                                                             (a thread of the user's)
    """

    def __init__(self, config: ConsumerConfig, time: Time = SYSTEM_TIME) -> None:
        """Connect to ZooKeeper and, if offsets are stored in Kafka, to the coordinator, which may block until there is
        one.

        Raises ZkConnectionError if ZooKeeper does not respond, KafkaError for a reporter that cannot be created.
        """
        self.config = config
        self._time = time
        self._group: str = config["group.id"]
        self.consumer_id = f"{self._group}_{config['consumer.id'] or make_consumer_uuid(time)}"
        self.stats = ConsumerStats(config, time)
        """The metrics. ``stats.beans()`` returns them under the names of Kafka's beans."""
        self._is_shutting_down = threading.Event()
        self._shutdown_lock = threading.Lock()
        self._message_streams_created = False
        self._zk = KafkaZkClient(
            config["zookeeper.connect"],
            config["zookeeper.session.timeout.ms"],
            config["zookeeper.connection.timeout.ms"],
            time,
        )
        self._groups = ConsumerGroups(self._zk)
        self._scheduler = KafkaScheduler(1, "kafka-consumer-scheduler-", time)
        self._wildcard_topic_watcher: ZookeeperTopicEventWatcher | None = None
        logger.info("[%s] Connecting to zookeeper instance at %s", self.consumer_id, config["zookeeper.connect"])
        self._zk.start()
        self._fetcher = ConsumerFetcherManager(self.consumer_id, config, self._zk, self.stats, time)
        self._offsets = ConsumerOffsets(config, self._zk, self.stats, self._is_shutting_down)
        self.load_balancer_listener = ZKRebalancerListener(
            *(config, self.consumer_id, self._zk, self._fetcher, self._offsets, self.stats, self._is_shutting_down)
        )
        self._offsets.ensure_offset_manager_connected()
        self._start_scheduler()

    def _start_scheduler(self) -> None:
        self._scheduler.startup()
        self.stats.start(self._scheduler)
        if self.config["auto.commit.enable"]:
            interval_ms = self.config["auto.commit.interval.ms"]
            logger.info("[%s] starting auto committer every %d ms", self.consumer_id, interval_ms)
            self._scheduler.schedule("kafka-consumer-autocommit", self.auto_commit, interval_ms, interval_ms)

    # ── streams ───────────────────────────────────────────────────────────────────────────────────────────────────

    def create_message_streams(
        self,
        topic_count_map: Mapping[str, int],
        key_decoder: Decoder[Any] | None = None,
        value_decoder: Decoder[Any] | None = None,
    ) -> dict[str, list[KafkaStream[Any, Any]]]:
        """Create the given number of streams for each topic, each with its own queue."""
        topic_count = StaticTopicCount(self.consumer_id, topic_count_map)
        self._streams_are_created_now()
        streams: dict[str, list[QueueAndStream]] = {
            topic: [self._queue_and_stream(key_decoder, value_decoder) for _ in range(count)]
            for topic, count in topic_count_map.items()
        }
        self._register_and_reinitialize(topic_count, streams)
        return {topic: [stream for _, stream in pairs] for topic, pairs in streams.items()}

    def create_message_streams_by_filter(
        self,
        topic_filter: TopicFilter,
        num_streams: int = 1,
        key_decoder: Decoder[Any] | None = None,
        value_decoder: Decoder[Any] | None = None,
    ) -> list[KafkaStream[Any, Any]]:
        """Create streams and queues that all topics share: thread 0 of every topic fills the first queue, and so on."""
        topic_count = WildcardTopicCount(
            *(self.consumer_id, topic_filter, num_streams, self._zk.get_all_topics),
            exclude_internal_topics=self.config["exclude.internal.topics"],
        )
        self._streams_are_created_now()
        shared = [self._queue_and_stream(key_decoder, value_decoder) for _ in range(num_streams)]

        def reinitialize() -> None:
            self._reinitialize_consumer(topic_count, dict.fromkeys(topic_count.topics(), shared))

        handler = WildcardStreamsHandler(topic_count, reinitialize)
        self._register_and_reinitialize(topic_count, dict.fromkeys(topic_count.topics(), shared))
        logger.info("[%s] Creating topic event watcher for topics %s", self.consumer_id, topic_filter)
        self._wildcard_topic_watcher = ZookeeperTopicEventWatcher(
            self._zk, handler, self.load_balancer_listener.execute
        )
        return [stream for _, stream in shared]

    def set_consumer_rebalance_listener(self, listener: ConsumerRebalanceListener) -> None:
        """Set the listener, before streams are created and so before the first rebalance."""
        if self._message_streams_created:
            raise MessageStreamsExistError("a consumer rebalance listener can only be set before creating streams")
        self.load_balancer_listener.consumer_rebalance_listener = listener

    def _streams_are_created_now(self) -> None:
        if self._message_streams_created:
            raise MessageStreamsExistError("a connector can create message streams at most once")
        self._message_streams_created = True

    def _queue_and_stream(self, key_decoder: Decoder[Any] | None, value_decoder: Decoder[Any] | None) -> QueueAndStream:
        queue: FetchedDataQueue[FetchedDataChunk] = FetchedDataQueue(
            self.config["queued.max.message.chunks"], self._time
        )
        stream: KafkaStream[Any, Any] = KafkaStream(
            queue,
            self.config["consumer.timeout.ms"],
            key_decoder or DefaultDecoder(),
            value_decoder or DefaultDecoder(),
            self.config["client.id"],
            self.stats.topics,
        )
        return queue, stream

    # ── joining ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _register_and_reinitialize(self, topic_count: TopicCount, streams: Mapping[str, list[QueueAndStream]]) -> None:
        """Register in the group, set watches, and rebalance for the first time."""
        register = partial(self._register_consumer, topic_count)
        register()
        listener = ZKSessionExpireListener(self.consumer_id, register, self.load_balancer_listener)
        self._zk.add_session_listener(listener.handle_new_session)
        self._groups.watch_consumers(self._group, self.load_balancer_listener.rebalance_event_triggered)
        self.load_balancer_listener.start()
        self._reinitialize_consumer(topic_count, streams)

    def _register_consumer(self, topic_count: TopicCount) -> None:
        logger.info("[%s] registering consumer in ZK", self.consumer_id)
        registration = topic_count.registration(self._time.milliseconds())
        self._groups.register_consumer(self._group, self.consumer_id, registration)

    def _reinitialize_consumer(self, topic_count: TopicCount, streams: Mapping[str, list[QueueAndStream]]) -> None:
        """Connect the threads of each topic to queues, watch the topics, and rebalance.

        With a filter, this is repeated whenever its topics change.
        """
        listener = self.load_balancer_listener
        with listener.rebalance_lock:
            for topic in listener.streams.keys() - streams.keys():
                self._zk.unwatch_topic(topic)
            listener.streams = {topic: [stream for _, stream in pairs] for topic, pairs in streams.items()}
            listener.queues = {
                (topic, ConsumerThreadId(topic_count.consumer_id, number)): queue
                for topic, pairs in streams.items()
                for number, (queue, _) in enumerate(pairs)
            }
            self._add_queue_gauges()
            changes = ZKTopicPartitionChangeListener(listener)
            for topic in streams:
                self._zk.watch_topic(topic, partial(changes.handle_data_change, topic))
            listener.synced_rebalance()

    def _add_queue_gauges(self) -> None:
        for (topic, thread_id), queue in self.load_balancer_listener.queues.items():
            tags = {"clientId": self.config["client.id"], "topic": topic, "threadId": str(thread_id.thread_id)}
            self.stats.connector.new_gauge("FetchQueueSize", partial(len, queue), tags)

    # ── offsets ───────────────────────────────────────────────────────────────────────────────────────────────────

    def commit_offsets(
        self, offsets: Mapping[TopicPartition, int] | None = None, retry_on_failure: bool = True
    ) -> bool:
        """Commit these offsets, by default those of all owned partitions; false if that failed."""
        if offsets is None:
            offsets = self.load_balancer_listener.consumed_offsets()
        return self._offsets.commit_offsets(offsets, retry_on_failure)

    def progress(self) -> dict[TopicPartition, tuple[int, int | None]]:
        """Of each owned partition the consume offset, and the end of its log as of the last fetch; None before it."""
        found: dict[TopicPartition, tuple[int, int | None]] = {}
        for info in self.load_balancer_listener.owned_partitions():
            lag = self._fetcher.lag(info.topic_partition)
            if not is_offset_invalid(info.consume_offset):
                found[info.topic_partition] = info.consume_offset, None if lag is None else info.fetch_offset + lag
        return found

    def auto_commit(self) -> None:
        """Commit periodically. A failure is logged, and the next interval retries."""
        try:
            self.commit_offsets(retry_on_failure=False)
        except KafkaError:
            logger.exception("[%s] exception during autoCommit", self.consumer_id)

    # ── shutdown ──────────────────────────────────────────────────────────────────────────────────────────────────

    def shutdown(self) -> None:
        """Leave the group, so that the other members notice at once and continue at this consumer's offsets."""
        with self._shutdown_lock:
            if self._is_shutting_down.is_set():
                return
            self._is_shutting_down.set()
        logger.info("[%s] ZKConsumerConnector shutting down", self.consumer_id)
        # Without a connection to ZooKeeper, threads that wait for one must not block this shutdown.
        self._zk.close_if_disconnected()
        listener = self.load_balancer_listener
        listener.initiate_shutdown()
        if self._wildcard_topic_watcher is not None:
            self._wildcard_topic_watcher.shutdown()
        with listener.rebalance_lock:
            self._scheduler.shutdown()
            self._fetcher.stop_connections()
            for queue in listener.queues.values():
                queue.shut_down()
            self._commit_at_the_end()
            self._offsets.disconnect()
        # Not under the lock, because a callback that ZooKeeper's client waits for may need the lock.
        self._zk.close()
        listener.await_shutdown()
        self.stats.close()
        logger.info("[%s] ZKConsumerConnector shutdown completed", self.consumer_id)

    def _commit_at_the_end(self) -> None:
        if self.config["auto.commit.enable"]:
            try:
                self.commit_offsets(retry_on_failure=True)
            except KafkaError as error:
                logger.error("[%s] error during consumer connector shutdown: %s", self.consumer_id, error)


def make_consumer_uuid(time: Time) -> str:
    """``host-millis-8 hex digits``: the default suffix of a member's id."""
    return f"{socket.gethostname()}-{time.milliseconds()}-{uuid.uuid4().hex[:8]}"


class Consumer:
    """Creates connectors."""

    @staticmethod
    def create(config: ConsumerConfig | Mapping[str, object], time: Time = SYSTEM_TIME) -> ConsumerConnector:
        """A connector; ``group.id`` and ``zookeeper.connect`` are required. Raises ConfigError, ZkConnectionError."""
        checked = config if isinstance(config, ConsumerConfig) else ConsumerConfig(config)
        return ZookeeperConsumerConnector(checked, time)
