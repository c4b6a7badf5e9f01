"""The share consumer: a member of a share group, in which several members read one partition.

Kafka 4.1: clients/.../consumer/KafkaShareConsumer.java, clients/.../consumer/internals/ShareConsumerImpl.java
· book 4.1.1, 4.4.2
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Self

from kafka_lite.common.serialization import Deserializer, ensure_serializer
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import consumer_arguments
from kafka_lite.consumer.consumer_errors import IllegalConsumerStateError
from kafka_lite.consumer.consumer_metrics import ConsumerMetrics
from kafka_lite.consumer.consumer_parts import (
    deserialize_of,
    new_consumer_network_client,
    new_deserializer,
    new_metadata,
)
from kafka_lite.consumer.consumer_record import EMPTY_RECORDS, ConsumerRecord, ConsumerRecords
from kafka_lite.consumer.group.heartbeat_thread import HeartbeatThread
from kafka_lite.consumer.share.acknowledgements import AcknowledgeType
from kafka_lite.consumer.share.share_consume_manager import ReadSettings, ShareConsumeManager
from kafka_lite.consumer.share.share_consumer_config import ShareConsumerConfig
from kafka_lite.consumer.share.share_in_flight_batch import ShareConsumerRecord, ShareInFlightBatch
from kafka_lite.consumer.share.share_membership import MembershipConfig, ShareMembership, ShareMemberState
from kafka_lite.consumer.share.share_session_handler import FetchLimits
from kafka_lite.consumer.single_thread_guard import SingleThreadGuard
from kafka_lite.consumer.timer import Timer
from kafka_lite.metrics.sensor import KafkaMetric, KafkaMetricName

logger = logging.getLogger(__name__)

DEFAULT_CLOSE_TIMEOUT_MS = 30_000.0
MAX_WAIT_MS = 100.0
"""How long one turn of a poll waits for the network: the assignment may change by a heartbeat meanwhile."""

Outcome = tuple[TopicPartition, frozenset[int], Exception | None]
"""A partition, offsets, and the error of their acknowledgement."""
AcknowledgementCommitCallback = Callable[[Mapping[TopicPartition, frozenset[int]], Exception | None], object]
"""``callback(offsets, error)``, called by poll, commit_sync, commit_async and close for acknowledgements that have
ended."""


class KafkaShareConsumer:
    """Reads records that are delivered to one member of a group at a time, until one has accepted them.

    *Not* thread-safe: only ``wakeup`` may be called from another thread. ::

        with KafkaShareConsumer({"bootstrap.servers": "localhost:9092", "group.id": "workers"}) as consumer:
            consumer.subscribe(["jobs"])
            while True:
                for record in consumer.poll(1000):
                    print(record.offset, record.value, record.delivery_count)

    Whether the user has to say what has become of a record is configured by ``share.acknowledgement.mode``::

        implicit    poll ─▶ records ─▶ the next poll, commit or close accepts them all
        explicit    poll ─▶ records ─▶ acknowledge(record, ACCEPT | RELEASE | REJECT) ─▶ poll or commit sends it

    A record that is not acknowledged within the group's ``share.record.lock.duration.ms`` is delivered again, perhaps
    to another member, and given up after ``group.share.delivery.count.limit`` deliveries. Where the group begins, and
    whether it sees records of transactions that were aborted, are settings of the group.
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
        self.config = config = ShareConsumerConfig(configs)
        self._time = time
        ensure_serializer(key_deserializer, Deserializer, "key_deserializer")
        ensure_serializer(value_deserializer, Deserializer, "value_deserializer")
        self._key_deserializer = key_deserializer or new_deserializer(config, "key")
        self._value_deserializer = value_deserializer or new_deserializer(config, "value")
        self._metrics = ConsumerMetrics(config, time)
        self._metadata = new_metadata(config, time)
        self._client = new_consumer_network_client(config, self._metadata, self._metrics, time)
        self._membership = self._new_membership()
        self._heartbeats = HeartbeatThread(
            f"share-heartbeat-{config.group_id}", self._membership, self._membership.lock, time
        )
        self._manager = self._new_manager()
        self._api_timeout_ms = float(config["default.api.timeout.ms"])
        self._in_flight: list[ShareInFlightBatch] = []
        self._outcomes: list[Outcome] = []
        self._callback: AcknowledgementCommitCallback | None = None
        self._topics: frozenset[str] = frozenset()
        self._guard = SingleThreadGuard()
        self._closed = False

    def _new_membership(self) -> ShareMembership:
        config = self.config
        settings = MembershipConfig(
            group_id=config.group_id,
            rack_id=config["client.rack"] or None,
            max_poll_interval_ms=float(config["max.poll.interval.ms"]),
            retry_backoff_ms=float(config["retry.backoff.ms"]),
        )
        return ShareMembership(settings, self._client, self._time, lambda: self._heartbeats.enable())

    def _new_manager(self) -> ShareConsumeManager:
        config = self.config
        limits = FetchLimits(
            config["fetch.max.wait.ms"],
            config["fetch.min.bytes"],
            config["fetch.max.bytes"],
            config["max.poll.records"],
        )
        settings = ReadSettings(
            config["check.crcs"], deserialize_of(self._key_deserializer), deserialize_of(self._value_deserializer)
        )
        return ShareConsumeManager(
            config.group_id,
            self._membership.member_id,
            self._client,
            self._metadata,
            limits,
            settings,
            lambda partition, offsets, error: self._outcomes.append((partition, offsets, error)),
        )

    # ── subscribing ───────────────────────────────────────────────────────────────────────────────────────────────────

    def subscribe(self, topics: Iterable[str]) -> None:
        """Read these topics. Replaces an earlier subscription; an empty one is the same as ``unsubscribe``.

        Raises TypeError, ValueError or ApiError INVALID_TOPIC_EXCEPTION for invalid arguments.
        """
        with self._open():
            names = frozenset(consumer_arguments.topic_names(topics))
            if not names:
                self.unsubscribe()
                return
            self._topics = names
            self._metadata.set_topics(names)
            self._membership.subscribe(names)
            if not self._heartbeats.is_alive():
                self._heartbeats.start()

    def subscription(self) -> frozenset[str]:
        """The topics."""
        return self._topics

    def unsubscribe(self) -> None:
        """Leave the group. What was not acknowledged is released."""
        with self._open():
            self._leave(Timer(self._time, self._api_timeout_ms))

    def _leave(self, timer: Timer) -> None:
        self._acknowledge_implicitly()
        self._hand_over()
        self._in_flight.clear()
        self._manager.completed.clear()
        while not self._manager.close_sessions() and timer.not_expired:
            self._client.poll(timer.part(MAX_WAIT_MS), disable_wakeup=True)
            timer.update()
        if self._membership.state is not ShareMemberState.UNSUBSCRIBED:
            self._membership.leave(timer)
        self._topics = frozenset()
        self._metadata.set_topics(())

    # ── polling ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def poll(self, timeout_ms: float = 0) -> ConsumerRecords:
        """The next records, about ``max.poll.records``. Waits up to ``timeout_ms`` for the first one.

        Must be called at least every ``max.poll.interval.ms``. Raises WakeupError, IllegalConsumerStateError without a
        subscription, or in explicit mode if a record of the last poll was not acknowledged; RecordDeserializationError
        for a record that was released; CorruptRecordError for records that were rejected; ApiError.
        """
        with self._open():
            timer = Timer(self._time, consumer_arguments.timeout(timeout_ms))
            self._call_back()
            if not self._topics:
                raise IllegalConsumerStateError("Consumer is not subscribed to any topics.")
            if self.config.is_explicit and any(batch.records for batch in self._in_flight):
                raise IllegalConsumerStateError(
                    "All records must be acknowledged in explicit acknowledgement mode before another poll."
                )
            self._acknowledge_implicitly()
            self._hand_over()
            self._metrics.poll_started(timer.now_ms)
            try:
                return self._poll(timer)
            finally:
                self._metrics.poll_ended(timer.update())

    def _poll(self, timer: Timer) -> ConsumerRecords:
        while True:
            self._client.maybe_trigger_wakeup()
            self._membership.on_poll()
            self._raise_errors()
            records = self._collect()
            if records:
                return ConsumerRecords(records)
            self._manager.send_acknowledgements()
            self._manager.fetch(self._membership.assignment)
            self._client.poll(timer.part(MAX_WAIT_MS), lambda: not self._manager.completed)
            timer.update()
            self._call_back()
            if timer.is_expired and not self._manager.completed:
                self._raise_errors()
                return EMPTY_RECORDS

    def _collect(self) -> dict[TopicPartition, list[ConsumerRecord]]:
        """The records of responses that have arrived, whole responses of partitions, up to ``max.poll.records``."""
        found: dict[TopicPartition, list[ConsumerRecord]] = {}
        count = 0
        while self._manager.completed and count < self.config["max.poll.records"]:
            batch = self._manager.completed.popleft()
            self._in_flight.append(batch)
            if batch.error is not None:
                self._manager.errors.append(batch.error)
            if batch.records:
                found.setdefault(batch.partition, []).extend(batch.records.values())
                count += len(batch.records)
        if not found:
            self._hand_over()
            self._raise_errors()
        return found

    def _raise_errors(self) -> None:
        if self._manager.errors:
            raise self._manager.errors.popleft()

    # ── acknowledging ─────────────────────────────────────────────────────────────────────────────────────────────────

    def acknowledge(self, record: ConsumerRecord, kind: AcknowledgeType = AcknowledgeType.ACCEPT) -> None:
        """Say what has become of a record of the last poll. It is sent by the next poll or commit.

        Raises IllegalConsumerStateError in implicit mode, and for a record that is not in flight; ValueError for GAP.
        """
        with self._open():
            if not self.config.is_explicit:
                raise IllegalConsumerStateError("Implicit acknowledgement of delivery is being used.")
            if kind is AcknowledgeType.GAP:
                raise ValueError("a record is no gap")
            for batch in self._in_flight:
                if batch.partition == record.topic_partition and batch.holds(record.offset):
                    batch.acknowledge(record.offset, kind)
                    return
            raise IllegalConsumerStateError("The record cannot be acknowledged.")

    def commit_sync(self, timeout_ms: float | None = None) -> dict[TopicPartition, Exception | None]:
        """Send what was acknowledged, and wait for the brokers; returns the outcome for each partition.

        In implicit mode it accepts the records of the last poll. What the brokers have not confirmed by the end of
        ``timeout_ms`` may still become so.
        """
        with self._open():
            timeout_ms = self._api_timeout_ms if timeout_ms is None else consumer_arguments.timeout(timeout_ms)
            timer = Timer(self._time, timeout_ms)
            self._call_back()
            self._acknowledge_implicitly()
            self._hand_over()
            self._manager.commit()
            while not self._manager.is_idle and timer.not_expired:
                self._client.poll(timer.part(MAX_WAIT_MS))
                timer.update()
                self._manager.send_acknowledgements()
            outcomes: dict[TopicPartition, Exception | None] = {}
            for partition, _, error in self._outcomes:
                outcomes[partition] = outcomes.get(partition) or error
            self._call_back()
            return outcomes

    def commit_async(self) -> None:
        """Send what was acknowledged without waiting. The callback is told of the outcome by a later call."""
        with self._open():
            self._call_back()
            self._acknowledge_implicitly()
            self._hand_over()
            self._manager.commit()
            self._client.poll_no_wakeup()

    def set_acknowledgement_commit_callback(self, callback: AcknowledgementCommitCallback | None) -> None:
        """Be told of the outcome of acknowledgements."""
        with self._open():
            self._callback = callback

    def _acknowledge_implicitly(self) -> None:
        if not self.config.is_explicit:
            for batch in self._in_flight:
                batch.acknowledge_all(AcknowledgeType.ACCEPT)

    def _hand_over(self) -> None:
        """Acknowledgements go to the manager. Batches are forgotten once all of their records are acknowledged."""
        for batch in self._in_flight:
            self._manager.add(batch)
        self._in_flight = [batch for batch in self._in_flight if batch.records]

    def _call_back(self) -> None:
        outcomes, self._outcomes = self._outcomes, []
        if self._callback is not None:
            for partition, offsets, error in outcomes:
                self._callback({partition: offsets}, error)

    # ── the rest ──────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def client_instance_id(self) -> str:
        """The id of this member, which it keeps for all of its life."""
        return self._membership.member_id

    def metrics(self) -> Mapping[KafkaMetricName, KafkaMetric]:
        """The metrics by name."""
        return self._metrics.metrics.metrics

    def wakeup(self) -> None:
        """Make the poll in progress, or else the next one, raise WakeupError. Thread-safe."""
        self._client.wakeup()

    def close(self, timeout_ms: float = DEFAULT_CLOSE_TIMEOUT_MS) -> None:
        """Acknowledge, release what was not acknowledged, leave the group, and close. Gives up what takes longer than
        ``timeout_ms``."""
        with self._guard:
            if self._closed:
                return
            self._closed = True
            self._client.disable_wakeups()
            timer = Timer(self._time, consumer_arguments.timeout(timeout_ms))
            try:
                self._leave(timer)
                self._call_back()
            finally:
                self._heartbeats.initiate_shutdown()
                self._heartbeats.wake_up()
                if self._heartbeats.is_alive():
                    self._heartbeats.await_shutdown()
                for part in (self._metrics, self._client, self._key_deserializer, self._value_deserializer):
                    part.close()

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


__all__ = ["AcknowledgeType", "KafkaShareConsumer", "ShareConsumerRecord"]
