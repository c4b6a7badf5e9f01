"""Commits a group's offsets to ZooKeeper, to Kafka, or to both, and fetches them.

Kafka 0.10.2: core/.../consumer/ZookeeperConsumerConnector.scala (commitOffsets, fetchOffsets) · book 3.5.1, 3.5.2
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple, cast

from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.old_consumer.client_utils import channel_to_offset_manager
from kafka_lite.old_consumer.consumer_config import ZOOKEEPER, ConsumerConfig
from kafka_lite.old_consumer.consumer_stats import ConsumerStats
from kafka_lite.old_consumer.partition_topic_info import INVALID_OFFSET
from kafka_lite.protocol.messages.api_08_offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from kafka_lite.protocol.messages.api_09_offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)
from kafka_lite.zookeeper.consumer_groups import ConsumerGroups
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

logger = logging.getLogger(__name__)

OFFSET_COMMIT_VERSION = 2
OFFSET_FETCH_VERSION = 2
"""The versions that 0.10.2 sends. Generation -1 without a member id tells the coordinator that it does not manage
members."""

_MOVED = frozenset({Errors.NOT_COORDINATOR, Errors.COORDINATOR_NOT_AVAILABLE})
_ASK_AGAIN = _MOVED | {Errors.COORDINATOR_LOAD_IN_PROGRESS}


class CommitOutcome(NamedTuple):
    """The outcome of a commit."""

    committed: frozenset[TopicPartition]
    may_retry: bool
    """Whether any error is retriable, which is true for all but too large metadata."""
    coordinator_moved: bool


def commit_outcome(errors: Mapping[TopicPartition, Errors]) -> CommitOutcome:
    """Derive the outcome from the errors of the partitions."""
    failed = {error for error in errors.values() if error is not Errors.NONE}
    committed = frozenset(partition for partition, error in errors.items() if error is Errors.NONE)
    return CommitOutcome(committed, bool(failed - {Errors.OFFSET_METADATA_TOO_LARGE}), bool(failed & _MOVED))


class ConsumerOffsets:
    """The offsets of one group, stored as ``offsets.storage`` says::

                                 commit                                       fetch
        zookeeper                /consumers/G/offsets, if it has changed      the same
        kafka, dual commit       the coordinator; then ZooKeeper, too         the larger of the two
        kafka                    the coordinator                              the coordinator

    A group migrates in two rolling restarts: first all members use kafka with ``dual.commit.enabled``, so that members
    that still use ZooKeeper see their commits, then kafka alone. Thread-safe.
    """

    def __init__(
        self,
        config: ConsumerConfig,
        zk: KafkaZkClient,
        stats: ConsumerStats,
        is_shutting_down: threading.Event,
    ) -> None:
        self._config = config
        self._group: str = config["group.id"]
        self._is_in_zookeeper = config["offsets.storage"] == ZOOKEEPER
        self._zk = zk
        self._groups = ConsumerGroups(zk)
        self._stats = stats
        self._is_shutting_down = is_shutting_down
        self._checkpointed: dict[TopicPartition, int] = {}
        self._channel: BlockingChannel | None = None
        self._channel_lock = threading.RLock()

    # ── committing ────────────────────────────────────────────────────────────────────────────────────────────────

    def commit_offsets(self, offsets: Mapping[TopicPartition, int], retry_on_failure: bool) -> bool:
        """Commit; false if that failed, with ``retry_on_failure`` after ``offsets.commit.max.retries`` retries.

        (Kafka's connector inverts the meaning of this flag, contrary to its documented configuration.) Raises ZkError.
        """
        tries = 1 + (self._config["offsets.commit.max.retries"] if retry_on_failure else 0)
        for attempt in range(tries):
            if self._try_commit(offsets):
                return True
            if attempt + 1 < tries:
                self._back_off()
        logger.error("Could not commit the offsets of %d partitions of group %s", len(offsets), self._group)
        return False

    def _try_commit(self, offsets: Mapping[TopicPartition, int]) -> bool:
        if not offsets:
            return True
        with self._channel_lock:
            if self._is_in_zookeeper:
                for partition, offset in offsets.items():
                    self.commit_offset_to_zookeeper(partition, offset)
                return True
            return self._try_commit_to_kafka(offsets)

    def commit_offset_to_zookeeper(self, partition: TopicPartition, offset: int) -> None:
        """Write the znode, unless it has this offset already."""
        if self._checkpointed.get(partition) != offset:
            self._groups.set_offset(self._group, partition, offset)
            self._checkpointed[partition] = offset
            self._stats.zk_commit_meter.mark()

    def _try_commit_to_kafka(self, offsets: Mapping[TopicPartition, int]) -> bool:
        request = OffsetCommitRequest(group_id=self._group, topics=_commit_topics(offsets))
        self._stats.kafka_commit_meter.mark(len(offsets))
        try:
            response = cast(OffsetCommitResponse, self._connected_channel().exchange(request, OFFSET_COMMIT_VERSION))
        except (ConnectionError, KafkaError) as error:
            logger.error("Error while committing offsets: %s", error)
            self.disconnect()
            return False
        outcome = commit_outcome(_commit_errors(response))
        if self._config["dual.commit.enabled"]:
            for partition in outcome.committed & offsets.keys():
                self.commit_offset_to_zookeeper(partition, offsets[partition])
        if outcome.coordinator_moved:
            logger.debug("Could not commit offsets (because offset coordinator has moved or is unavailable)")
            self.disconnect()
        return not outcome.may_retry

    def remember(self, partition: TopicPartition, offset: int) -> None:
        """Remember an offset that was read, so that committing the same value writes nothing."""
        self._checkpointed[partition] = offset

    # ── fetching ──────────────────────────────────────────────────────────────────────────────────────────────────

    def fetch_offsets(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int] | None:
        """The committed offsets, INVALID_OFFSET where there is none; None if the consumer shuts down meanwhile.

        Retries for as long as the coordinator cannot be found or is still loading. Raises ZnodeDataError, ZkError, and
        ApiError for any other error of the coordinator: an offset that is not known is not a missing one.
        """
        if not partitions:
            return {}
        if self._is_in_zookeeper:
            return self._fetch_from_zookeeper(partitions)
        while not self._is_shutting_down.is_set():
            with self._channel_lock:
                found = self._try_fetch_from_kafka(partitions)
            if found is not None:
                return found
            self._back_off()
        return None

    def _fetch_from_zookeeper(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        return dict.fromkeys(partitions, INVALID_OFFSET) | self._groups.get_offsets(self._group, partitions)

    def _try_fetch_from_kafka(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int] | None:
        """The committed offsets; None if the request must be retried. Raises ApiError if that would not help."""
        request = OffsetFetchRequest(group_id=self._group, topics=fetch_topics(partitions))
        try:
            response = cast(OffsetFetchResponse, self._connected_channel().exchange(request, OFFSET_FETCH_VERSION))
            from_kafka = committed_offsets(response, partitions)
        except ApiError as error:
            if error.error not in _ASK_AGAIN:
                raise
            logger.debug("Could not fetch offsets (because offset manager has moved, or is loading): %s", error)
            if error.error is not Errors.COORDINATOR_LOAD_IN_PROGRESS:
                self.disconnect()
            return None
        except (ConnectionError, KafkaError) as error:
            logger.warning("Error while fetching offsets of group %s: %s", self._group, error)
            self.disconnect()
            return None
        if not self._config["dual.commit.enabled"]:
            return from_kafka
        from_zookeeper = self._fetch_from_zookeeper(partitions)
        return {partition: max(offset, from_zookeeper[partition]) for partition, offset in from_kafka.items()}

    # ── the connection to the coordinator ─────────────────────────────────────────────────────────────────────────

    def ensure_offset_manager_connected(self) -> None:
        """If offsets are stored in Kafka, wait until the coordinator is connected, or until the shutdown."""
        while not self._is_in_zookeeper and not self._is_shutting_down.is_set():
            try:
                with self._channel_lock:
                    self._connected_channel()
            except (ConnectionError, KafkaError) as error:
                logger.info("Cannot connect to the offset manager of group %s yet: %s", self._group, error)
                self._back_off()
            else:
                return

    def disconnect(self) -> None:
        """Close the connection. The next commit or fetch looks up the coordinator again."""
        with self._channel_lock:
            channel, self._channel = self._channel, None
            if channel is not None:
                channel.close()

    def _connected_channel(self) -> BlockingChannel:
        """A connection to the coordinator. Raises KafkaError, ConnectionError."""
        if self._channel is None or not self._channel.is_connected:
            timeout_ms = self._config["offsets.channel.socket.timeout.ms"]
            client_id = self._config["client.id"]
            self._channel = channel_to_offset_manager(self._group, self._zk, client_id, timeout_ms)
        return self._channel

    def _back_off(self) -> None:
        """Wait. A shutdown cuts the wait short, but the shutdown's own commits do wait."""
        backoff_s = self._config["offsets.channel.backoff.ms"] / 1000
        if self._is_shutting_down.is_set():
            threading.Event().wait(backoff_s)
        else:
            self._is_shutting_down.wait(backoff_s)


def committed_offsets(
    response: OffsetFetchResponse, partitions: Collection[TopicPartition]
) -> dict[TopicPartition, int]:
    """The offsets of these partitions in a response, INVALID_OFFSET where none is committed.

    Raises ApiError if the response or a partition has an error, and KafkaError if a partition is missing.
    """
    error = Errors.for_code(response.error_code)
    if error is not Errors.NONE:
        raise error.exception()
    offsets = {}
    for topic in response.topics:
        for each in topic.partitions:
            partition, error = TopicPartition(topic.name, each.partition_index), Errors.for_code(each.error_code)
            if error is not Errors.NONE:
                reason = f"{error.name}: {error.message}"
                raise error.exception(f"the committed offset of {partition} is not known: {reason}")
            offsets[partition] = each.committed_offset
    missing = [partition for partition in partitions if partition not in offsets]
    if missing:
        raise KafkaError(f"the response has no committed offset of {', '.join(map(str, missing))}")
    return {partition: offsets[partition] for partition in partitions}


def _commit_topics(offsets: Mapping[TopicPartition, int]) -> list[OffsetCommitRequestTopic]:
    topics: dict[str, OffsetCommitRequestTopic] = {}
    for partition, offset in offsets.items():
        entry = OffsetCommitRequestPartition(
            partition_index=partition.partition, committed_offset=offset, committed_metadata=""
        )
        topics.setdefault(partition.topic, OffsetCommitRequestTopic(name=partition.topic)).partitions.append(entry)
    return list(topics.values())


def _commit_errors(response: OffsetCommitResponse) -> dict[TopicPartition, Errors]:
    return {
        TopicPartition(topic.name, each.partition_index): Errors.for_code(each.error_code)
        for topic in response.topics
        for each in topic.partitions
    }


def fetch_topics(partitions: Iterable[TopicPartition]) -> list[OffsetFetchRequestTopic]:
    """The topics of an OffsetFetch request for these partitions."""
    topics: dict[str, OffsetFetchRequestTopic] = {}
    for topic, number in partitions:
        topics.setdefault(topic, OffsetFetchRequestTopic(name=topic)).partition_indexes.append(number)
    return list(topics.values())
