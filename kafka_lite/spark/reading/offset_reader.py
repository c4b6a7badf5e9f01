"""Fetches from the cluster the partitions that a query reads and their start and end offsets.

Spark 4.2: connector/kafka-0-10-sql/.../KafkaOffsetReaderAdmin.scala · book 4.1.2
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Set
from typing import TypeVar

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.java.java_pattern import java_pattern
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.network.authentication_error import AuthenticationError
from kafka_lite.protocol.messages.api_02_list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from kafka_lite.protocol.messages.api_03_metadata import MetadataResponseTopic
from kafka_lite.spark.cluster_client import ClusterClient, ClusterUnreachableError
from kafka_lite.spark.offsets import (
    EARLIEST,
    LATEST,
    Extreme,
    GlobalTimestamp,
    OffsetLimit,
    PartitionOffsets,
    SparkOptionError,
    SpecificOffsets,
    SpecificTimestamps,
    describe,
)
from kafka_lite.spark.options import AssignStrategy, ReadOptions, SubscribePatternStrategy, SubscribeStrategy
from kafka_lite.spark.reading.log_sizes import log_sizes

logger = logging.getLogger(__name__)

T = TypeVar("T")

_CONSUMER_REPLICA_ID = -1
_RETRY_PAUSE_MS = 100
_ISOLATION_LEVELS = {"read_uncommitted": 0, "read_committed": 1}


def isolation_level(options: ReadOptions) -> int:
    """The protocol's code of ``kafka.isolation.level``."""
    return _ISOLATION_LEVELS[options.consumer["isolation.level"]]


