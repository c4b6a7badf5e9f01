"""Fetches records ahead of the user's polls, and returns them by partition in order of position.

Kafka 0.10.2: clients/.../consumer/internals/Fetcher.java (leader epochs: since 2.1, KIP-320) · book 4.1.4, 4.1.5
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, cast

from kafka_lite.clients.client_request import ClientResponse, RequestBuilder
from kafka_lite.clients.cluster import Node
from kafka_lite.clients.fetch_metadata import INVALID_SESSION_ID
from kafka_lite.clients.fetch_session_handler import LAST_VERSION_BY_NAME, FetchRequestData, FetchSessionHandler
from kafka_lite.clients.metadata import Metadata
from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.sendable import Buffer
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import OffsetOutOfRangeError, RecordTooLargeError
from kafka_lite.consumer.consumer_network_client import ConsumerNetworkClient
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.consumer.fetcher_metrics import FetchManagerMetrics, FetchResponseMetricAggregator
from kafka_lite.consumer.offset_and_metadata import OffsetResetStrategy
from kafka_lite.consumer.partition_records import CompletedFetch, PartitionRecords, has_complete_batch
from kafka_lite.consumer.read_replicas import ReadReplicas
from kafka_lite.consumer.record_batch_reader import Deserialize
from kafka_lite.consumer.subscription_state import SubscriptionState, TopicPartitionState
from kafka_lite.consumer.timer import Timer
from kafka_lite.protocol.messages.api_01_fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic

logger = logging.getLogger(__name__)

LATEST_FETCH_VERSION = 15
"""Later versions tell of other leaders in the response (KIP-951)."""
FIRST_VERSION_WITH_WHOLE_BATCHES = 3
"""From this version on, the first batch is sent whole, however large it is."""

INVALID_METADATA = frozenset({
    Errors.NOT_LEADER_OR_FOLLOWER, Errors.REPLICA_NOT_AVAILABLE, Errors.KAFKA_STORAGE_ERROR,
    Errors.FENCED_LEADER_EPOCH, Errors.UNKNOWN_LEADER_EPOCH, Errors.OFFSET_NOT_AVAILABLE, Errors.LEADER_NOT_AVAILABLE,
    Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.UNKNOWN_TOPIC_ID, Errors.INCONSISTENT_TOPIC_ID,
})  # fmt: skip
"""Errors that suggest that another broker leads the partition by now, or that the topic was made again."""
WARNED_OF = frozenset({Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.UNKNOWN_TOPIC_ID, Errors.INCONSISTENT_TOPIC_ID})


class FetchPosition(NamedTuple):
    """The request for one partition."""

    offset: int
    leader_epoch: int
    """The epoch in which the broker leads the partition, as far as the consumer knows; -1 if it knows none. A broker in
    another epoch refuses: one that does not know yet that it was replaced could say that the offset is out of range."""


SHORT_WAIT_MS: Final = 100
"""How long a fetch waits at most that leaves partitions of its leader out, because they have buffered records. They
will need the connection soon. (Kafka's waits for ``fetch.max.wait.ms``, and with it a partition that was emptied.)"""

FetchData = FetchRequestData[FetchPosition]
"""A request: the positions by partition, and its place in the session with the broker."""


@dataclass(frozen=True)
class FetchConfig:
    """The settings of a fetcher, named after their keys."""

    min_bytes: int = 1
    max_bytes: int = 50 * 1024 * 1024
    max_wait_ms: int = 500
    max_partition_fetch_bytes: int = 1024 * 1024
    max_poll_records: int = 500
    check_crcs: bool = True
    read_committed: bool = False
    rack_id: str = ""
    read_replica_lease_ms: float = 300_000
    """How long a follower is read from until the leader is asked again: ``metadata.max.age.ms``."""
    deserialize_key: Deserialize | None = None
    deserialize_value: Deserialize | None = None


class Fetcher:
    """Sends fetches for all partitions without buffered records, and returns what has arrived.

    ::

        send_fetches ─▶ one request per broker ─▶ … ─▶ response ─▶ completed fetches, one per partition
                                                                       │ next_in_line: PartitionRecords
        fetched_records ◀── up to max.poll.records ◀───────────────────┘
                            the position follows what the user is given, not what was fetched

    Buffered records are discarded if they do not start at the position any more: after a seek, or if the partition was
    revoked and assigned again. Records of paused partitions stay buffered until they are resumed (0.10.2 discards them
    and fetches again). A session with each leader (KIP-227) saves naming partitions whose position has not changed.
    Belongs to the thread that uses the consumer.
    """

    def __init__(
        self,
        client: ConsumerNetworkClient,
        metadata: Metadata,
        subscriptions: SubscriptionState,
        config: FetchConfig,
        metrics: FetchManagerMetrics,
        time: Time = SYSTEM_TIME,
    ) -> None:
        self._client = client
        self._metadata = metadata
        self._subscriptions = subscriptions
        self._config = config
        self._metrics = metrics
        self._read_replicas = ReadReplicas(subscriptions, metadata, metrics, config.read_replica_lease_ms, time)
        self._completed: deque[CompletedFetch | PartitionRecords] = deque()
        self._next_in_line: PartitionRecords | None = None
        self._nodes_with_pending_fetches: set[int] = set()
        self._session_handlers: dict[int, FetchSessionHandler[FetchPosition]] = {}

    # ── Sending ───────────────────────────────────────────────────────────────────────────────────────────────────

    def has_available_fetches(self) -> bool:
        """Whether records have arrived that may be returned."""
        return any(self._subscriptions.is_fetchable(each.partition) for each in self._completed)

    def send_fetches(self) -> int:
        """Send a request to each broker to read from that has none in flight; returns the number of requests."""
        requests = self._prepare_fetch_requests()
        for node, positions in requests.values():
            data = self._session_handler(node).build(positions, self._metadata.fetch().topic_ids)
            logger.debug("Sending fetch for partitions %s to broker %s", list(data.session_partitions), node)
            self._nodes_with_pending_fetches.add(node.id)
            future = self._client.send(node, self._fetch_request(data, self._max_wait_ms(node)))
            future.add_listener(self._on_response(node, data), self._on_failure(node, data))
        return len(requests)

    def _session_handler(self, node: Node) -> FetchSessionHandler[FetchPosition]:
        handler = self._session_handlers.get(node.id)
        if handler is None:
            handler = self._session_handlers[node.id] = FetchSessionHandler(node.id)
        return handler

    def _prepare_fetch_requests(self) -> dict[int, tuple[Node, dict[TopicPartition, FetchPosition]]]:
        """The leaders, or nearer followers, to send a request to, and the positions of their partitions."""
        cluster = self._metadata.fetch()
        requests: dict[int, tuple[Node, dict[TopicPartition, FetchPosition]]] = {}
        for partition in self._fetchable_partitions():
            info = cluster.partition(partition)
            if info is None or info.leader is None:
                self._metadata.request_update()
                continue
            node = self._read_replicas.node_of(partition, info.leader)
            if node.id not in self._nodes_with_pending_fetches and not self._client.is_unavailable(node):
                offset = self._subscriptions.position(partition)
                assert offset is not None
                position = FetchPosition(offset, info.leader_epoch)
                requests.setdefault(node.id, (node, {}))[1][partition] = position
        return requests

    def _fetchable_partitions(self) -> list[TopicPartition]:
        """Partitions to fetch, without those that have buffered records."""
        fetchable = self._subscriptions.fetchable_partitions()
        if self._next_in_line is None and not self._completed:
            return fetchable
        buffered = {each.partition for each in self._buffered()}
        return [partition for partition in fetchable if partition not in buffered]

    def _buffered(self) -> Iterator[CompletedFetch | PartitionRecords]:
        yield from self._completed
        if self._next_in_line is not None and not self._next_in_line.is_consumed:
            yield self._next_in_line

    def _max_wait_ms(self, node: Node) -> int:
        """How long the broker may wait for records of the partitions that it is asked for."""
        cluster = self._metadata.fetch()
        for each in self._buffered():
            if isinstance(each, PartitionRecords) or each.data.records:
                info = cluster.partition(each.partition)
                leader = info.leader if info is not None else None
                if leader is not None and self._read_replicas.node_of(each.partition, leader) == node:
                    return min(self._config.max_wait_ms, SHORT_WAIT_MS)
        return self._config.max_wait_ms

    def _fetch_request(self, data: FetchData, max_wait_ms: int) -> RequestBuilder:
        topics: dict[str, FetchTopic] = {}
        for partition, position in data.to_send.items():
            topic = FetchTopic(topic=partition.topic, topic_id=data.topic_ids[partition], partitions=[])
            topics.setdefault(partition.topic, topic).partitions.append(
                FetchPartition(
                    partition=partition.partition,
                    current_leader_epoch=position.leader_epoch,
                    fetch_offset=position.offset,
                    partition_max_bytes=self._config.max_partition_fetch_bytes,
                )
            )
        request = lambda version: FetchRequest(  # noqa: E731
            max_wait_ms=max_wait_ms,
            min_bytes=self._config.min_bytes,
            max_bytes=self._config.max_bytes,
            isolation_level=int(self._config.read_committed),
            session_id=data.metadata.session_id,
            session_epoch=data.metadata.epoch,
            topics=list(topics.values()),
            forgotten_topics_data=data.forgotten_topics(version),
            rack_id=self._config.rack_id,
        )
        latest = LATEST_FETCH_VERSION if data.uses_topic_ids else LAST_VERSION_BY_NAME
        return RequestBuilder.by(FetchRequest.API_KEY, request, 0, latest)

    # ── responses ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _on_response(self, node: Node, data: FetchData) -> Callable[[ClientResponse], None]:
        def on_success(client_response: ClientResponse) -> None:
            self._nodes_with_pending_fetches.discard(node.id)
            self._handle_response(node, data, client_response)

        return on_success

    def _on_failure(self, node: Node, data: FetchData) -> Callable[[BaseException], None]:
        def on_failure(error: BaseException) -> None:
            self._nodes_with_pending_fetches.discard(node.id)
            self._session_handler(node).handle_error(error)
            for partition in data.session_partitions:
                self._read_replicas.clear(partition)

        return on_failure

    def _handle_response(self, node: Node, request: FetchData, client_response: ClientResponse) -> None:
        response = cast(FetchResponse, client_response.response)
        session = self._session_handler(node)
        data_by_partition = session.partitions_of(response, client_response.api_version)
        if not session.handle_response(response, data_by_partition):
            return
        positions = request.session_partitions
        aggregator = FetchResponseMetricAggregator(self._metrics, data_by_partition)
        for partition, data in data_by_partition.items():
            self._completed.append(
                CompletedFetch(
                    partition, positions[partition].offset, data, client_response.api_version, aggregator.record
                )
            )
        self._metrics.fetch_latency.record(client_response.request_latency_ms)
        self._metrics.throttle_time.record(response.throttle_time_ms)

    # ── returning records ─────────────────────────────────────────────────────────────────────────────────────────

    def fetched_records(self) -> dict[TopicPartition, list[ConsumerRecord]]:
        """Up to ``max.poll.records`` buffered records, by partition. The positions move past them.

        Raises OffsetOutOfRangeError, RecordTooLargeError, CorruptRecordError, RecordDeserializationError, or ApiError
        if no record comes before the error. Otherwise the next call raises it.
        """
        fetched: dict[TopicPartition, list[ConsumerRecord]] = {}
        paused: list[PartitionRecords] = []
        left = self._config.max_poll_records
        try:
            while left > 0:
                current = self._next_in_line
                if current is None or current.is_consumed:
                    if not self._completed:
                        break
                    self._take_next(keep_errors=bool(fetched))
                elif self._is_held_back(current.partition):
                    paused.append(current)
                    self._next_in_line = None
                else:
                    records = self._drain(current, left)
                    if records:
                        left -= len(records)
                        fetched.setdefault(current.partition, []).extend(records)
        except KafkaError:
            if not fetched:
                raise
        finally:
            self._completed.extend(paused)
        return fetched

    def _is_held_back(self, partition: TopicPartition) -> bool:
        state = self._subscriptions.state_or_none(partition)
        return state is not None and (state.paused or not self._subscriptions.is_subscribed(partition))

    def _take_next(self, keep_errors: bool) -> None:
        """Make the oldest completed fetch the next in line. With ``keep_errors``, one that raises stays where it is."""
        oldest = self._completed[0]
        try:
            self._next_in_line = oldest if isinstance(oldest, PartitionRecords) else self._parse(oldest)
        except KafkaError:
            if not keep_errors:
                self._completed.popleft()
            raise
        self._completed.popleft()

    def _drain(self, current: PartitionRecords, limit: int) -> list[ConsumerRecord]:
        partition = current.partition
        state = self._subscriptions.state_or_none(partition)
        if state is None or state.position != current.next_fetch_offset:
            logger.debug("Ignoring fetched records of %s: its position has changed", partition)
            current.drain()
            return []
        records = current.fetch_records(limit)
        state.position = current.next_fetch_offset
        end = state.last_stable_offset if self._config.read_committed else state.high_watermark
        if records and end is not None:
            self._metrics.record_partition_lag(partition, max(0, end - state.position))
        if records and state.log_start_offset is not None:
            self._metrics.record_partition_lead(partition, state.position - state.log_start_offset)
        if current.is_consumed and current.bytes_read > 0:
            self._subscriptions.move_partition_to_end(partition)
        return records

    # ── parsing responses ─────────────────────────────────────────────────────────────────────────────────────────

    def _parse(self, fetch: CompletedFetch) -> PartitionRecords | None:
        """The records of a completed fetch; None if there are none. Raises the errors that the user must handle."""
        partition, error = fetch.partition, Errors.for_code(fetch.data.error_code)
        state = self._subscriptions.state_or_none(partition)
        parsed: PartitionRecords | None = None
        try:
            if state is None or state.position != fetch.fetch_offset:
                logger.debug("Discarding fetch of %s at offset %d: it is stale", partition, fetch.fetch_offset)
            elif error is Errors.NONE:
                parsed = self._parse_records(fetch, state)
            else:
                self._handle_error(fetch, error)
        finally:
            if parsed is None:
                fetch.on_drained(partition, 0, 0)
            if error is not Errors.NONE:
                # Move it to the end, so that partitions of one topic stay together in requests.
                self._subscriptions.move_partition_to_end(partition)
        return parsed

    def _parse_records(self, fetch: CompletedFetch, state: TopicPartitionState) -> PartitionRecords:
        data = fetch.data
        records = cast(Buffer | None, data.records)
        if records and not has_complete_batch(records):
            if fetch.version < FIRST_VERSION_WITH_WHOLE_BATCHES:
                raise RecordTooLargeError({fetch.partition: fetch.fetch_offset}, self._config.max_partition_fetch_bytes)
            raise KafkaError(
                f"Failed to make progress reading messages at {fetch.partition}={fetch.fetch_offset}. "
                "Received a non-empty fetch response from the server, but no complete records were found."
            )
        if data.high_watermark >= 0:
            state.high_watermark = data.high_watermark
        if data.log_start_offset >= 0:
            state.log_start_offset = data.log_start_offset
        if data.last_stable_offset >= 0:
            state.last_stable_offset = data.last_stable_offset
        if data.preferred_read_replica >= 0:
            self._read_replicas.prefer(fetch.partition, data.preferred_read_replica)
        return PartitionRecords(
            fetch,
            check_crcs=self._config.check_crcs,
            read_committed=self._config.read_committed,
            deserialize_key=self._config.deserialize_key,
            deserialize_value=self._config.deserialize_value,
        )

    def _handle_error(self, fetch: CompletedFetch, error: Errors) -> None:
        partition = fetch.partition
        if error in INVALID_METADATA:
            level = logging.WARNING if error in WARNED_OF else logging.DEBUG
            logger.log(level, "Error in fetch for partition %s: %s", partition, error.name)
            self._metadata.request_update()
            self._read_replicas.clear(partition)
        elif error is Errors.OFFSET_OUT_OF_RANGE:
            if self._read_replicas.clear(partition):
                logger.debug("Reading %s at offset %d from its leader, for its follower", partition, fetch.fetch_offset)
                return  # the follower may lag; if the leader says the same, it is true
            if self._subscriptions.default_reset_strategy is OffsetResetStrategy.NONE:
                raise OffsetOutOfRangeError({partition: fetch.fetch_offset})
            offset = fetch.fetch_offset
            logger.info("Fetch offset %d is out of range for partition %s, resetting offset", offset, partition)
            self._subscriptions.need_offset_reset(partition)
        elif error is Errors.TOPIC_AUTHORIZATION_FAILED:
            raise error.exception(f"Not authorized to access topics: [{partition.topic}]")
        elif error is Errors.CORRUPT_MESSAGE:
            offset = fetch.fetch_offset
            raise error.exception(f"Encountered corrupt message when fetching offset {offset} for {partition}")
        elif error is Errors.UNKNOWN_SERVER_ERROR:
            logger.warning("Unknown server error while fetching offset %d for %s", fetch.fetch_offset, partition)
        else:
            raise error.exception(f"Unexpected error {error.name} while fetching {partition}: {error.message}")

    # ── Assignment ────────────────────────────────────────────────────────────────────────────────────────────────

    def on_assignment(self, assigned: frozenset[TopicPartition]) -> None:
        """Discard buffered records of partitions that are not assigned."""
        self._metrics.update_assignment(assigned)
        kept = [each for each in self._completed if each.partition in assigned]
        for each in self._completed:
            if each.partition not in assigned:
                self._discard(each)
        self._completed = deque(kept)
        if self._next_in_line is not None and self._next_in_line.partition not in assigned:
            self._discard(self._next_in_line)
            self._next_in_line = None

    @staticmethod
    def _discard(fetch: CompletedFetch | PartitionRecords) -> None:
        if isinstance(fetch, PartitionRecords):
            fetch.drain()
        else:
            fetch.on_drained(fetch.partition, 0, 0)

    def close(self, timer: Timer) -> None:
        """End the sessions, and discard all buffered records."""
        try:
            self._close_sessions(timer)
        finally:
            self.on_assignment(frozenset())

    def _close_sessions(self, timer: Timer) -> None:
        """End the sessions with reachable brokers that no fetch is waiting at; the others forget theirs in time.

        Kafka's consumer lets the waiting fetches end first, which takes up to ``fetch.max.wait.ms``.
        """
        for node in self._metadata.fetch().nodes:
            handler = self._session_handlers.get(node.id)
            if handler is None or handler.session_id == INVALID_SESSION_ID:
                continue
            if node.id not in self._nodes_with_pending_fetches and not self._client.is_unavailable(node):
                handler.notify_close()
                self._client.poll_future(
                    self._client.send(node, self._fetch_request(handler.build({}), self._config.max_wait_ms)), timer
                )
