"""Fetch: records are read from logs.

Kafka 0.10.2: core/.../server/KafkaApis.scala (handleFetchRequest) · book 2.3.5
"""

from __future__ import annotations

import logging
from typing import Final

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.sendable import Part, size_of
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.files.file_message_set import FileMessageSetSlice
from kafka_lite.log.files.lazy_down_conversion_records import LazyDownConversionRecords, begins_with_newer
from kafka_lite.log.log import Log
from kafka_lite.network.request import Request
from kafka_lite.protocol.messages import api_01_fetch as fetch
from kafka_lite.record.conversion import magic_for_fetch_version
from kafka_lite.record.record import MAGIC_V2
from kafka_lite.server.apis.api_handler import Respond, error_for_version
from kafka_lite.server.fetch_params import FetchParams, FetchPartition, LogReadResult
from kafka_lite.server.replica_manager import ReplicaManager

logger = logging.getLogger(__name__)

READ_COMMITTED = 1
FULL_FETCH_EPOCHS = (0, -1)
"""Session epochs of a request that names all of its partitions: to begin a new session, or without one."""
FIRST_VERSION_WITH_ZSTD = 10
LATER_ERRORS = {Errors.KAFKA_STORAGE_ERROR: (6, Errors.NOT_LEADER_OR_FOLLOWER)}
"""Errors that older clients do not know: the first version with them, and what earlier versions are told."""

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
_NO_ERROR: Final = Errors.NONE
"""Looked up once: Python 3.11 takes as long as a call to look up a member of an enum."""


class FetchApis:
    """The handler of Fetch. It does not block."""

    def __init__(self, replica_manager: ReplicaManager) -> None:
        self._replicas = replica_manager

    def handle_fetch(self, request: Request, body: fetch.FetchRequest, respond: Respond) -> None:
        """Read from every partition; wait up to ``max_wait_ms`` for ``min_bytes``.

        Every response has session id 0: this broker keeps no incremental fetch sessions (like a Kafka broker whose
        session cache is full), so clients name all partitions in every request. A request that continues a session,
        of a broker that was here before, is refused; its client then begins a new one.
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
            error_for_version(result.error, version, LATER_ERRORS).code,
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
            return _failed_partition(topic_partition, failure.error)
        except Exception:
            # It fails this partition only; and the thread may be one that completes the fetch of another client.
            logger.exception("Error converting %s for fetch version %d", topic_partition, version)
            return _failed_partition(topic_partition, Errors.UNKNOWN_SERVER_ERROR)
        return data

    def _records_for_version(
        self, version: int, topic_partition: TopicPartition, fetch_offset: int, records: Part, high_watermark: int
    ) -> Part:
        """The records in a format that a client of this fetch version can read.

        From version 4 on clients read every format: the file slice goes out as it lies on disk. Older clients get
        format v1 (versions 2 and 3) or v0, converted batch by batch if there is anything newer. Raises
        UNSUPPORTED_COMPRESSION_TYPE, and UNSUPPORTED_VERSION if the topic forbids conversion.
        """
        newest_magic = magic_for_fetch_version(version)
        if not size_of(records) or (newest_magic == MAGIC_V2 and version >= FIRST_VERSION_WITH_ZSTD):
            return records
        partition = self._replicas.get_partition(topic_partition)
        log = partition.log if partition is not None else None
        if version < FIRST_VERSION_WITH_ZSTD and log is not None and log.config.compression_type == "zstd":
            raise Errors.UNSUPPORTED_COMPRESSION_TYPE.exception("the topic compresses with zstd")
        if newest_magic == MAGIC_V2 or not isinstance(records, FileMessageSetSlice):
            return records
        if not begins_with_newer(records, newest_magic) and all(
            batch.magic <= newest_magic for batch in records.headers()
        ):
            return records
        if log is not None and not log.config.message_downconversion_enable:
            raise Errors.UNSUPPORTED_VERSION.exception("message.downconversion.enable of the topic is false")
        return _down_converted(log, records, newest_magic, fetch_offset, high_watermark)


def _down_converted(
    log: Log | None, records: FileMessageSetSlice, newest_magic: int, fetch_offset: int, high_watermark: int
) -> LazyDownConversionRecords:
    """The records in an older format; if that leaves no message, those of the next batches that have one.

    Compaction may leave nothing, or only markers, up to the end of a segment. Newer consumers see where the batches
    end; an old one that got no message would ask for the same offset for ever.
    """
    converted = LazyDownConversionRecords(records, newest_magic, fetch_offset)
    while not converted.size_in_bytes and log is not None:
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


def _failed_partition(topic_partition: TopicPartition, error: Errors) -> fetch.PartitionData:
    return fetch.PartitionData(
        partition_index=topic_partition.partition, error_code=error.code, high_watermark=-1, records=b""
    )


def _fetch_partition(asked: fetch.FetchPartition) -> FetchPartition:
    return FetchPartition(
        asked.fetch_offset, asked.partition_max_bytes, asked.log_start_offset, asked.current_leader_epoch
    )