class OffsetReader:
    """The driver's view of the cluster. Transient failures are retried up to ``fetchOffset.numRetries`` attempts."""

    def __init__(self, client: ClusterClient, options: ReadOptions, time: Time = SYSTEM_TIME) -> None:
        self._client = client
        self._options = options
        self._time = time

    def partitions(self) -> set[TopicPartition]:
        """The partitions that the query reads now. Raises ``ApiError`` for a topic that does not exist."""
        return self._asking_again(
            lambda: self._retrying(lambda: self._partitions(missing_is_error=True)),
            lambda found: "" if found else "the brokers know no topic that the query reads",
        )

    def existing_partitions(self, known: Iterable[TopicPartition] = ()) -> set[TopicPartition]:
        """The same, but topics that do not exist (any more) are omitted.

        Partitions that the query is known to read are asked for again if they are missing: a broker that has just
        started knows no topics. After ``fetchOffset.numRetries`` attempts they have been deleted.
        """
        wanted = set(known)
        return self._asking_again(self._existing_partitions, lambda found: _unknown(wanted - found))

    def earliest(self, partitions: Iterable[TopicPartition]) -> PartitionOffsets:
        """The log start offsets."""
        return self.list_offsets(dict.fromkeys(partitions, EARLIEST))

    def latest(self, partitions: Iterable[TopicPartition]) -> PartitionOffsets:
        """The ends of the logs: high watermarks, or last stable offsets with read_committed."""
        return self.list_offsets(dict.fromkeys(partitions, LATEST))

    def latest_since(self, known: PartitionOffsets) -> PartitionOffsets:
        """The ends of the logs of all partitions that the query reads now.

        ``known`` has the offsets that the query has reached. A partition of it that is missing is asked for again, as
        by ``existing_partitions``; so is an end before its offset: a leader that has just been elected gives too low a
        high watermark until its followers have fetched. After ``fetchOffset.numRetries`` attempts it is true: the
        log was truncated, or the topic deleted or recreated. If nothing is known, the topics that the options name are
        expected.
        """

        def doubts(ends: PartitionOffsets) -> str:
            if not known:
                return self._not_found(ends.keys())
            if behind := [partition for partition in known if ends.get(partition, known[partition]) < known[partition]]:
                return f"the ends of {describe(behind)} lie before the query's offsets"
            return _unknown(known.keys() - ends.keys())

        return self._asking_again(lambda: self.latest(self._existing_partitions()), doubts)

    def resolve(self, limit: OffsetLimit, partitions: set[TopicPartition], *, is_start: bool) -> PartitionOffsets:
        """Resolve a limit to an offset for each partition.

        Raises ``SparkOptionError`` if the limit does not name exactly the existing partitions, or if no record is at or
        after a starting timestamp.
        """
        match limit:
            case Extreme():
                return self.list_offsets(dict.fromkeys(partitions, limit.value))
            case SpecificOffsets(offsets):
                _ensure_same(offsets, partitions, "Use -1 for latest, -2 for earliest.")
                symbolic = {partition: offset for partition, offset in offsets.items() if offset < 0}
                return offsets | self.list_offsets(symbolic)
            case SpecificTimestamps(timestamps):
                _ensure_same(timestamps, partitions, "Timestamps are needed for all of them.")
                return self._at_timestamps(timestamps, is_start)
            case GlobalTimestamp(timestamp_ms):
                return self._at_timestamps(dict.fromkeys(partitions, timestamp_ms), is_start)

    def list_offsets(self, timestamps: Mapping[TopicPartition, int]) -> PartitionOffsets:
        """Ask the leaders for the first offset at or after a timestamp in ms (-1: none), or for the ends (-1, -2).

        Raises ``ApiError``.
        """
        return self._retrying(lambda: self._list_offsets(timestamps))

    def log_sizes(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """The logs' sizes in bytes, as far as their leaders tell them. Raises ``ApiError``."""
        wanted = set(partitions)
        return self._asking_again(
            lambda: self._retrying(lambda: log_sizes(self._client, wanted)),
            lambda sizes: (
                f"the brokers do not tell the size of {describe(missing)}" if (missing := wanted - sizes.keys()) else ""
            ),
        )

    def _existing_partitions(self) -> set[TopicPartition]:
        return self._retrying(lambda: self._partitions(missing_is_error=False))

    def _not_found(self, found: Iterable[TopicPartition]) -> str:
        """The topics and partitions of the options that the brokers do not know, in words; empty if all exist."""
        partitions = set(found)
        match self._options.strategy:
            case AssignStrategy(named):
                return _unknown(named - partitions)
            case SubscribeStrategy(topics):
                missing = sorted(set(topics) - {partition.topic for partition in partitions})
                return f"the brokers do not know {', '.join(missing)}" if missing else ""
            case SubscribePatternStrategy(pattern):
                return "" if partitions else f"the brokers know no topic that matches {pattern}"

    def _partitions(self, *, missing_is_error: bool) -> set[TopicPartition]:
        match self._options.strategy:
            case AssignStrategy(partitions):
                existing = self._partitions_of({partition.topic for partition in partitions}, missing_is_error)
                if missing_is_error and not partitions <= existing:
                    raise Errors.UNKNOWN_TOPIC_OR_PARTITION.exception(
                        f"no such partition: {describe(partitions - existing)}"
                    )
                return set(partitions & existing)
            case SubscribeStrategy(topics):
                return self._partitions_of(set(topics), missing_is_error)
            case SubscribePatternStrategy(pattern):
                every = self._client.metadata(None).topics
                matches = java_pattern(pattern).fullmatch
                matching = [topic for topic in every if not topic.is_internal and matches(topic.name or "")]
                return {partition for topic in matching for partition in _checked_partitions(topic)}

    def _partitions_of(self, topics: set[str], missing_is_error: bool) -> set[TopicPartition]:
        described = self._client.metadata(sorted(topics)).topics
        missing = [topic for topic in described if topic.error_code == Errors.UNKNOWN_TOPIC_OR_PARTITION.code]
        if missing and missing_is_error:
            names = ", ".join(sorted(topic.name or "" for topic in missing))
            raise Errors.UNKNOWN_TOPIC_OR_PARTITION.exception(f"This server does not host the topic: {names}")
        return {partition for topic in described if topic not in missing for partition in _checked_partitions(topic)}

    def _at_timestamps(self, timestamps: Mapping[TopicPartition, int], is_start: bool) -> PartitionOffsets:
        found = self.list_offsets(timestamps)
        beyond = [partition for partition, offset in found.items() if offset == LATEST]
        if beyond and is_start and not self._options.no_match_begins_at_end:
            partition = min(beyond)
            message = (
                f"No offset matched from request of topic-partition {partition} and timestamp {timestamps[partition]}"
            )
            raise SparkOptionError(f"{message}; set startingOffsetsByTimestampStrategy to latest to begin at its end")
        return found | self.latest(beyond)

    def _list_offsets(self, timestamps: Mapping[TopicPartition, int]) -> PartitionOffsets:
        by_leader: dict[int, list[TopicPartition]] = defaultdict(list)
        for partition in sorted(timestamps):  # they may come from a set, whose order differs from run to run
            by_leader[self._client.leader_of(partition)].append(partition)
        found: PartitionOffsets = {}
        for node_id, partitions in by_leader.items():
            request = self._request({partition: timestamps[partition] for partition in partitions})
            try:
                response = self._client.connection(node_id).exchange(request, ListOffsetsResponse)
                found |= _checked_offsets(response, partitions)
            except (OSError, ApiError):
                for partition in partitions:
                    self._client.forget_leader(partition)
                raise
        return found

    def _request(self, timestamps: Mapping[TopicPartition, int]) -> ListOffsetsRequest:
        topics: dict[str, list[ListOffsetsPartition]] = defaultdict(list)
        for (topic, partition), timestamp in timestamps.items():
            topics[topic].append(ListOffsetsPartition(partition_index=partition, timestamp=timestamp))
        return ListOffsetsRequest(
            replica_id=_CONSUMER_REPLICA_ID,
            isolation_level=isolation_level(self._options),
            topics=[ListOffsetsTopic(name=topic, partitions=partitions) for topic, partitions in topics.items()],
        )

    def _asking_again(self, ask: Callable[[], T], doubts: Callable[[T], str]) -> T:
        """Ask until there are no doubts about the result, in words, or ``fetchOffset.numRetries`` attempts agree."""
        for attempts_left in range(self._options.offset_attempts - 1, -1, -1):
            found = ask()
            doubt = doubts(found)
            if not doubt or not attempts_left:
                break
            logger.warning("Asking again: %s", doubt)
            self._time.sleep(self._options.offset_retry_interval_ms)
        return found

    def _retrying(self, ask: Callable[[], T]) -> T:
        for attempts_left in range(self._options.offset_attempts - 1, -1, -1):
            try:
                return self._while_cluster_changes(ask)
            except (OSError, ApiError, ClusterUnreachableError) as error:
                passing = error.retriable if isinstance(error, ApiError) else not isinstance(error, AuthenticationError)
                if not attempts_left or not passing:
                    raise
                logger.warning("Retrying the request for offsets: %s", error)
                self._time.sleep(self._options.offset_retry_interval_ms)
        raise AssertionError("there is at least one attempt")

    def _while_cluster_changes(self, ask: Callable[[], T]) -> T:
        """One attempt: repeated for ``kafka.default.api.timeout.ms`` while brokers restart or elect leaders.

        So does Java's admin client, and a stream outlives the restart of a broker. But a cluster that has never
        responded is an error at once: its address is probably wrong.
        """
        deadline = self._time.hi_res_ms() + self._options.consumer["default.api.timeout.ms"]
        while True:
            try:
                return ask()
            except (OSError, ApiError, ClusterUnreachableError) as error:
                if not self._is_a_change(error) or self._time.hi_res_ms() >= deadline:
                    raise
                logger.debug("Asking for offsets again: %s", error)
                self._time.sleep(_RETRY_PAUSE_MS)

    def _is_a_change(self, error: Exception) -> bool:
        if isinstance(error, ApiError):
            return error.retriable and error.error is not Errors.UNKNOWN_TOPIC_OR_PARTITION
        return self._client.has_answered and not isinstance(error, AuthenticationError)


def _unknown(partitions: Set[TopicPartition]) -> str:
    return f"the brokers do not know {describe(partitions)}" if partitions else ""


def _checked_partitions(topic: MetadataResponseTopic) -> list[TopicPartition]:
    if topic.error_code:
        raise Errors.for_code(topic.error_code).exception(
            f"topic {topic.name}: {Errors.for_code(topic.error_code).message}"
        )
    return [TopicPartition(topic.name or "", partition.partition_index) for partition in topic.partitions]


def _checked_offsets(response: ListOffsetsResponse, partitions: Iterable[TopicPartition]) -> PartitionOffsets:
    """The offsets. Raises ApiError if one has an error, or is not in the response."""
    found = {}
    for topic in response.topics:
        for partition in topic.partitions:
            asked = TopicPartition(topic.name, partition.partition_index)
            if partition.error_code:
                error = Errors.for_code(partition.error_code)
                raise error.exception(f"offsets of {asked}: {error.message}")
            found[asked] = partition.offset
    if missing := set(partitions) - found.keys():
        raise Errors.UNKNOWN_SERVER_ERROR.exception(f"a leader's response has no offsets of {describe(missing)}")
    return found


def _ensure_same(named: Mapping[TopicPartition, int], existing: set[TopicPartition], hint: str) -> None:
    if named.keys() != existing:
        found = f"Named: {describe(named)}; read: {describe(existing)}"
        message = f"offsets must be given for all partitions that are read. {hint} {found}"
        raise SparkOptionError(message)
