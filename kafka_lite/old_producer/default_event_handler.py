"""Collates messages by broker and partition, sends them, and retries those that failed.

Kafka 0.10.2: core/.../producer/async/DefaultEventHandler.scala, EventHandler.scala · book 2.2.1, 2.2.2
"""

from __future__ import annotations

import contextlib
import logging
import math
import random
from collections.abc import Mapping, Sequence
from typing import Protocol

from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.old_producer.broker_partition_info import NO_LEADER, BrokerPartitionInfo, PartitionAndLeader
from kafka_lite.old_producer.encoder import Encoder
from kafka_lite.old_producer.keyed_message import KeyedMessage, SerializedMessage
from kafka_lite.old_producer.partitioner import Partitioner
from kafka_lite.old_producer.producer_config import ProducerConfig
from kafka_lite.old_producer.producer_pool import ProducerPool
from kafka_lite.old_producer.producer_stats import ProducerStatsRegistry
from kafka_lite.protocol.messages.api_00_produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import MAGIC_V1

logger = logging.getLogger(__name__)

Collated = dict[int, dict[TopicPartition, list[SerializedMessage]]]
"""Messages by leader id, then by partition."""


class FailedToSendMessageError(KafkaError):
    """Some messages could not be sent after all retries. Others of the same call may have been."""


class EventHandler(Protocol):
    """The handler to which the producer, or its thread, passes messages."""

    def handle(self, events: Sequence[KeyedMessage]) -> None:
        """Send messages. Raises FailedToSendMessageError."""
        ...

    def close(self) -> None:
        """Close all connections."""
        ...


