"""Fetch: reading records from logs.

Kafka 0.10.2: core/.../server/KafkaApis.scala (handleFetchRequest) · book 2.3.5
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from uuid import UUID

from kafka_lite.clients.fetch_metadata import FINAL_EPOCH, INVALID_SESSION_ID, FetchMetadata
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.common.sendable import Part, size_of
from kafka_lite.common.topic_partition import TopicPartition, known_topic_partition
from kafka_lite.log.files.converted_records import begins_with_newer, converted_records
from kafka_lite.log.files.file_message_set import FileMessageSetSlice
from kafka_lite.log.log import Log
from kafka_lite.log.producers.aborted_txn import AbortedTxn
from kafka_lite.network.request import Request
from kafka_lite.protocol.messages import api_01_fetch as fetch
from kafka_lite.record.conversion import magic_for_fetch_version
from kafka_lite.record.record import MAGIC_V2
from kafka_lite.server.apis.api_handler import Respond, error_for_version
from kafka_lite.server.apis.leader_hints import UNKNOWN_LEADER, CurrentLeader
from kafka_lite.server.fetch_params import READ_COMMITTED, ClientMetadata, FetchParams, FetchPartition, LogReadResult
from kafka_lite.server.fetch_sessions.fetch_context import Asked, FetchContext, Results, SessionlessFetchContext
from kafka_lite.server.fetch_sessions.fetch_manager import FetchManager
from kafka_lite.server.fetch_sessions.fetch_session import FetchKey
from kafka_lite.server.fetch_sessions.fetched_topics import FetchedTopicIds, FetchedTopics, ReadResults
from kafka_lite.server.quotas.request_handler_helper import RequestHandlerHelper, client_waits
from kafka_lite.server.replica_manager import ReplicaManager

logger = logging.getLogger(__name__)

FIRST_VERSION_WITH_ZSTD = 10
FIRST_VERSION_WITH_RACK = 11
FIRST_VERSION_BY_TOPIC_ID = 13
FIRST_VERSION_WITH_REPLICA_STATE = 15
FIRST_VERSION_WITH_LEADER = 16
ERRORS_WITH_LEADER = frozenset({Errors.NOT_LEADER_OR_FOLLOWER.code, Errors.FENCED_LEADER_EPOCH.code})
"""Errors after which a client wants to know who leads (KIP-951)."""
LATER_ERRORS = {Errors.KAFKA_STORAGE_ERROR: (6, Errors.NOT_LEADER_OR_FOLLOWER)}
"""Errors that older clients do not know: the first version that has them, and the replacement before."""

_new_fetch_response = fetch.FetchResponse.maker("error_code", "session_id", "responses")
_new_partition_data = fetch.PartitionData.maker(
    "partition_index",
    "error_code",
    "high_watermark",
    "last_stable_offset",
    "log_start_offset",
    "aborted_transactions",
    "records",
)


class FetchApis:
    """The handler of Fetch. It does not block; records for old consumers are converted by another thread."""

    def __init__(
        self,
        replica_manager: ReplicaManager,
        fetch_manager: FetchManager,
        request_helper: RequestHandlerHelper,
        denied_topics: Callable[[Request, bool, set[str]], set[str]] | None = None,
        convert: Callable[[Callable[[], object]], object] = lambda task: task(),
        topic_name: Callable[[UUID], str | None] = lambda _topic_id: None,
        current_leader: CurrentLeader = lambda _partition, _listener: UNKNOWN_LEADER,
    ) -> None:
        """``denied_topics(request, from_follower, topics)``: those that may not be read; None without an authorizer.

        ``convert`` calls its argument later in a thread that may decompress much: ``DownConversions.submit``.
        ``topic_name``: the name of the topic with an id, if the metadata cache knows it.
        """
        self._topic_name = topic_name
        self._current_leader = current_leader
        self._denied_topics = denied_topics
        self._replicas = replica_manager
        self._fetch_manager = fetch_manager
        self._request_helper = request_helper
        self._quotas = request_helper.quotas
        self._convert = convert

    def handle_fetch(self, request: Request, body: fetch.FetchRequest, respond: Respond) -> None:
        """Read from every partition of the request or of its session; wait up to ``max_wait_ms`` for ``min_bytes``."""
        version = request.header.api_version
        has_state = version >= FIRST_VERSION_WITH_REPLICA_STATE
        replica_id = body.replica_state.replica_id if has_state else body.replica_id
        context = self._context(body, version, replica_id >= 0)
        topics = self._topics(context, version)
        if self._denied_topics is not None:
            named = {partition.topic for partition, _ in topics.readable}
            denied = self._denied_topics(request, replica_id >= 0, named)
            if denied:
                topics.refuse(denied)
        asked_bytes = body.max_bytes if version >= 3 else sum(asked.max_bytes for _, asked in context.partitions)
        max_bytes = min(asked_bytes, self._replicas.config.fetch_max_bytes)
        may_be_throttled = self._quotas.is_enabled and replica_id < 0 and client_waits(request)
        if may_be_throttled:
            max_bytes = min(max_bytes, self._request_helper.max_fetch_bytes(request))
        is_hopeless = bool(topics.failed) and not topics.readable
        params = _fetch_params(request, body, replica_id, max_bytes, 0 if is_hopeless else body.max_wait_ms)

        def send(read: ReadResults) -> None:
            results = topics.as_asked(read)
            if self._needs_conversion(version, results):
                self._convert(lambda: complete(results))
            else:
                complete(results)

        def complete(results: Results) -> None:
            if request.client_has_left:
                context.select_nothing()
                respond(None)
                return
            if may_be_throttled:
                size = self._response_size(version, context, topics, results)
                throttle_time_ms = self._request_helper.throttle_fetch(request, size)
                if throttle_time_ms > 0:
                    respond(_throttled_response(context, throttle_time_ms))
                    return
            response = self._fetch_response(version, context, topics, results, params.from_follower)
            if version >= FIRST_VERSION_WITH_LEADER:
                self._name_leaders(response, topics, request.listener_name)
            respond(response)

        self._replicas.fetch_messages(params, topics.readable, send)

    def _topics(self, context: FetchContext, version: int) -> FetchedTopics:
        if version < FIRST_VERSION_BY_TOPIC_ID:
            return FetchedTopics(context.partitions)
        return FetchedTopicIds(context.partitions, self._topic_name, self._log_topic_id)

    def _log_topic_id(self, topic_partition: TopicPartition) -> UUID | None:
        partition = self._replicas.get_partition(topic_partition)
        log = partition.log if partition is not None else None
        return log.topic_id if log is not None else None

    def _context(self, body: fetch.FetchRequest, version: int, from_follower: bool) -> FetchContext:
        """The context of the request: the partitions that it names, and those of its session.

        A partition that is named twice is read once, from its last offset.
        """
        by_id = version >= FIRST_VERSION_BY_TOPIC_ID
        named: dict[FetchKey, FetchPartition] = {
            TopicIdPartition(topic.topic_id, p.partition)
            if by_id
            else known_topic_partition(topic.topic, p.partition): _fetch_partition(p)
            for topic in body.topics
            for p in topic.partitions
        }
        asked: Asked = list(named.items())
        session_id, epoch = body.session_id, body.session_epoch
        if epoch == FINAL_EPOCH and session_id == INVALID_SESSION_ID:
            return SessionlessFetchContext(asked)
        to_forget: list[FetchKey] = [
            TopicIdPartition(each.topic_id, number) if by_id else TopicPartition(each.topic, number)
            for each in body.forgotten_topics_data
            for number in each.partitions
        ]
        metadata = FetchMetadata(session_id, epoch)
        return self._fetch_manager.new_context(metadata, from_follower, asked, to_forget, by_id)

    def _fetch_response(
        self, version: int, context: FetchContext, topics: FetchedTopics, results: Results, to_follower: bool
    ) -> fetch.FetchResponse:
        stats, quota = self._replicas.broker_topic_stats, self._replicas.quotas.leader
        responses: list[fetch.FetchableTopicResponse] = []
        last: object = None
        for key, result in context.update_and_select(results):
            if key[0] != last:
                last = key[0]
                responses.append(topics.new_response(key))
            topic_partition = topics.name_of(key)
            data = self._fetch_partition_data(version, topic_partition, result)
            responses[-1].partitions.append(data)
            if data.records:
                size_bytes = size_of(data.records)
                stats.sent(topic_partition, size_bytes)
                if to_follower and quota.is_throttled(topic_partition):
                    quota.record(size_bytes)
        return _new_fetch_response(context.error_code, context.session_id, responses)

    def _name_leaders(self, response: fetch.FetchResponse, topics: FetchedTopics, listener_name: str) -> None:
        """Say who leads the partitions that this broker does not lead, or not in the client's epoch."""
        nodes: dict[int, fetch.NodeEndpoint] = {}
        for topic in response.responses:
            for data in topic.partitions:
                if data.error_code in ERRORS_WITH_LEADER:
                    partition = topics.name_of(TopicIdPartition(topic.topic_id, data.partition_index))
                    leader = self._current_leader(partition, listener_name)
                    data.current_leader = fetch.LeaderIdAndEpoch(
                        leader_id=leader.leader_id, leader_epoch=leader.leader_epoch
                    )
                    if (node := leader.node) is not None:
                        nodes[node.id] = fetch.NodeEndpoint(
                            node_id=node.id, host=node.host, port=node.port, rack=node.rack
                        )
        response.node_endpoints = list(nodes.values())

    def _response_size(self, version: int, context: FetchContext, topics: FetchedTopics, results: Results) -> int:
        """Bytes of the response, were its records not converted; the session stays as it is."""
        responses: dict[object, fetch.FetchableTopicResponse] = {}
        records_bytes = 0
        for key, result in context.peek(results):
            if key[0] not in responses:
                responses[key[0]] = topics.new_response(key)
            responses[key[0]].partitions.append(_bounds_of(version, topics.name_of(key), result))
            records_bytes += result.size_in_bytes
        response = _new_fetch_response(0, context.session_id, list(responses.values()))
        return len(response.encode(version)) + records_bytes

    def _fetch_partition_data(
        self, version: int, topic_partition: TopicPartition, result: LogReadResult
    ) -> fetch.PartitionData:
        data = _bounds_of(version, topic_partition, result)
        try:
            data.records = self._records_for_version(version, topic_partition, result)
        except ApiError as failure:
            logger.info("Cannot convert %s for fetch version %d: %s", topic_partition, version, failure)
            return _failed_partition(topic_partition, failure.error)
        except Exception:
            # It fails this partition only; and the thread may be one that completes the fetch of another client.
            logger.exception("Error converting %s for fetch version %d", topic_partition, version)
            return _failed_partition(topic_partition, Errors.UNKNOWN_SERVER_ERROR)
        return data

    @staticmethod
    def _needs_conversion(version: int, results: Results) -> bool:
        newest_magic = magic_for_fetch_version(version)
        if newest_magic == MAGIC_V2:
            return False
        slices = (result.records for _, result in results if isinstance(result.records, FileMessageSetSlice))
        try:
            return any(_has_newer(records, newest_magic) for records in slices)
        except Exception:
            logger.debug("Records that cannot be read", exc_info=True)
            return True  # the conversion meets the error again, and reports it for its partition

    def _records_for_version(self, version: int, topic_partition: TopicPartition, result: LogReadResult) -> Part:
        """The records in a format that a client of this fetch version can read.

        From version 4 on, clients can read every format, so the slice of the file is sent unchanged. Older clients get
        format v1 (versions 2 and 3) or v0, converted if there are newer batches. Raises
        UNSUPPORTED_COMPRESSION_TYPE, and UNSUPPORTED_VERSION if the topic forbids conversion.
        """
        records = result.records
        newest_magic = magic_for_fetch_version(version)
        if not result.size_in_bytes or (newest_magic == MAGIC_V2 and version >= FIRST_VERSION_WITH_ZSTD):
            return records
        partition = self._replicas.get_partition(topic_partition)
        log = partition.log if partition is not None else None
        if version < FIRST_VERSION_WITH_ZSTD and log is not None and log.config.compression_type == "zstd":
            raise Errors.UNSUPPORTED_COMPRESSION_TYPE.exception("the topic uses zstd compression")
        if not isinstance(records, FileMessageSetSlice) or not _has_newer(records, newest_magic):
            return records
        if log is not None and not log.config.message_downconversion_enable:
            raise Errors.UNSUPPORTED_VERSION.exception("message.downconversion.enable of the topic is false")
        position = result.fetch_offset_metadata
        assert position is not None, "a result with records has the fetch offset"
        return _down_converted(log, records, newest_magic, position.message_offset, result.high_watermark)


