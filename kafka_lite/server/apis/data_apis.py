"""Requests that read and write records: Produce, Fetch, ListOffsets, DeleteRecords, OffsetForLeaderEpoch.

Kafka 0.10.2: core/.../server/KafkaApis.scala (handleProducerRequest, handleFetchRequest)
· book 2.3.5
"""

from __future__ import annotations

import logging
import struct
from collections import Counter
from collections.abc import Callable, Mapping

from kafka_lite.common.errors import ApiError, Errors, shorten_message
from kafka_lite.common.sendable import Buffer, Part, size_of
from kafka_lite.common.topic_partition import TopicPartition, known_topic_partition
from kafka_lite.log.files.file_message_set import FileMessageSetSlice
from kafka_lite.log.files.lazy_down_conversion_records import LazyDownConversionRecords, begins_with_newer
from kafka_lite.log.log_offset_search import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP, MAX_TIMESTAMP
from kafka_lite.network.request import Request
from kafka_lite.protocol.messages import (
    api_00_produce as produce,
)
from kafka_lite.protocol.messages import (
    api_01_fetch as fetch,
)
from kafka_lite.protocol.messages import (
    api_02_list_offsets as list_offsets,
)
from kafka_lite.protocol.messages import (
    api_21_delete_records as delete_records,
)
from kafka_lite.protocol.messages import (
    api_23_offset_for_leader_epoch as epochs,
)
from kafka_lite.protocol.schema import Response
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.conversion import magic_for_fetch_version
from kafka_lite.record.default_record_batch import CONTROL_FLAG_MASK, RECORD_BATCH_OVERHEAD, TRANSACTIONAL_FLAG_MASK
from kafka_lite.record.record import MAGIC_V2
from kafka_lite.record.record_batch import CODEC_MASK, LOG_OVERHEAD
from kafka_lite.record.records import first_batch
from kafka_lite.server.delayed_produce import PartitionResponse
from kafka_lite.server.fetch_params import FetchParams
from kafka_lite.server.log_read_result import FetchPartition, LogReadResult
from kafka_lite.server.replica_manager import ReplicaManager

logger = logging.getLogger(__name__)

Respond = Callable[[Response | None], None]
"""Sends the answer; ``None`` sends nothing and lets the connection go on (acks=0)."""

ADMIN_CLIENT_ID = "__admin_client"
"""The client id whose owner may write to internal topics, as in Kafka."""

FIRST_VERSION_OF_SPECIAL_TIMESTAMP = {EARLIEST_TIMESTAMP: 1, MAX_TIMESTAMP: 7}
"""Negative timestamps that ask for something else than a time, and the ListOffsets version that brought them."""
ALL_VERSIONS = 2**15
READ_COMMITTED = 1
FULL_FETCH_EPOCHS = (0, -1)
"""The request names all its partitions: a new session is wanted in place of what there was, or none."""
FIRST_LIST_OFFSETS_VERSION_WITH_EPOCH = 4

LATER_PRODUCE_ERRORS = {
    Errors.KAFKA_STORAGE_ERROR: (4, Errors.NOT_LEADER_OR_FOLLOWER),
    Errors.INVALID_RECORD: (3, Errors.CORRUPT_MESSAGE),
}
LATER_FETCH_ERRORS = {Errors.KAFKA_STORAGE_ERROR: (6, Errors.NOT_LEADER_OR_FOLLOWER)}
"""Errors that clients of an earlier version than this do not know, and what they are told instead, as ever."""
FIRST_FETCH_VERSION_WITH_ZSTD = 10
FIRST_PRODUCE_VERSION_WITH_ZSTD = 7
_new_produce_response = produce.ProduceResponse.maker("responses")
_new_topic_produce_response = produce.TopicProduceResponse.maker("name", "partition_responses")
_new_partition_produce_response = produce.PartitionProduceResponse.maker(
    "index", "error_code", "base_offset", "log_append_time_ms", "log_start_offset"
)
_CHECKED = struct.Struct(">qi4xb4xh")
"""Of the header of a record batch: base offset, length, magic, attributes."""
_TRANSACTIONAL_OR_CONTROL = TRANSACTIONAL_FLAG_MASK | CONTROL_FLAG_MASK
_LZ4, _ZSTD = CompressionType.LZ4.code, CompressionType.ZSTD.code
_new_fetch_response = fetch.FetchResponse.maker("responses")
_new_fetchable_topic_response = fetch.FetchableTopicResponse.maker("topic", "partitions")
_new_partition_data = fetch.PartitionData.maker(
    "partition_index",
    "error_code",
    "high_watermark",
    "last_stable_offset",
    "log_start_offset",
    "aborted_transactions",
    "records",
)
_NO_ERROR = Errors.NONE
"""Found once: to find a member of an enum takes Python 3.11 as long as a call."""


