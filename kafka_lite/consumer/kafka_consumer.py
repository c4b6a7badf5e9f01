"""The new consumer: reads topics, alone or as a member of a group that shares their partitions.

Kafka 0.10.2: clients/.../consumer/KafkaConsumer.java · book 4.1.2, 4.1.3, 4.4.4, 1.3.2
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from types import TracebackType
from typing import Any, Self

from kafka_lite.clients.cluster import PartitionInfo
from kafka_lite.common.serialization import Deserializer
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import consumer_arguments
from kafka_lite.consumer.consumer_config import ConsumerConfig
from kafka_lite.consumer.consumer_errors import (
    ConsumerTimeoutError,
    IllegalConsumerStateError,
    InvalidGroupIdError,
    NoOffsetForPartitionError,
)
from kafka_lite.consumer.consumer_group_metadata import ConsumerGroupMetadata
from kafka_lite.consumer.consumer_parts import ConsumerParts
from kafka_lite.consumer.consumer_rebalance_listener import NO_LISTENER, ConsumerRebalanceListener
from kafka_lite.consumer.consumer_record import EMPTY_RECORDS, ConsumerRecord, ConsumerRecords
from kafka_lite.consumer.group.committing_member import CommittingMember
from kafka_lite.consumer.group.consumer_rebalance_listener_invoker import raise_first
from kafka_lite.consumer.offset_and_metadata import (
    OffsetAndMetadata,
    OffsetAndTimestamp,
    OffsetCommitCallback,
    OffsetResetStrategy,
)
from kafka_lite.consumer.single_thread_guard import SingleThreadGuard
from kafka_lite.consumer.subscription_pattern import SubscriptionPattern
from kafka_lite.consumer.timer import Timer
from kafka_lite.metrics.metric import AttributeValue
from kafka_lite.metrics.metric_name import MetricName
from kafka_lite.metrics.sensor import KafkaMetric, KafkaMetricName

logger = logging.getLogger(__name__)

DEFAULT_CLOSE_TIMEOUT_MS = 30_000.0


class KafkaConsumer:
    """Reads records from Kafka. *Not* thread-safe: only ``wakeup`` may be called from another thread.

    ::

        with KafkaConsumer({"bootstrap.servers": "localhost:9092", "group.id": "readers"}) as consumer:
            consumer.subscribe(["events"])
            while True:
                for record in consumer.poll(1000):
                    print(record.offset, record.value)

    What a poll does, in the user's thread (the only other thread sends heartbeats)::

        CommittingMember.poll        find the coordinator · join the group · commit what is due
        update_fetch_positions       committed offset, or else auto.offset.reset
        Fetcher.fetched_records      are records buffered? they are returned at once, after
        Fetcher.send_fetches         requesting more, which arrive while the user processes these
        ConsumerNetworkClient.poll   nothing is buffered: wait for the network

    The configuration keys and their defaults are in :mod:`kafka_lite.consumer.consumer_config`.
    """

    def __init__(
        self,
        configs: Mapping[str, object],
        key_deserializer: Deserializer[Any] | None = None,
        value_deserializer: Deserializer[Any] | None = None,
        *,
        time: Time = SYSTEM_TIME,
    ) -> None:
        """Raises ConfigError. Does not connect yet."""
        self.config = config = ConsumerConfig(configs)
        self._time = time
        self._parts = parts = ConsumerParts(config, key_deserializer, value_deserializer, time)
        self._subscriptions = parts.subscriptions
        self._metadata = parts.metadata
        self._client = parts.client
        self._coordinator = parts.coordinator
        self._fetcher = parts.fetcher
        self._offset_fetcher = parts.offset_fetcher
        self._api_timeout_ms = float(config["default.api.timeout.ms"])
        self._retry_backoff_ms = float(config["retry.backoff.ms"])
        self._fetched_assignment = self._subscriptions.assignment_id
        self._guard = SingleThreadGuard()
        self._closing = self._closed = False
        logger.debug("Kafka consumer %s created", config["client.id"])

    # ── subscribing ───────────────────────────────────────────────────────────────────────────────────────────────

    def subscribe(
        self,
        topics: Iterable[str] | re.Pattern[str] | SubscriptionPattern,
        listener: ConsumerRebalanceListener = NO_LISTENER,
    ) -> None:
        """Read these topics, or those whose whole names match a pattern, sharing partitions with the group. The broker
        resolves a SubscriptionPattern, and this consumer a pattern of ``re``.

        Replaces an earlier subscription; an empty one is the same as ``unsubscribe``. Raises IllegalConsumerStateError
        after ``assign``, InvalidGroupIdError without a group, and TypeError, ValueError or ApiError
        INVALID_TOPIC_EXCEPTION for invalid arguments.
        """
        with self._open():
            if self._coordinator is None:
                raise InvalidGroupIdError
            listener = consumer_arguments.rebalance_listener(listener)
            if isinstance(topics, re.Pattern):
                pattern = consumer_arguments.topic_pattern(topics)
                self._subscribe_pattern(pattern, listener, self._coordinator)
                return
            if isinstance(topics, SubscriptionPattern):
                self._subscribe_re2(topics, listener, self._coordinator)
                return
            names = consumer_arguments.topic_names(topics)
            if not names:
                self.unsubscribe()
                return
            self._fetcher.on_assignment(_of_topics(self._subscriptions.assigned_partitions, names))
            if self._subscriptions.subscribe(names, listener):
                logger.info("Subscribed to topic(s): %s", ", ".join(sorted(names)))
                self._coordinator.on_subscription_changed()
            self._metadata.set_topics(self._subscriptions.metadata_topics)

    def _subscribe_pattern(
        self, pattern: re.Pattern[str], listener: ConsumerRebalanceListener, coordinator: CommittingMember
    ) -> None:
        logger.info("Subscribed to pattern: '%s'", pattern.pattern)
        self._subscriptions.subscribe_pattern(pattern, listener)
        self._metadata.set_need_metadata_for_all_topics(True)
        coordinator.on_subscription_changed()
        self._metadata.request_update()

    def _subscribe_re2(
        self, pattern: SubscriptionPattern, listener: ConsumerRebalanceListener, coordinator: CommittingMember
    ) -> None:
        consumer_arguments.ensure_subscription_pattern(pattern, self.config["group.protocol"])
        logger.info("Subscribed to RE2 pattern: '%s'", pattern.pattern)
        self._subscriptions.subscribe_re2(pattern, listener)
        self._metadata.set_topics(())
        coordinator.on_subscription_changed()

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        """Read these partitions, without a group. Replaces an earlier assignment; no partitions: same as
        ``unsubscribe``.

        Raises IllegalConsumerStateError after ``subscribe``.
        """
        with self._open():
            wanted = consumer_arguments.topic_partitions(partitions, "assign")
            if not wanted:
                self.unsubscribe()
                return
            self._fetcher.on_assignment(frozenset(wanted))
            if self._coordinator is not None:  # do not lose the positions of partitions that are dropped
                self._coordinator.maybe_auto_commit_offsets_async(self._time.hi_res_ms())
            if self._subscriptions.assign_from_user(wanted):
                logger.info("Assigned to partition(s): %s", ", ".join(str(each) for each in wanted))
                self._metadata.set_topics(self._subscriptions.metadata_topics)

    def unsubscribe(self) -> None:
        """Read nothing, and leave the group.

        An error in the listener is raised only at the end, or the group would keep a member that reads nothing. A
        wakeup in the listener leaves everything as it was.
        """
        with self._open():
            self._fetcher.on_assignment(frozenset())
            failure = None
            if self._coordinator is not None:
                failure = self._coordinator.on_leave_prepare()
                self._coordinator.maybe_leave_group("the consumer unsubscribed from all topics")
            self._subscriptions.unsubscribe()
            self._metadata.set_need_metadata_for_all_topics(False)
            self._metadata.set_topics(())
            raise_first([failure])

    @property
    def assignment(self) -> frozenset[TopicPartition]:
        """The assigned partitions."""
        with self._open():
            return self._subscriptions.assigned_partitions

    @property
    def subscription(self) -> frozenset[str]:
        """The subscribed topics."""
        with self._open():
            return self._subscriptions.subscription

    # ── Poll ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def poll(self, timeout_ms: float = 0) -> ConsumerRecords:
        """The next records, up to ``max.poll.records``. Waits up to ``timeout_ms`` for the first one.

        Must be called at least every ``max.poll.interval.ms``: poll also keeps the consumer in its group, commits, and
        calls listeners. Raises WakeupError, IllegalConsumerStateError without a subscription or assignment, and errors
        of partitions or the group: NoOffsetForPartitionError, OffsetOutOfRangeError, RecordTooLargeError,
        RecordDeserializationError, ApiError.
        """
        with self._open():
            timer = Timer(self._time, consumer_arguments.timeout(timeout_ms))
            if self._subscriptions.has_no_subscription_or_user_assignment:
                raise IllegalConsumerStateError("Consumer is not subscribed to any topics or assigned any partitions")
            self._parts.metrics.poll_started(timer.now_ms)
            try:
                return self._poll(timer)
            finally:
                self._parts.metrics.poll_ended(timer.now_ms)

    def _poll(self, timer: Timer) -> ConsumerRecords:
        while True:
            self._client.maybe_trigger_wakeup()
            records = self._poll_once(timer)
            if records:
                self._send_ahead()
                return self._parts.interceptors.on_consume(ConsumerRecords(records))
            if timer.is_expired:
                return EMPTY_RECORDS

    def _poll_once(self, timer: Timer) -> dict[TopicPartition, list[ConsumerRecord]]:
        if self._coordinator is not None and not self._coordinator.poll(timer) and not self._reads_on:
            return {}
        if self._fetched_assignment != self._subscriptions.assignment_id:
            self._fetched_assignment = self._subscriptions.assignment_id
            self._fetcher.on_assignment(self._subscriptions.assigned_partitions)
        # A cooperative member does not wait, because it has other partitions to read.
        if not self._update_fetch_positions(timer.part(0) if self._reads_on else timer) and not self._reads_on:
            return {}
        return self._poll_for_fetches(timer)

    @property
    def _reads_on(self) -> bool:
        return self._coordinator is not None and self._coordinator.reads_on

    def _send_ahead(self) -> None:
        """Send the next fetches, so that they travel while the user processes these records. Must not raise."""
        if self._fetcher.send_fetches() > 0 or self._client.pending_request_count() > 0:
            self._client.poll_no_wakeup()

    def _poll_for_fetches(self, timer: Timer) -> dict[TopicPartition, list[ConsumerRecord]]:
        records = self._fetcher.fetched_records()
        if records:
            return records
        self._fetcher.send_fetches()
        timeout_ms = timer.remaining_ms
        if self._coordinator is not None:
            timeout_ms = min(timeout_ms, self._coordinator.time_to_next_poll(timer.now_ms))
        if not self._subscriptions.has_all_fetch_positions():
            timeout_ms = min(timeout_ms, self._retry_backoff_ms)
        self._client.poll(timer.part(timeout_ms), lambda: not self._fetcher.has_available_fetches())
        timer.update()
        if self._coordinator is not None and self._coordinator.rejoin_needed_or_pending() and not self._reads_on:
            return {}  # a partition that is about to move to another member must not return records
        return self._fetcher.fetched_records()

    def _update_fetch_positions(self, timer: Timer) -> bool:
        """Find positions for partitions without one; false if that takes longer than the timer."""
        if self._subscriptions.has_all_fetch_positions():
            return True
        if self._coordinator is not None and not self._coordinator.refresh_committed_offsets_if_needed(timer):
            return False
        missing = self._subscriptions.initializing_partitions()
        if missing and self._subscriptions.default_reset_strategy is OffsetResetStrategy.NONE:
            raise NoOffsetForPartitionError(missing)
        for partition in missing:
            self._subscriptions.need_offset_reset(partition)
        self._offset_fetcher.reset_positions_if_needed()
        return True

    def enforce_rebalance(self, reason: str = "enforce_rebalance was called") -> None:
        """Make the group rebalance, starting with this member's next poll."""
        with self._open():
            self._group().request_rejoin(reason)

    def wakeup(self) -> None:
        """Make the call in progress, or the next one that blocks, raise WakeupError. Thread-safe."""
        self._client.wakeup()

    # ── Commits ───────────────────────────────────────────────────────────────────────────────────────────────────

    def commit_sync(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata] | None = None, timeout_ms: float | None = None
    ) -> None:
        """Commit and wait for success. Without ``offsets``, commit the positions, that is, all records that poll
        returned.

        Raises CommitFailedError if the partitions may belong to other members by now, ConsumerTimeoutError,
        WakeupError, ApiError.
        """
        with self._open():
            coordinator, wanted, timer = self._group(), self._offsets_to_commit(offsets), self._timer(timeout_ms)
            began_ms = timer.now_ms
            try:
                if not coordinator.commit_offsets_sync(wanted, timer):
                    why = self._client.why_timed_out()
                    raise ConsumerTimeoutError(f"Timeout expired before successfully committing offsets {wanted}.{why}")
            finally:
                self._parts.metrics.waited_for_commit(began_ms)

    def commit_async(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata] | None = None,
        callback: OffsetCommitCallback | None = None,
    ) -> None:
        """Start a commit. The callback is called from within a later poll, commit or close, in the order of the
        commits.

        A failed commit is not retried, because it might undo a later one that has succeeded.
        """
        with self._open():
            consumer_arguments.callback_of_commit(callback)
            self._group().commit_offsets_async(self._offsets_to_commit(offsets), callback)

    def _offsets_to_commit(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata] | None
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        return self._subscriptions.all_consumed() if offsets is None else consumer_arguments.offsets_to_commit(offsets)

    def committed(
        self, partitions: Iterable[TopicPartition], timeout_ms: float | None = None
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        """The group's committed offset of each partition, whichever member committed it; None where there is none.

        Raises ConsumerTimeoutError, ApiError.
        """
        with self._open():
            wanted = set(consumer_arguments.topic_partitions(partitions, "committed"))
            timer = self._timer(timeout_ms)
            began_ms = timer.now_ms
            try:
                found = self._group().fetch_committed_offsets(wanted, timer)
            finally:
                self._parts.metrics.waited_for_committed(began_ms)
            if found is None:
                why = self._client.why_timed_out()
                raise ConsumerTimeoutError(f"Timeout expired before the committed offsets could be determined.{why}")
            return {partition: found.get(partition) for partition in wanted}

    def group_metadata(self) -> ConsumerGroupMetadata:
        """The member and generation of the current assignment, for ``KafkaProducer.send_offsets_to_transaction``.

        Raises InvalidGroupIdError without a group.
        """
        with self._open():
            return self._group().group_metadata

    def _group(self) -> CommittingMember:
        if self._coordinator is None:
            raise InvalidGroupIdError
        return self._coordinator

    # ── Positions ─────────────────────────────────────────────────────────────────────────────────────────────────

    def seek(self, partition: TopicPartition, offset: int | OffsetAndMetadata) -> None:
        """Continue at ``offset`` with the next poll. Raises IllegalConsumerStateError unless the partition is
        assigned."""
        with self._open():
            wanted = consumer_arguments.position(offset)
            partition = consumer_arguments.topic_partition(partition, "seek")
            logger.info("Seeking to offset %d for partition %s", wanted, partition)
            self._subscriptions.seek(partition, wanted)

    def seek_to_beginning(self, partitions: Iterable[TopicPartition] | None = None) -> None:
        """Continue at the first offset of these partitions, by default of all. The offset is looked up when it is
        needed."""
        self._seek_to_end_of_log(partitions, OffsetResetStrategy.EARLIEST)

    def seek_to_end(self, partitions: Iterable[TopicPartition] | None = None) -> None:
        """Continue after the last record; with ``read_committed``, after the last one that is not in an open
        transaction."""
        self._seek_to_end_of_log(partitions, OffsetResetStrategy.LATEST)

    def _seek_to_end_of_log(self, partitions: Iterable[TopicPartition] | None, strategy: OffsetResetStrategy) -> None:
        with self._open():
            named = [] if partitions is None else consumer_arguments.topic_partitions(partitions, "seek")
            for partition in named or sorted(self._subscriptions.assigned_partitions):
                logger.info("Seeking to %s offset of partition %s", strategy.name, partition)
                self._subscriptions.need_offset_reset(partition, strategy)

    def position(self, partition: TopicPartition, timeout_ms: float | None = None) -> int:
        """The offset of the next record of the partition, which is looked up if necessary.

        Raises IllegalConsumerStateError unless the partition is assigned, ConsumerTimeoutError, InvalidOffsetError.
        """
        with self._open():
            timer = self._timer(timeout_ms)
            while True:
                position = self._subscriptions.position(partition)
                if position is not None:
                    return position
                self._update_fetch_positions(timer)
                self._client.poll(timer.part(self._retry_backoff_ms), self._lacks_position(partition))
                timer.update()
                if timer.is_expired and self._subscriptions.position(partition) is None:
                    raise ConsumerTimeoutError(
                        f"Timeout expired before the position of {partition} could be determined."
                        f"{self._client.why_timed_out()}"
                    )

    def _lacks_position(self, partition: TopicPartition) -> Callable[[], bool]:
        return lambda: self._subscriptions.position(partition) is None

    def current_lag(self, partition: TopicPartition) -> int | None:
        """How many offsets the position was behind the end of the log at the last fetch; None if it is not known
        yet."""
        with self._open():
            state = self._subscriptions.state(partition)
            end = (
                state.last_stable_offset if self.config["isolation.level"] == "read_committed" else state.high_watermark
            )
            return None if end is None or state.position is None else max(0, end - state.position)

    def pause(self, partitions: Iterable[TopicPartition]) -> None:
        """Return no records of these partitions until ``resume``, or until a rebalance revokes them."""
        with self._open():
            for partition in consumer_arguments.topic_partitions(partitions, "pause"):
                self._subscriptions.pause(partition)

    def resume(self, partitions: Iterable[TopicPartition]) -> None:
        """Return records of these partitions again."""
        with self._open():
            for partition in consumer_arguments.topic_partitions(partitions, "resume"):
                self._subscriptions.resume(partition)

    @property
    def paused(self) -> frozenset[TopicPartition]:
        """The paused partitions."""
        with self._open():
            return self._subscriptions.paused_partitions()

    # ── The cluster ───────────────────────────────────────────────────────────────────────────────────────────────

    def partitions_for(self, topic: str, timeout_ms: float | None = None) -> tuple[PartitionInfo, ...]:
        """The partitions of a topic; empty if there is no such topic. Raises ConsumerTimeoutError, ApiError."""
        with self._open():
            known = self._metadata.fetch().partitions_for_topic(consumer_arguments.topic_name(topic))
            return known or self._parts.topic_metadata_fetcher.get_topic_metadata(topic, self._timer(timeout_ms))

    def list_topics(self, timeout_ms: float | None = None) -> dict[str, tuple[PartitionInfo, ...]]:
        """All topics that the user may describe, with their partitions. Raises ConsumerTimeoutError."""
        with self._open():
            return self._parts.topic_metadata_fetcher.get_all_topic_metadata(self._timer(timeout_ms))

    def offsets_for_times(
        self, timestamps: Mapping[TopicPartition, int], timeout_ms: float | None = None
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """For each partition the first record at or after a time (ms since the epoch); None if there is none.

        Raises ConsumerTimeoutError, and ApiError UNSUPPORTED_VERSION if the broker is older than 0.10.1.
        """
        with self._open():
            consumer_arguments.ensure_timestamps(timestamps)
            return self._offset_fetcher.offsets_for_times(timestamps, self._timer(timeout_ms))

    def beginning_offsets(
        self, partitions: Collection[TopicPartition], timeout_ms: float | None = None
    ) -> dict[TopicPartition, int]:
        """The first offset of each partition. Raises ConsumerTimeoutError."""
        with self._open():
            wanted = consumer_arguments.topic_partitions(partitions, "beginning_offsets")
            return self._offset_fetcher.beginning_offsets(wanted, self._timer(timeout_ms))

    def end_offsets(
        self, partitions: Collection[TopicPartition], timeout_ms: float | None = None
    ) -> dict[TopicPartition, int]:
        """The offset after the last readable record of each partition. Raises ConsumerTimeoutError."""
        with self._open():
            wanted = consumer_arguments.topic_partitions(partitions, "end_offsets")
            return self._offset_fetcher.end_offsets(wanted, self._timer(timeout_ms))

    def metrics(self) -> dict[KafkaMetricName, KafkaMetric]:
        """All metrics by name. Reading ``value`` computes it. Thread-safe."""
        return self._parts.metrics.metrics.metrics

    def beans(self) -> dict[MetricName, dict[str, AttributeValue]]:
        """The metrics as Kafka's JMX shows them: ``kafka.consumer:type=consumer-metrics,client-id=…``. Thread-safe."""
        self._parts.metrics.metrics.collect()
        return self._parts.metrics.jmx_reporter.beans()

    # ── closing ───────────────────────────────────────────────────────────────────────────────────────────────────

    def close(self, timeout_ms: float = DEFAULT_CLOSE_TIMEOUT_MS) -> None:
        """Commit if auto-commit is enabled, leave the group, and close. Gives up what takes longer than
        ``timeout_ms``."""
        with self._guard:
            timer = Timer(self._time, consumer_arguments.timeout(timeout_ms))
            if self._closing:
                return
            self._closing = True  # listeners are called during the close, and may still commit
            self._client.disable_wakeups()
            try:
                self._parts.close(timer)
            finally:
                self._closed = True
            logger.debug("Kafka consumer %s has been closed", self.config["client.id"])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> SingleThreadGuard:
        if self._closed:
            raise IllegalConsumerStateError("This consumer has already been closed.")
        return self._guard

    def _timer(self, timeout_ms: float | None) -> Timer:
        return Timer(self._time, self._api_timeout_ms if timeout_ms is None else consumer_arguments.timeout(timeout_ms))


def _of_topics(partitions: Iterable[TopicPartition], topics: Collection[str]) -> frozenset[TopicPartition]:
    return frozenset(partition for partition in partitions if partition.topic in topics)
