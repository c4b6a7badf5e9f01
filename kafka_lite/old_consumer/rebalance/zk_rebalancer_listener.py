"""Rebalances: releases all partitions, computes the assignment, claims its own partitions and fetches them.

Kafka 0.10.2: core/.../consumer/ZookeeperConsumerConnector.scala (ZKRebalancerListener) · book 3.2.1, 3.7.2
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.old_consumer.consumer_config import ConsumerConfig
from kafka_lite.old_consumer.consumer_connector import ConsumerRebalanceListener
from kafka_lite.old_consumer.consumer_fetcher_manager import ConsumerFetcherManager
from kafka_lite.old_consumer.consumer_offsets import ConsumerOffsets
from kafka_lite.old_consumer.consumer_stats import ConsumerStats
from kafka_lite.old_consumer.fetched_data_queue import FetchedDataQueue
from kafka_lite.old_consumer.kafka_stream import KafkaStream
from kafka_lite.old_consumer.partition_topic_info import FetchedDataChunk, PartitionTopicInfo, is_offset_invalid
from kafka_lite.old_consumer.rebalance.partition_assignor import Assignment, AssignmentContext, PartitionAssignor
from kafka_lite.old_consumer.topic_count import ConsumerThreadId, construct_topic_count
from kafka_lite.zookeeper.consumer_groups import ConsumerGroups
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

logger = logging.getLogger(__name__)

TopicRegistry = Mapping[str, Mapping[int, PartitionTopicInfo]]
"""The partitions that this consumer owns, by topic and number."""


class ConsumerRebalanceFailedError(KafkaError):
    """The group could not agree on its partitions within ``rebalance.max.retries``."""


class ZKRebalancerListener:
    """The partitions that a consumer owns, and how they change.

    When a member joins or leaves, or partitions are added, every member does the same, and none waits for another::

        0  read ids, subscriptions, partitions      all members eventually read the same
        1  stop the fetchers, empty the queues      nothing more is consumed,
           commit                                   so these are the final offsets of each partition
        2  delete own  owners/T/P                   other members may claim the partitions
        3  assign                                   all compute the same from what they read in 0
        4  fetch the offsets of own partitions      which their last owner has committed in 1
        5  create own  owners/T/P                   if one exists, its last owner has not reached 2 yet:
                                                    delete those created, wait, and start again with 0
        6  start the fetchers

    Watches only trigger an event (``rebalance_event_triggered``). The thread ``…_watcher_executor`` rebalances, once
    for all events that arrived in the meantime.
    """

    def __init__(
        self,
        config: ConsumerConfig,
        consumer_id: str,
        zk: KafkaZkClient,
        fetcher: ConsumerFetcherManager,
        offsets: ConsumerOffsets,
        stats: ConsumerStats,
        is_shutting_down: threading.Event,
    ) -> None:
        self._config = config
        self._group: str = config["group.id"]
        self._consumer_id = consumer_id
        self._zk = zk
        self._groups = ConsumerGroups(zk)
        self._fetcher = fetcher
        self._offsets = offsets
        self._stats = stats
        self._is_shutting_down = is_shutting_down
        self._assignor = PartitionAssignor.create_instance(config["partition.assignment.strategy"])
        self.rebalance_lock = threading.RLock()
        """Held during a rebalance and during the shutdown."""
        self.topic_registry: TopicRegistry = {}
        """Replaced as a whole, so that a commit in another thread sees either the old or the new state."""
        self.streams: dict[str, list[KafkaStream[Any, Any]]] = {}
        self.queues: dict[tuple[str, ConsumerThreadId], FetchedDataQueue[FetchedDataChunk]] = {}
        """The queue of a partition's messages, by topic and thread."""
        self.consumer_rebalance_listener: ConsumerRebalanceListener | None = None
        self._watcher_executor = WatcherExecutorThread(f"{consumer_id}_watcher_executor", self.synced_rebalance)
        client = {"clientId": config["client.id"]}
        self._tags = client | {"groupId": self._group}
        stats.connector.new_gauge("OwnedPartitionsCount", lambda: len(self.owned_partitions()), self._tags)
        stats.connector.new_gauges(
            {"OwnedPartitionsCount": lambda partitions: len(partitions)},
            lambda: [(self._tags | {"topic": topic}, infos) for topic, infos in self.topic_registry.items()],
        )

    # ── events ────────────────────────────────────────────────────────────────────────────────────────────────────

    def start(self) -> None:
        """Start to handle events. Further calls do nothing."""
        if self._watcher_executor.ident is None:
            self._watcher_executor.start()

    def initiate_shutdown(self) -> None:
        """Stop handling events."""
        self._watcher_executor.initiate_shutdown()

    def await_shutdown(self) -> None:
        """Wait until a rebalance in progress has stopped."""
        self._watcher_executor.await_shutdown()

    def rebalance_event_triggered(self) -> None:
        """Request a rebalance, because something has changed. Any thread may call it, watches included; never
        blocks."""
        self._watcher_executor.trigger()

    def execute(self, task: Callable[[], None]) -> None:
        """Run another task in the rebalancing thread. Never blocks."""
        self._watcher_executor.execute(task)

    def reset_state(self) -> None:
        """Forget all ownership, because the session has expired. Other members may own, and commit, the partitions by
        now."""
        for info in self.owned_partitions():
            info.revoke()
        self.topic_registry = {}

    def owned_partitions(self) -> list[PartitionTopicInfo]:
        """All partitions that this consumer owns."""
        return [info for infos in self.topic_registry.values() for info in infos.values()]

    # ── rebalancing ───────────────────────────────────────────────────────────────────────────────────────────────

    def synced_rebalance(self) -> None:
        """Rebalance, with retries. Raises ConsumerRebalanceFailedError, and then consumes nothing until the next event.

        Retries are normal: while one member rebalances, others may change what it reads, and the partitions that it
        claims may not be released yet.
        """
        with self.rebalance_lock, self._stats.rebalance_timer.time():
            for attempt in range(self._config["rebalance.max.retries"]):
                if self._is_shutting_down.is_set():
                    return
                logger.info("begin rebalancing consumer %s try #%d", self._consumer_id, attempt)
                done = self._try_rebalance()
                logger.info("end rebalancing consumer %s try #%d", self._consumer_id, attempt)
                if done:
                    return
                # Stop the fetchers, wherever the attempt failed, because their partitions may belong to another member.
                self._close_fetchers(self.queues.values())
                self._is_shutting_down.wait(self._config["rebalance.backoff.ms"] / 1000)
        if self._is_shutting_down.is_set():
            return
        retries = self._config["rebalance.max.retries"]
        raise ConsumerRebalanceFailedError(f"{self._consumer_id} can't rebalance after {retries} retries")

    def _try_rebalance(self) -> bool:
        """One attempt; false, after logging the error, if it raised."""
        try:
            return self._rebalance()
        except Exception as error:
            # A node may have been deleted between two reads. Other errors are caught, too: an error in the user's
            # listener must not leave the consumer without fetchers, and its partitions unread, until the next event.
            is_expected = isinstance(error, (KafkaError, OSError))
            logger.info("exception during rebalance: %s", error, exc_info=not is_expected)
            return False

    def _rebalance(self) -> bool:
        """One attempt; false if it must be repeated. Raises KafkaError in some of these cases."""
        context = self._read_assignment_context()
        if not self._zk.get_broker_ids():
            logger.warning("no brokers found when trying to rebalance")
            self._zk.watch_broker_ids(self.rebalance_event_triggered)
            return True
        self._close_fetchers(queue for (topic, _), queue in self.queues.items() if topic in context.my_topics)
        self._release_partition_ownership()
        assignment = self._assignor.assign(context)
        mine = self._with_streams(assignment[self._consumer_id])
        offsets = self._offsets.fetch_offsets(mine)
        if offsets is None or self._is_shutting_down.is_set():
            return False
        registry = self._new_registry(mine, offsets)
        if not self._reflect_partition_ownership_decision(mine):
            return False
        self.topic_registry = registry
        self._tell_before_starting_fetchers(assignment)
        self._update_fetcher()
        return True

    def _read_assignment_context(self) -> AssignmentContext:
        """Read everything that the assignment depends on. Raises KafkaError."""
        all_topics = self._zk.get_all_topics()
        exclude_internal = self._config["exclude.internal.topics"]
        topic_counts = [
            construct_topic_count(consumer, registration, lambda: all_topics, exclude_internal)
            for consumer, registration in self._groups.get_registrations(self._group).items()
        ]
        topics = {topic for each in topic_counts for topic in each.get_consumer_thread_ids_per_topic()}
        partitions = self._groups.get_partitions_for_topics(topics)
        return AssignmentContext.of(self._consumer_id, topic_counts, partitions)

    # ── 1: stop ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _close_fetchers(self, queues: Iterable[FetchedDataQueue[FetchedDataChunk]]) -> None:
        """Stop fetching, and make the streams return nothing more; then commit what they have returned.

        No other member can own these partitions yet. Their next owner reads these offsets and continues there.
        """
        self._fetcher.stop_connections()
        for info in self.owned_partitions():
            info.revoke()
        for queue in list(queues):
            queue.clear()
        for streams in self.streams.values():
            for stream in streams:
                stream.clear()
        logger.info("Cleared the data chunks in all the queues and consumer message iterators")
        if self._config["auto.commit.enable"]:
            self._offsets.commit_offsets(self.consumed_offsets(), retry_on_failure=False)

    def consumed_offsets(self) -> dict[TopicPartition, int]:
        """The consume offsets of owned partitions, without those that are not known yet."""
        return {
            info.topic_partition: info.consume_offset
            for info in self.owned_partitions()
            if not is_offset_invalid(info.consume_offset)
        }

    # ── 2: release ────────────────────────────────────────────────────────────────────────────────────────────────

    def _release_partition_ownership(self) -> None:
        """Call the user's listener, forget all ownership, and delete the owner znodes."""
        if self.consumer_rebalance_listener is not None:
            owned = {topic: set(infos) for topic, infos in self.topic_registry.items()}
            self.consumer_rebalance_listener.before_releasing_partitions(owned)
        released, self.topic_registry = self.owned_partitions(), {}
        for info in released:
            self._groups.release_owner(self._group, info.topic_partition, str(info.thread_id))
            logger.debug("Consumer %s releasing %s", self._consumer_id, info)

    # ── 4, 5, 6: own ──────────────────────────────────────────────────────────────────────────────────────────────

    def _with_streams(self, mine: Mapping[TopicPartition, ConsumerThreadId]) -> dict[TopicPartition, ConsumerThreadId]:
        """Drop partitions of a topic that was just created: a filter's streams get it with the next event."""
        return {p: thread_id for p, thread_id in mine.items() if (p.topic, thread_id) in self.queues}

    def _new_registry(
        self, mine: Mapping[TopicPartition, ConsumerThreadId], offsets: Mapping[TopicPartition, int]
    ) -> TopicRegistry:
        registry: dict[str, dict[int, PartitionTopicInfo]] = {}
        for partition, thread_id in mine.items():
            offset, queue = offsets[partition], self.queues[partition.topic, thread_id]
            info = PartitionTopicInfo(*partition, queue, offset, offset, self._stats.topics, thread_id)
            registry.setdefault(partition.topic, {})[partition.partition] = info
            self._offsets.remember(partition, offset)
        return registry

    def _reflect_partition_ownership_decision(self, mine: Mapping[TopicPartition, ConsumerThreadId]) -> bool:
        """Claim all partitions or none; false if another member still owns one of them."""
        owned: list[TopicPartition] = []
        for partition, thread_id in mine.items():
            if self._groups.create_owner(self._group, partition, str(thread_id)):
                logger.info("%s successfully owned partition %s", thread_id, partition)
                owned.append(partition)
            else:
                logger.info("waiting for the partition ownership to be deleted: %s", partition)
        if len(owned) == len(mine):
            return True
        for partition in owned:
            self._groups.release_owner(self._group, partition, str(mine[partition]))
        return False

    def _tell_before_starting_fetchers(self, assignment: Assignment) -> None:
        if self.consumer_rebalance_listener is None:
            return
        by_topic: dict[str, dict[int, ConsumerThreadId]] = {}
        for partitions in assignment.values():
            for partition, thread_id in partitions.items():
                by_topic.setdefault(partition.topic, {})[partition.partition] = thread_id
        self.consumer_rebalance_listener.before_starting_fetchers(self._consumer_id, by_topic)

    def _update_fetcher(self) -> None:
        infos = sorted(self.owned_partitions(), key=lambda info: info.topic_partition)
        logger.info("Consumer %s selected partitions: %s", self._consumer_id, ",".join(map(str, infos)))
        self._fetcher.start_connections(infos)


class WatcherExecutorThread(ShutdownableThread):
    """Rebalances when an event was triggered, once for all events that arrive during a rebalance."""

    def __init__(self, name: str, rebalance: Callable[[], None]) -> None:
        super().__init__(name)
        self._rebalance = rebalance
        self._cond = threading.Condition()
        self._tasks: list[Callable[[], None]] = []

    def trigger(self) -> None:
        """Request a rebalance."""
        with self._cond:
            if self._rebalance not in self._tasks:
                self._tasks.append(self._rebalance)
            self._cond.notify_all()

    def execute(self, task: Callable[[], None]) -> None:
        """Run another task, in order."""
        with self._cond:
            self._tasks.append(task)
            self._cond.notify_all()

    def do_work(self) -> None:
        """Wait for a task and run it. An error is logged, and the next task may succeed."""
        with self._cond:
            while not self._tasks and self.is_running:
                self._cond.wait()
            if not self.is_running:
                return
            task = self._tasks.pop(0)
        try:
            task()
        except Exception:
            logger.exception("error during synced rebalance")

    def wake_up(self) -> None:
        """End the wait."""
        with self._cond:
            self._cond.notify_all()
