"""Asks leaders for offsets: the ends of logs, offsets by timestamp, and reset positions.

Kafka 0.10.2: clients/.../consumer/internals/Fetcher.java (resetOffset); since 3.4 OffsetFetcher.java · book 4.1.2
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, cast

from kafka_lite.clients.client_request import ClientResponse, RequestBuilder
from kafka_lite.clients.cluster import Node
from kafka_lite.clients.metadata import Metadata
from kafka_lite.clients.request_future import (
    FunctionAdapter,
    RequestFuture,
    StaleMetadataError,
    is_retriable,
)
from kafka_lite.common.errors import Errors
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import ConsumerTimeoutError
from kafka_lite.consumer.consumer_network_client import ConsumerNetworkClient
from kafka_lite.consumer.offset_and_metadata import (
    EARLIEST_TIMESTAMP,
    LATEST_TIMESTAMP,
    OffsetAndTimestamp,
    OffsetResetStrategy,
)
from kafka_lite.consumer.subscription_state import SubscriptionState
from kafka_lite.consumer.timer import Timer
from kafka_lite.protocol.messages.api_02_list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)

logger = logging.getLogger(__name__)

LATEST_LIST_OFFSETS_VERSION = 6
CONSUMER_REPLICA_ID = -1
UNKNOWN_OFFSET = -1

RETRIABLE = frozenset({
    Errors.NOT_LEADER_OR_FOLLOWER, Errors.REPLICA_NOT_AVAILABLE, Errors.KAFKA_STORAGE_ERROR,
    Errors.OFFSET_NOT_AVAILABLE, Errors.LEADER_NOT_AVAILABLE, Errors.FENCED_LEADER_EPOCH, Errors.UNKNOWN_LEADER_EPOCH,
    Errors.UNKNOWN_TOPIC_OR_PARTITION,
})  # fmt: skip


class ListOffsetsResult(NamedTuple):
    """The response of one leader, or of all of them."""

    offsets: dict[TopicPartition, OffsetAndTimestamp]
    """Without partitions that have no record so late."""
    to_retry: set[TopicPartition]
    """Partitions for which the leader returned a retriable error."""


class OffsetFetcher:
    """Sends ListOffsets requests, for two purposes.

    Resets are *asynchronous*: ``reset_positions_if_needed`` sends the requests that are due, and the responses set
    positions, so that a partition without a leader does not block the others (as it does in 0.10.2). The user's calls
    (``offsets_for_times``, ``beginning_offsets``, ``end_offsets``) wait for the responses of all leaders.
    """

    def __init__(
        self,
        client: ConsumerNetworkClient,
        metadata: Metadata,
        subscriptions: SubscriptionState,
        *,
        retry_backoff_ms: float = 100,
        request_timeout_ms: float = 30_000,
        read_committed: bool = False,
        time: Time = SYSTEM_TIME,
    ) -> None:
        self._client = client
        self._metadata = metadata
        self._subscriptions = subscriptions
        self._retry_backoff_ms = retry_backoff_ms
        self._request_timeout_ms = request_timeout_ms
        self._read_committed = read_committed
        self._time = time
        self._reset_error: BaseException | None = None

    # ── Resets ────────────────────────────────────────────────────────────────────────────────────────────────────

    def reset_positions_if_needed(self) -> None:
        """Request the offsets of partitions that await a reset. Raises the fatal error of an earlier response, if
        any."""
        if self._reset_error is not None:
            error, self._reset_error = self._reset_error, None
            raise error
        now_ms = self._time.hi_res_ms()
        strategies = self._subscriptions.partitions_needing_reset(now_ms)
        if not strategies:
            return
        timestamps = {partition: strategy.timestamp for partition, strategy in strategies.items()}
        by_leader, _ = self._group_by_leader(timestamps)  # the others: as soon as the metadata names their leaders
        for node, wanted in by_leader:
            self._subscriptions.set_next_retry(wanted, now_ms + self._request_timeout_ms)
            future = self._send_list_offsets(node, wanted)
            future.add_listener(self._on_reset_response(wanted, strategies), self._on_reset_failure(wanted))

    def _on_reset_response(
        self, wanted: Mapping[TopicPartition, int], strategies: Mapping[TopicPartition, OffsetResetStrategy]
    ) -> Callable[[ListOffsetsResult], None]:
        def on_success(result: ListOffsetsResult) -> None:
            for partition, found in result.offsets.items():
                if self._subscriptions.maybe_seek_unvalidated(partition, found.offset, strategies[partition]):
                    logger.info("Resetting offset for partition %s to position %d", partition, found.offset)
            missing = wanted.keys() - result.offsets.keys()
            if missing:
                self._retry_later(missing)

        return on_success

    def _on_reset_failure(self, wanted: Mapping[TopicPartition, int]) -> Callable[[BaseException], None]:
        def on_failure(error: BaseException) -> None:
            self._retry_later(wanted)
            if not is_retriable(error) and self._reset_error is None:
                self._reset_error = error

        return on_failure

    def _retry_later(self, partitions: Iterable[TopicPartition]) -> None:
        self._subscriptions.set_next_retry(partitions, self._time.hi_res_ms() + self._retry_backoff_ms)
        self._metadata.request_update()

    # ── the user's calls ──────────────────────────────────────────────────────────────────────────────────────────

    def offsets_for_times(
        self, timestamps: Mapping[TopicPartition, int], timer: Timer
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """For each partition the first record at or after a time (ms since the epoch); None if there is none."""
        found = self._fetch_offsets(timestamps, timer)
        return {
            partition: offset if (offset := found.get(partition)) and offset.offset != UNKNOWN_OFFSET else None
            for partition in timestamps
        }

    def beginning_offsets(self, partitions: Iterable[TopicPartition], timer: Timer) -> dict[TopicPartition, int]:
        """The first offset of each log."""
        return self._ends(partitions, EARLIEST_TIMESTAMP, timer)

    def end_offsets(self, partitions: Iterable[TopicPartition], timer: Timer) -> dict[TopicPartition, int]:
        """The offset after the last readable record of each log."""
        return self._ends(partitions, LATEST_TIMESTAMP, timer)

    def _ends(self, partitions: Iterable[TopicPartition], which: int, timer: Timer) -> dict[TopicPartition, int]:
        found = self._fetch_offsets(dict.fromkeys(partitions, which), timer)
        return {partition: each.offset for partition, each in found.items()}

    def _fetch_offsets(
        self, timestamps: Mapping[TopicPartition, int], timer: Timer
    ) -> dict[TopicPartition, OffsetAndTimestamp]:
        """Ask until every leader has responded. Raises ConsumerTimeoutError."""
        left, offsets = dict(timestamps), dict[TopicPartition, OffsetAndTimestamp]()
        for partition in timestamps:
            self._metadata.add(partition.topic)
        while left:
            future = self._send_to_leaders(left)
            if self._client.poll_future(future, timer):
                if future.failed and not future.is_retriable:
                    raise future.exception
                if future.succeeded:
                    offsets |= future.value.offsets
                    left = {partition: time for partition, time in left.items() if partition not in offsets}
                    if not left:
                        break
            if timer.is_expired:
                names = sorted(str(each) for each in left)
                why = self._client.why_timed_out()
                raise ConsumerTimeoutError(f"Failed to get offsets by times in time, for {', '.join(names)}.{why}")
            self._client.await_metadata_update(timer.part(self._retry_backoff_ms))
        return offsets

    def _send_to_leaders(self, timestamps: Mapping[TopicPartition, int]) -> RequestFuture[ListOffsetsResult]:
        """Ask all leaders. The future succeeds when each has responded or failed with a retriable error."""
        by_leader, without_leader = self._group_by_leader(timestamps)
        if not by_leader:
            return RequestFuture.failure(StaleMetadataError(f"the leaders of {sorted(timestamps)} are unknown"))
        combined_future: RequestFuture[ListOffsetsResult] = RequestFuture()
        combined = ListOffsetsResult({}, set(without_leader))
        waiting = len(by_leader)

        def add(result: ListOffsetsResult) -> None:
            nonlocal waiting
            waiting -= 1
            combined.offsets.update(result.offsets)
            combined.to_retry.update(result.to_retry)
            if waiting == 0 and not combined_future.is_done:
                combined_future.complete(combined)

        def fail(error: BaseException) -> None:
            if not is_retriable(error):
                if not combined_future.is_done:
                    combined_future.fail(error)
                return
            add(ListOffsetsResult({}, set()))

        for node, wanted in by_leader:
            self._send_list_offsets(node, wanted).add_listener(add, fail)
        return combined_future

    # ── Requests ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _group_by_leader(
        self, timestamps: Mapping[TopicPartition, int]
    ) -> tuple[list[tuple[Node, dict[TopicPartition, int]]], list[TopicPartition]]:
        cluster = self._metadata.fetch()
        groups: dict[int, tuple[Node, dict[TopicPartition, int]]] = {}
        without_leader = []
        for partition, timestamp in timestamps.items():
            node = cluster.leader_for(partition)
            if node is None or self._client.is_unavailable(node):
                self._metadata.request_update()
                without_leader.append(partition)
            else:
                groups.setdefault(node.id, (node, {}))[1][partition] = timestamp
        return list(groups.values()), without_leader

    def _send_list_offsets(
        self, node: Node, timestamps: Mapping[TopicPartition, int]
    ) -> RequestFuture[ListOffsetsResult]:
        cluster = self._metadata.fetch()
        topics: dict[str, list[ListOffsetsPartition]] = {}
        for partition, timestamp in timestamps.items():
            info = cluster.partition(partition)
            asked = ListOffsetsPartition(
                partition_index=partition.partition,
                current_leader_epoch=-1 if info is None else info.leader_epoch,  # a broker in another epoch refuses
                timestamp=timestamp,
            )
            topics.setdefault(partition.topic, []).append(asked)
        request = ListOffsetsRequest(
            replica_id=CONSUMER_REPLICA_ID,
            isolation_level=int(self._read_committed),
            topics=[ListOffsetsTopic(name=name, partitions=partitions) for name, partitions in topics.items()],
        )
        # Version 0 only knows the times of segments. That is enough for the ends of a log, but not for timestamps.
        oldest = 1 if any(timestamp >= 0 for timestamp in timestamps.values()) else 0

        def build(version: int) -> ListOffsetsRequest:
            if version < 2:
                request.isolation_level = 0  # 0.10 has no transactions: everything is committed
            return request

        builder = RequestBuilder.by(request.API_KEY, build, oldest, LATEST_LIST_OFFSETS_VERSION)
        logger.debug("Sending ListOffsets for %s to broker %s", dict(timestamps), node)
        return self._client.send(node, builder).compose(FunctionAdapter(_list_offsets_result))


def _list_offsets_result(client_response: ClientResponse) -> ListOffsetsResult:
    """The offsets in a response. Raises ApiError for errors that are not retriable."""
    response = cast(ListOffsetsResponse, client_response.response)
    result = ListOffsetsResult({}, set())
    for topic in response.topics:
        for each in topic.partitions:
            partition, error = TopicPartition(topic.name, each.partition_index), Errors.for_code(each.error_code)
            if error is Errors.NONE:
                result.offsets[partition] = _offset_of(each)
            elif error in RETRIABLE:
                logger.debug("Attempt to fetch offsets for partition %s failed: %s", partition, error.name)
                result.to_retry.add(partition)
            elif error is Errors.UNSUPPORTED_FOR_MESSAGE_FORMAT:
                # The log is still in format v0, which has no timestamps: treat it as not found.
                result.offsets[partition] = OffsetAndTimestamp(UNKNOWN_OFFSET, -1)
            elif error is Errors.TOPIC_AUTHORIZATION_FAILED:
                raise error.exception(f"Not authorized to access topics: [{topic.name}]")
            else:
                logger.warning("Attempt to fetch offsets for partition %s failed: %s", partition, error.name)
                result.to_retry.add(partition)
    return result


def _offset_of(partition: ListOffsetsPartitionResponse) -> OffsetAndTimestamp:
    if partition.old_style_offsets:
        return OffsetAndTimestamp(partition.old_style_offsets[0], -1)
    return OffsetAndTimestamp(partition.offset, partition.timestamp, partition.leader_epoch)