class DataApis:
    """Handlers that translate between the wire and the replica manager. None of them blocks."""

    def __init__(self, replica_manager: ReplicaManager, close_connection: Callable[[Request], None]) -> None:
        self._replicas = replica_manager
        self._close_connection = close_connection

    # ── Produce ───────────────────────────────────────────────────────────────────────────────────────────────────

    def handle_produce(self, request: Request, body: produce.ProduceRequest, respond: Respond) -> None:
        """Append every partition's records, answer when ``acks`` of the request are satisfied."""
        entries: dict[TopicPartition, Buffer] = {}
        refused: dict[TopicPartition, PartitionResponse] = {}
        for topic in body.topic_data:
            name = topic.name
            for partition in topic.partition_data:
                topic_partition = known_topic_partition(name, partition.index)
                records = partition.records
                if topic_partition in entries or topic_partition in refused:
                    # One answer cannot tell what became of several. (Kafka appends the last and forgets the others.)
                    entries.pop(topic_partition, None)
                    refused[topic_partition] = PartitionResponse(
                        Errors.INVALID_REQUEST, error_message=f"{topic_partition} is there more than once"
                    )
                elif not isinstance(records, (memoryview, bytes, bytearray)):
                    refused[topic_partition] = PartitionResponse(
                        Errors.INVALID_RECORD, error_message="the records are null"
                    )
                elif (error := self._check_produce(request, topic_partition, records)) is not None:
                    refused[topic_partition] = error
                else:
                    entries[topic_partition] = records

        def send(responses: dict[TopicPartition, PartitionResponse]) -> None:
            self._send_produce_response(request, body, refused | responses if refused else responses, respond)

        if not entries:
            send({})
            return
        internal_topics_allowed = request.header.client_id == ADMIN_CLIENT_ID
        self._replicas.append_records(body.timeout_ms, body.acks, internal_topics_allowed, entries, send)
        for topic in body.topic_data:
            for partition in topic.partition_data:
                partition.records = None  # they are in the log; a request that waits need not keep them in memory too

    def _check_produce(
        self, request: Request, topic_partition: TopicPartition, records: Buffer
    ) -> PartitionResponse | None:
        """What can be refused without looking at the log; None when the log is to decide."""
        version = request.header.api_version
        if version < 3 or _is_usual_batch(version, records):
            return None
        try:
            return self._check_single_batch(request, topic_partition, records)
        except ApiError as error:
            return PartitionResponse(error.error, error_message=f"{topic_partition}: {error}")

    @staticmethod
    def _check_single_batch(
        request: Request, topic_partition: TopicPartition, records: Buffer
    ) -> PartitionResponse | None:
        # From version 3 on there must be exactly one batch, in format v2: KIP-98.
        batch = first_batch(records)
        if batch is None or batch.magic != MAGIC_V2 or batch.size_in_bytes != size_of(records):
            return PartitionResponse(
                Errors.INVALID_RECORD,
                error_message=f"{topic_partition}: a produce request of version "
                f"{request.header.api_version} must hold exactly one record batch of format v2",
            )
        if batch.base_offset != 0:
            return PartitionResponse(
                Errors.INVALID_RECORD,
                error_message=f"{topic_partition}: the base offset of a produced batch must be 0, "
                f"not {batch.base_offset}",
            )
        if batch.compression is CompressionType.ZSTD and request.header.api_version < FIRST_PRODUCE_VERSION_WITH_ZSTD:
            return PartitionResponse(Errors.UNSUPPORTED_COMPRESSION_TYPE)
        if batch.is_transactional:
            return PartitionResponse(
                Errors.INVALID_TXN_STATE, error_message=f"{topic_partition} is not part of a transaction"
            )
        if batch.is_control:
            return PartitionResponse(Errors.INVALID_RECORD, error_message="clients may not write control batches")
        return None

    def _send_produce_response(
        self,
        request: Request,
        body: produce.ProduceRequest,
        responses: dict[TopicPartition, PartitionResponse],
        respond: Respond,
    ) -> None:
        if body.acks == 0:
            failed = [f"{tp}: {r.error.name}" for tp, r in responses.items() if r.error is not Errors.NONE]
            if failed:
                # There is no answer to carry the error, so the connection is closed: the producer then looks for
                # the leaders anew.
                logger.info("Closing %s: acks=0 and %s", request.connection_id, ", ".join(failed))
                self._close_connection(request)
            else:
                respond(None)
            return
        version = request.header.api_version
        respond(_new_produce_response(_produce_topics(version, body, responses)))

    # ── Fetch ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def handle_fetch(self, request: Request, body: fetch.FetchRequest, respond: Respond) -> None:
        """Read from every partition; wait for ``min_bytes`` up to ``max_wait_ms``.

        Every answer says session id 0: this broker keeps no incremental fetch sessions (as a Kafka broker whose
        session cache is full), so clients name all partitions in every request; also those that have had a session
        at a broker which was here before. Only the next request of a session is refused.
        """
        version = request.header.api_version
        if body.session_epoch not in FULL_FETCH_EPOCHS:
            respond(fetch.FetchResponse(error_code=Errors.FETCH_SESSION_ID_NOT_FOUND.code))
            return
        infos = [
            (TopicPartition(topic.topic, p.partition), _fetch_partition(p))
            for topic in body.topics
            for p in topic.partitions
        ]
        asked_bytes = body.max_bytes if version >= 3 else sum(info.max_bytes for _, info in infos)
        max_bytes = min(asked_bytes, self._replicas.config.fetch_max_bytes)
        params = FetchParams(
            body.replica_id,
            body.max_wait_ms,
            min(body.min_bytes, max_bytes),
            max_bytes,
            hard_max_bytes=version <= 2,
        )

        def send(results: list[tuple[TopicPartition, LogReadResult]]) -> None:
            respond(self._fetch_response(version, body, infos, results))

        self._replicas.fetch_messages(params, infos, send)

    def _fetch_response(
        self,
        version: int,
        body: fetch.FetchRequest,
        infos: list[tuple[TopicPartition, FetchPartition]],
        results: list[tuple[TopicPartition, LogReadResult]],
    ) -> fetch.FetchResponse:
        topics: list[fetch.FetchableTopicResponse] = []
        committed_only = body.isolation_level == READ_COMMITTED
        for (topic_partition, result), (_, asked) in zip(results, infos, strict=True):
            if not topics or topics[-1].topic != topic_partition.topic:
                topics.append(_new_fetchable_topic_response(topic_partition.topic, []))
            data = self._fetch_partition_data(version, topic_partition, asked, result, committed_only)
            topics[-1].partitions.append(data)
            self._replicas.broker_topic_stats.sent(topic_partition, size_of(data.records or b""))
        return _new_fetch_response(topics)

    def _fetch_partition_data(
        self,
        version: int,
        topic_partition: TopicPartition,
        asked: FetchPartition,
        result: LogReadResult,
        committed_only: bool,
    ) -> fetch.PartitionData:
        data = _new_partition_data(
            topic_partition.partition,
            _error_for_version(result.error, version, LATER_FETCH_ERRORS).code,
            result.high_watermark,
            result.high_watermark,  # without transactions everything below it is stable
            result.log_start_offset,
            [] if committed_only and result.error is _NO_ERROR else None,
            b"",
        )
        try:
            data.records = self._records_for_version(
                version, topic_partition, asked.fetch_offset, result.records, result.high_watermark
            )
        except ApiError as failure:
            logger.info("Cannot convert %s for fetch version %d: %s", topic_partition, version, failure)
            return self._no_fetch_partition_data(topic_partition, failure.error)
        except Exception:
            # Somebody else's thread may complete this fetch, and the other partitions are well: see append_records.
            logger.exception("Error converting %s for fetch version %d", topic_partition, version)
            return self._no_fetch_partition_data(topic_partition, Errors.UNKNOWN_SERVER_ERROR)
        return data

    @staticmethod
    def _no_fetch_partition_data(topic_partition: TopicPartition, error: Errors) -> fetch.PartitionData:
        return fetch.PartitionData(
            partition_index=topic_partition.partition, error_code=error.code, high_watermark=-1, records=b""
        )

    def _records_for_version(
        self, version: int, topic_partition: TopicPartition, fetch_offset: int, records: Part, high_watermark: int
    ) -> Part:
        """Records that a client of this fetch version can read.

        From version 4 on clients read every format: the file slice goes out as it lies on disk. Older ones get format
        v1 (versions 2 and 3) or v0, converted batch by batch if something newer is there. Raises
        UNSUPPORTED_COMPRESSION_TYPE and, where the topic forbids to convert, UNSUPPORTED_VERSION.
        """
        newest_magic = magic_for_fetch_version(version)
        if not size_of(records) or (newest_magic == MAGIC_V2 and version >= FIRST_FETCH_VERSION_WITH_ZSTD):
            return records
        partition = self._replicas.get_partition(topic_partition)
        log = partition.log if partition is not None else None
        if version < FIRST_FETCH_VERSION_WITH_ZSTD and log is not None and log.config.compression_type == "zstd":
            raise Errors.UNSUPPORTED_COMPRESSION_TYPE.exception("the topic compresses with zstd")
        if newest_magic == MAGIC_V2 or not isinstance(records, FileMessageSetSlice):
            return records
        if not begins_with_newer(records, newest_magic) and all(
            batch.magic <= newest_magic for batch in records.headers()
        ):
            return records
        if log is not None and not log.config.message_downconversion_enable:
            raise Errors.UNSUPPORTED_VERSION.exception("message.downconversion.enable of the topic is false")
        converted = LazyDownConversionRecords(records, newest_magic, fetch_offset)
        while not converted.size_in_bytes and log is not None:
            # Compaction has left nothing for this consumer up to the end of a segment, or but markers. Newer consumers
            # see where the batches end; this one would ask for the same offset for ever, if it got no message.
            headers = list(records.headers())
            if not headers:
                break
            next_offset = headers[-1].next_offset
            following = log.read(next_offset, records.size_in_bytes, high_watermark, min_one_message=True).records
            if not isinstance(following, FileMessageSetSlice) or not following.size_in_bytes:
                break
            records = following
            converted = LazyDownConversionRecords(records, newest_magic, fetch_offset)
        return converted

    # ── ListOffsets ───────────────────────────────────────────────────────────────────────────────────────────────

    def handle_list_offsets(self, request: Request, body: list_offsets.ListOffsetsRequest, respond: Respond) -> None:
        """Offsets for times. Version 0 answers with the base offsets of segments, as 0.8 did."""
        version = request.header.api_version
        named = Counter(TopicPartition(t.name, p.partition_index) for t in body.topics for p in t.partitions)
        topics = []
        for topic in body.topics:
            partitions = []
            for asked in topic.partitions:
                topic_partition = TopicPartition(topic.name, asked.partition_index)
                if version >= 1 and named[topic_partition] > 1:
                    answer = list_offsets.ListOffsetsPartitionResponse(error_code=Errors.INVALID_REQUEST.code)
                else:
                    answer = self._list_offsets(version, body.replica_id, topic_partition, asked)
                answer.partition_index = asked.partition_index
                partitions.append(answer)
            topics.append(list_offsets.ListOffsetsTopicResponse(name=topic.name, partitions=partitions))
        respond(list_offsets.ListOffsetsResponse(topics=topics))

    def _list_offsets(
        self, version: int, replica_id: int, topic_partition: TopicPartition, asked: list_offsets.ListOffsetsPartition
    ) -> list_offsets.ListOffsetsPartitionResponse:
        try:
            if version == 0:
                offsets = self._legacy_offsets(replica_id, topic_partition, asked)
                return list_offsets.ListOffsetsPartitionResponse(old_style_offsets=offsets)
            return self._offset_for_timestamp(replica_id, topic_partition, asked, version)
        except ApiError as failure:
            return list_offsets.ListOffsetsPartitionResponse(error_code=failure.error.code)

    def _legacy_offsets(
        self, replica_id: int, topic_partition: TopicPartition, asked: list_offsets.ListOffsetsPartition
    ) -> list[int]:
        """Segment base offsets before a time, newest first; consumers see none above the high watermark."""
        partition, log = self._replicas.get_leader_log(topic_partition)
        offsets = log.legacy_fetch_offsets_before(asked.timestamp, asked.max_num_offsets)
        leader = partition.leader_replica_if_local
        if replica_id >= 0 or leader is None:
            return offsets
        high_watermark = leader.high_watermark.message_offset
        if any(offset > high_watermark for offset in offsets):
            return [high_watermark, *(offset for offset in offsets if offset < high_watermark)]
        return offsets

    def _offset_for_timestamp(
        self,
        replica_id: int,
        topic_partition: TopicPartition,
        asked: list_offsets.ListOffsetsPartition,
        version: int,
    ) -> list_offsets.ListOffsetsPartitionResponse:
        partition, log = self._replicas.get_leader_log(topic_partition, asked.current_leader_epoch)
        leader = partition.leader_replica_if_local
        if leader is None:
            raise Errors.NOT_LEADER_OR_FOLLOWER.exception()
        end = log.log_end_offset if replica_id >= 0 else leader.high_watermark.message_offset
        response = list_offsets.ListOffsetsPartitionResponse
        with_epoch = version >= FIRST_LIST_OFFSETS_VERSION_WITH_EPOCH
        if asked.timestamp == LATEST_TIMESTAMP:
            return response(offset=end, leader_epoch=partition.leader_epoch if with_epoch else -1)
        if asked.timestamp < 0 and version < FIRST_VERSION_OF_SPECIAL_TIMESTAMP.get(asked.timestamp, ALL_VERSIONS):
            raise Errors.UNSUPPORTED_VERSION.exception(f"version {version} has no timestamp {asked.timestamp}")
        found = log.fetch_offset_by_timestamp(asked.timestamp)
        if found is None or (found.offset >= end and asked.timestamp != EARLIEST_TIMESTAMP):
            return response()
        leader_epoch = found.leader_epoch if with_epoch else -1
        return response(timestamp=found.timestamp, offset=found.offset, leader_epoch=leader_epoch)

    # ── DeleteRecords, OffsetForLeaderEpoch ───────────────────────────────────────────────────────────────────────

    def handle_delete_records(
        self,
        _request: Request,
        body: delete_records.DeleteRecordsRequest,
        respond: Respond,
    ) -> None:
        """Move log start offsets up, partition by partition."""
        topics = []
        for topic in body.topics:
            partitions = []
            for asked in topic.partitions:
                answer = delete_records.DeleteRecordsPartitionResult(
                    partition_index=asked.partition_index, low_watermark=-1
                )
                try:
                    topic_partition = TopicPartition(topic.name, asked.partition_index)
                    answer.low_watermark = self._replicas.delete_records(topic_partition, asked.offset)
                except ApiError as failure:
                    answer.error_code = failure.error.code
                partitions.append(answer)
            topics.append(delete_records.DeleteRecordsTopicResult(name=topic.name, partitions=partitions))
        respond(delete_records.DeleteRecordsResponse(topics=topics))

    def handle_offset_for_leader_epoch(
        self,
        _request: Request,
        body: epochs.OffsetForLeaderEpochRequest,
        respond: Respond,
    ) -> None:
        """Where an epoch ended: how followers and consumers find out that a log was truncated (KIP-101, KIP-320)."""
        topics = [
            epochs.OffsetForLeaderTopicResult(
                topic=topic.topic, partitions=[self._epoch_end(topic.topic, asked) for asked in topic.partitions]
            )
            for topic in body.topics
        ]
        respond(epochs.OffsetForLeaderEpochResponse(topics=topics))

    def _epoch_end(self, topic: str, asked: epochs.OffsetForLeaderPartition) -> epochs.EpochEndOffset:
        answer = epochs.EpochEndOffset(partition=asked.partition, leader_epoch=-1, end_offset=-1)
        try:
            topic_partition = TopicPartition(topic, asked.partition)
            partition, log = self._replicas.get_leader_log(topic_partition, asked.current_leader_epoch)
            if asked.leader_epoch == partition.leader_epoch:
                answer.leader_epoch, answer.end_offset = asked.leader_epoch, log.log_end_offset
            else:
                answer.leader_epoch, answer.end_offset = log.end_offset_for_epoch(asked.leader_epoch)
        except ApiError as failure:
            answer.error_code = failure.error.code
        return answer