class DefaultEventHandler:
    """Sends messages, with retries. Used by one thread at a time.

    ::

        events ─ serialize ─▶ messages ─ partition_and_collate ─▶ {broker 0: {t-0: […], t-2: […]}, broker 1: {t-1: […]}}
                                  ▲                                     │ one request per broker
                                  │ failed partitions' messages         ▼
                                  └───── metadata refresh ◀──── partitions with an error, or all of a lost connection

    Messages without a key go to *one* random partition until metadata is refreshed
    (``topic.metadata.refresh.interval.ms``, 10 minutes). That saves connections, but looks like a broken partitioner.
    """

    def __init__(
        self,
        config: ProducerConfig,
        partitioner: Partitioner,
        encoder: Encoder,
        key_encoder: Encoder,
        pool: ProducerPool,
        time: Time = SYSTEM_TIME,
        random_source: random.Random | None = None,
        stats: ProducerStatsRegistry | None = None,
    ) -> None:
        self._config = config
        self._stats = stats or ProducerStatsRegistry(config["client.id"], time)
        self._partitioner = partitioner
        self._encoder = encoder
        self._key_encoder = key_encoder
        self._pool = pool
        self._time = time
        self._random = random_source or random.Random()
        self._is_sync = config["producer.type"] == "sync"
        self._broker_partition_info = BrokerPartitionInfo(config, pool)
        self._last_refresh_ms = -math.inf
        self._topics_to_refresh: set[str] = set()
        self._send_partition_per_topic_cache: dict[str, int] = {}

    def handle(self, events: Sequence[KeyedMessage]) -> None:
        """Send messages, and retry those that failed.

        Before each attempt, metadata that has become old is fetched (``_maybe_refresh_metadata``). After one that
        failed comes the pause, then fresh metadata of the topics that failed.

        Raises FailedToSendMessageError; a synchronous producer also raises the errors of its encoders.
        """
        self._stats.tick_if_necessary()
        outstanding = self.serialize(events)
        retries = self._config["message.send.max.retries"]
        for attempt in range(retries + 1):
            self._maybe_refresh_metadata(outstanding)
            outstanding = self._dispatch_serialized_data(outstanding)
            if not outstanding:
                return
            backoff_ms = self._config["retry.backoff.ms"]
            logger.info(
                "Back off for %d ms before retrying send. Remaining retries = %d", backoff_ms, retries - attempt
            )
            self._time.sleep(backoff_ms)
            self._stats.producer.resend_rate.mark()
            self._refresh({message.topic for message in outstanding})
        self._stats.producer.failed_send_rate.mark()
        topics = ",".join(sorted({message.topic for message in outstanding}))
        logger.error("Failed to send %d messages for topics %s", len(outstanding), topics)
        raise FailedToSendMessageError(f"Failed to send messages after {retries} tries: topics {topics}")

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()

    def serialize(self, events: Sequence[KeyedMessage]) -> list[SerializedMessage]:
        """Serialize keys and messages. An encoding error is raised if the producer is synchronous, otherwise logged."""
        serialized = []
        for event in events:
            try:
                key = None if event.key is None else self._key_encoder.to_bytes(event.key)
                value = self._encoder.to_bytes(event.message)
            except Exception:
                self._stats.producer.serialization_error_rate.mark()
                if self._is_sync:
                    raise
                logger.exception("Error serializing message for topic %s", event.topic)
                continue
            self._stats.topics.encoded(event.topic, len(value or b""))
            serialized.append(event.serialized(key, value, self._time.milliseconds()))
        return serialized

    # ── metadata ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _maybe_refresh_metadata(self, outstanding: Sequence[SerializedMessage]) -> None:
        self._topics_to_refresh |= {message.topic for message in outstanding}
        interval_ms = self._config["topic.metadata.refresh.interval.ms"]
        now_ms = self._time.hi_res_ms()
        if interval_ms >= 0 and now_ms - self._last_refresh_ms > interval_ms:
            self._refresh(self._topics_to_refresh)
            self._topics_to_refresh = set()
            self._last_refresh_ms = now_ms

    def _refresh(self, topics: set[str]) -> None:
        try:
            self._broker_partition_info.update_info(topics)
        except KafkaError as error:
            logger.error("%s", error)  # the next attempt shows the consequences
        self._send_partition_per_topic_cache.clear()

    # ── one attempt ───────────────────────────────────────────────────────────────────────────────────────────────

    def _dispatch_serialized_data(self, messages: Sequence[SerializedMessage]) -> list[SerializedMessage]:
        """Send one request to each leader; returns the messages that failed."""
        collated = self.partition_and_collate(messages)
        if collated is None:
            return list(messages)
        failed: list[SerializedMessage] = []
        for broker_id, by_partition in collated.items():
            for partition in self._send(broker_id, by_partition):
                failed += by_partition[partition]
        return failed

    def partition_and_collate(self, messages: Sequence[SerializedMessage]) -> Collated | None:
        """Messages by leader and partition; None if this failed for one of them, so that all must be retried.

        Partitions without a leader are listed under -1 and fail when they are sent, so that the others are sent.
        """
        collated: Collated = {}
        try:
            for message in messages:
                partitions = self._broker_partition_info.get_broker_partition_info(message.topic)
                chosen = partitions[self._partition(message, partitions)]
                by_partition = collated.setdefault(chosen.leader_broker_id, {})
                by_partition.setdefault(TopicPartition(message.topic, chosen.partition_id), []).append(message)
        except (ApiError, KafkaError, TypeError) as error:
            logger.warning("Failed to collate messages by topic,partition due to: %s", error)
            return None
        return collated

    def _partition(self, message: SerializedMessage, partitions: Sequence[PartitionAndLeader]) -> int:
        """The index of the message's partition in the list."""
        if message.partition_key is None:
            place = self._any_partition(message.topic, partitions)
        else:
            place = self._partitioner.partition(message.partition_key, len(partitions))
        if not 0 <= place < len(partitions):
            raise Errors.UNKNOWN_TOPIC_OR_PARTITION.exception(
                f"Invalid partition id: {place} for topic {message.topic}; valid are 0 to {len(partitions) - 1}"
            )
        return place

    def _any_partition(self, topic: str, partitions: Sequence[PartitionAndLeader]) -> int:
        """The partition in use, even without a leader; otherwise a random one with a leader."""
        with contextlib.suppress(KeyError):
            return self._send_partition_per_topic_cache[topic]
        available = [each.partition_id for each in partitions if each.leader_broker_id != NO_LEADER]
        if not available:
            raise Errors.LEADER_NOT_AVAILABLE.exception(f"No leader for any partition in topic {topic}")
        chosen = self._random.choice(available)
        self._send_partition_per_topic_cache[topic] = chosen
        return chosen

    def _send(
        self, broker_id: int, by_partition: Mapping[TopicPartition, Sequence[SerializedMessage]]
    ) -> list[TopicPartition]:
        """Send one request; returns the partitions that failed: those with an error, or all without a response."""
        if broker_id == NO_LEADER:
            logger.warning("Failed to send data since partitions %s don't have a leader", _names(by_partition))
            return list(by_partition)
        try:
            response = self._pool.get_producer(broker_id).send(self._produce_request(by_partition))
        except (ConnectionError, KafkaError) as error:
            logger.warning(
                "Failed to send producer request to broker %d for %s: %s", broker_id, _names(by_partition), error
            )
            return list(by_partition)
        return [] if response is None else failed_partitions(response, by_partition)

    def _produce_request(self, by_partition: Mapping[TopicPartition, Sequence[SerializedMessage]]) -> ProduceRequest:
        topics: dict[str, list[PartitionProduceData]] = {}
        for partition, messages in by_partition.items():
            builder = MemoryRecordsBuilder(MAGIC_V1, self._config.compression_of(partition.topic))
            for message in messages:
                builder.append(message.timestamp, message.key, message.value)
            data = PartitionProduceData(index=partition.partition, records=builder.build())
            topics.setdefault(partition.topic, []).append(data)
        return ProduceRequest(
            acks=self._config["request.required.acks"],
            timeout_ms=self._config["request.timeout.ms"],
            topic_data=[TopicProduceData(name=name, partition_data=data) for name, data in topics.items()],
        )


def failed_partitions(
    response: ProduceResponse, by_partition: Mapping[TopicPartition, Sequence[SerializedMessage]]
) -> list[TopicPartition]:
    """The partitions with an error in the response, or without an entry."""
    errors = {
        TopicPartition(topic.name, each.index): Errors.for_code(each.error_code)
        for topic in response.responses
        for each in topic.partition_responses
    }
    failed = [partition for partition in by_partition if errors.get(partition) is not Errors.NONE]
    if failed:
        names = {str(partition): errors[partition].name for partition in failed if partition in errors}
        logger.warning("Produce request failed due to %s", names or "an incomplete response")
    return failed


def _names(partitions: Mapping[TopicPartition, object]) -> str:
    return ",".join(map(str, partitions))