def _has_newer(records: FileMessageSetSlice, newest_magic: int) -> bool:
    """Whether there are batches of a format above ``newest_magic``."""
    if newest_magic == MAGIC_V2:
        return False
    return begins_with_newer(records, newest_magic) or any(batch.magic > newest_magic for batch in records.headers())


def _fetch_params(
    request: Request, body: fetch.FetchRequest, replica_id: int, max_bytes: int, max_wait_ms: int
) -> FetchParams:
    params = FetchParams(
        replica_id,
        max_wait_ms,
        min(body.min_bytes, max_bytes),
        max_bytes,
        hard_max_bytes=request.header.api_version <= 2,
        committed_only=body.isolation_level == READ_COMMITTED,
        client_metadata=_client_metadata(request, body) if replica_id < 0 else None,
    )
    params.when_client_leaves = request.when_client_leaves
    return params


def _client_metadata(request: Request, body: fetch.FetchRequest) -> ClientMetadata | None:
    """The facts about a consumer for the replica selector; None if it is too old to be sent to a follower."""
    header = request.header
    if header.api_version < FIRST_VERSION_WITH_RACK:
        return None
    client_id = header.client_id or ""
    return ClientMetadata(body.rack_id, client_id, request.client_address, request.principal, request.listener_name)


def _bounds_of(version: int, topic_partition: TopicPartition, result: LogReadResult) -> fetch.PartitionData:
    """A partition's part of the response, without its records."""
    data = _new_partition_data(
        topic_partition.partition,
        error_for_version(result.error, version, LATER_ERRORS).code,
        result.high_watermark,
        result.last_stable_offset,
        result.log_start_offset,
        None if result.aborted_transactions is None else _aborted_transactions(result.aborted_transactions),
        b"",
    )
    if result.preferred_read_replica is not None:
        data.preferred_read_replica = result.preferred_read_replica
    if result.diverging_epoch is not None:
        epoch, end_offset = result.diverging_epoch
        data.diverging_epoch = fetch.EpochEndOffset(epoch=epoch, end_offset=end_offset)
    return data