def _error_for_version(error: Errors, version: int, later: Mapping[Errors, tuple[int, Errors]]) -> Errors:
    """The error, or what stood for it before the version that brought it."""
    if error is _NO_ERROR:
        return error
    first_version, earlier = later.get(error, (0, error))
    return error if version >= first_version else earlier


def _produce_topics(
    version: int, body: produce.ProduceRequest, responses: dict[TopicPartition, PartitionResponse]
) -> list[produce.TopicProduceResponse]:
    """The answer in the shape of the request."""
    by_topic: dict[str, list[produce.PartitionProduceResponse]] = {}
    for topic in body.topic_data:
        name = topic.name
        answers = by_topic.get(name)
        if answers is None:
            by_topic[name] = answers = []
        for partition in topic.partition_data:
            index = partition.index
            answers.append(_partition_produce_response(version, index, responses[known_topic_partition(name, index)]))
    return [_new_topic_produce_response(name, answers) for name, answers in by_topic.items()]


def _partition_produce_response(
    version: int, index: int, result: PartitionResponse
) -> produce.PartitionProduceResponse:
    error = result.error
    answer = _new_partition_produce_response(
        index,
        0 if error is _NO_ERROR else _error_for_version(error, version, LATER_PRODUCE_ERRORS).code,
        result.base_offset,
        result.log_append_time_ms,
        result.log_start_offset,
    )
    if error is not _NO_ERROR:
        answer.error_message = None if result.error_message is None else shorten_message(result.error_message)
        answer.record_errors = [
            produce.BatchIndexAndErrorMessage(batch_index=batch_index, batch_index_error_message=message)
            for batch_index, message in result.record_errors
        ]
    return answer


def _is_usual_batch(version: int, records: Buffer) -> bool:
    """Whether nothing is wrong with what a producer sends, as far as ``_check_single_batch`` looks."""
    size = len(records)
    if size < RECORD_BATCH_OVERHEAD:
        return False
    checked: tuple[int, int, int, int] = _CHECKED.unpack_from(records)
    base_offset, length, magic, attributes = checked
    return (
        base_offset == 0
        and length == size - LOG_OVERHEAD
        and magic == MAGIC_V2
        and attributes & _TRANSACTIONAL_OR_CONTROL == 0
        and attributes & CODEC_MASK <= (_ZSTD if version >= FIRST_PRODUCE_VERSION_WITH_ZSTD else _LZ4)
    )


def _fetch_partition(asked: fetch.FetchPartition) -> FetchPartition:
    return FetchPartition(
        asked.fetch_offset, asked.partition_max_bytes, asked.log_start_offset, asked.current_leader_epoch
    )