def _throttled_response(context: FetchContext, throttle_time_ms: int) -> fetch.FetchResponse:
    """The empty response to a client that is throttled; its session stays as it is."""
    context.select_nothing()
    response = _new_fetch_response(context.error_code, context.session_id, [])
    response.throttle_time_ms = throttle_time_ms
    return response


def _down_converted(
    log: Log | None, records: FileMessageSetSlice, newest_magic: int, fetch_offset: int, high_watermark: int
) -> bytes:
    """The records in an older format; if no message is left, those of the next batches that have one.

    Compaction may leave nothing, or only markers, up to the end of a segment. Newer consumers see where the batches
    end; an old one that got no message would request the same offset forever.
    """
    converted = converted_records(records, newest_magic, fetch_offset)
    while not converted and log is not None:
        headers = list(records.headers())
        if not headers:
            break
        next_offset = headers[-1].next_offset
        following = log.read(next_offset, records.size_in_bytes, high_watermark, min_one_message=True).records
        if not isinstance(following, FileMessageSetSlice) or not following.size_in_bytes:
            break
        records = following
        converted = converted_records(records, newest_magic, fetch_offset)
    return converted


def _aborted_transactions(found: list[AbortedTxn]) -> list[fetch.AbortedTransaction]:
    return [
        fetch.AbortedTransaction(producer_id=aborted.producer_id, first_offset=aborted.first_offset)
        for aborted in found
    ]


def _failed_partition(topic_partition: TopicPartition, error: Errors) -> fetch.PartitionData:
    return fetch.PartitionData(
        partition_index=topic_partition.partition, error_code=error.code, high_watermark=-1, records=b""
    )


def _fetch_partition(asked: fetch.FetchPartition) -> FetchPartition:
    return FetchPartition(
        asked.fetch_offset,
        asked.partition_max_bytes,
        asked.log_start_offset,
        asked.current_leader_epoch,
        asked.last_fetched_epoch,
    )
