"""Produce: records are appended to logs.

Kafka 0.10.2: core/.../server/KafkaApis.scala (handleProducerRequest) · book 2.3.5
"""

from __future__ import annotations

import logging
import struct
from collections.abc import Callable
from typing import Final

from kafka_lite.common.errors import ApiError, Errors, shorten_message
from kafka_lite.common.sendable import Buffer, size_of
from kafka_lite.common.topic_partition import TopicPartition, known_topic_partition
from kafka_lite.network.request import Request
from kafka_lite.protocol.messages import api_00_produce as produce
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.default_record_batch import CONTROL_FLAG_MASK, RECORD_BATCH_OVERHEAD, TRANSACTIONAL_FLAG_MASK
from kafka_lite.record.record import MAGIC_V2
from kafka_lite.record.record_batch import CODEC_MASK, LOG_OVERHEAD
from kafka_lite.record.records import first_batch
from kafka_lite.server.apis.api_handler import Respond, error_for_version
from kafka_lite.server.produce_status import PartitionResponse
from kafka_lite.server.replica_manager import ReplicaManager

logger = logging.getLogger(__name__)

ADMIN_CLIENT_ID = "__admin_client"
"""The client id that may write to internal topics, as in Kafka."""
FIRST_VERSION_WITH_ZSTD = 7
LATER_ERRORS = {
    Errors.KAFKA_STORAGE_ERROR: (4, Errors.NOT_LEADER_OR_FOLLOWER),
    Errors.INVALID_RECORD: (3, Errors.CORRUPT_MESSAGE),
}
"""Errors that older clients do not know: the first version with them, and what earlier versions are told."""

_new_produce_response = produce.ProduceResponse.maker("responses")
_new_topic_produce_response = produce.TopicProduceResponse.maker("name", "partition_responses")
_new_partition_produce_response = produce.PartitionProduceResponse.maker(
    "index", "error_code", "base_offset", "log_append_time_ms", "log_start_offset"
)
_CHECKED = struct.Struct(">qi4xb4xh")
"""Of the header of a record batch: base offset, length, magic, attributes."""
_TRANSACTIONAL_OR_CONTROL = TRANSACTIONAL_FLAG_MASK | CONTROL_FLAG_MASK
_LZ4, _ZSTD = CompressionType.LZ4.code, CompressionType.ZSTD.code
_NO_ERROR: Final = Errors.NONE
"""Looked up once: Python 3.11 takes as long as a call to look up a member of an enum."""


class ProduceApis:
    """The handler of Produce. It does not block."""

    def __init__(self, replica_manager: ReplicaManager, close_connection: Callable[[Request], None]) -> None:
        self._replicas = replica_manager
        self._close_connection = close_connection

    def handle_produce(self, request: Request, body: produce.ProduceRequest, respond: Respond) -> None:
        """Append every partition's records, and respond when the request's ``acks`` are satisfied."""
        entries: dict[TopicPartition, Buffer] = {}
        refused: dict[TopicPartition, PartitionResponse] = {}
        for topic in body.topic_data:
            name = topic.name
            for partition in topic.partition_data:
                topic_partition = known_topic_partition(name, partition.index)
                records = partition.records
                if topic_partition in entries or topic_partition in refused:
                    # The response has room for one result only. (Kafka appends the last and drops the others.)
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
                partition.records = None  # they are in the log; a request that waits must not keep them in memory

    def _check_produce(
        self, request: Request, topic_partition: TopicPartition, records: Buffer
    ) -> PartitionResponse | None:
        """Why the records are refused without a look at the log; None if it is up to the log."""
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
        if batch.compression is CompressionType.ZSTD and request.header.api_version < FIRST_VERSION_WITH_ZSTD:
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
                # No response can carry the error, so the connection is closed; the producer then refreshes its
                # metadata.
                logger.info("Closing %s: acks=0 and %s", request.connection_id, ", ".join(failed))
                self._close_connection(request)
            else:
                respond(None)
            return
        version = request.header.api_version
        respond(_new_produce_response(_produce_topics(version, body, responses)))


def _produce_topics(
    version: int, body: produce.ProduceRequest, responses: dict[TopicPartition, PartitionResponse]
) -> list[produce.TopicProduceResponse]:
    """The results in the shape of the request."""
    by_topic: dict[str, list[produce.PartitionProduceResponse]] = {}
    for topic in body.topic_data:
        name = topic.name
        results = by_topic.get(name)
        if results is None:
            by_topic[name] = results = []
        for partition in topic.partition_data:
            index = partition.index
            results.append(_partition_produce_response(version, index, responses[known_topic_partition(name, index)]))
    return [_new_topic_produce_response(name, results) for name, results in by_topic.items()]


def _partition_produce_response(
    version: int, index: int, result: PartitionResponse
) -> produce.PartitionProduceResponse:
    error = result.error
    response = _new_partition_produce_response(
        index,
        0 if error is _NO_ERROR else error_for_version(error, version, LATER_ERRORS).code,
        result.base_offset,
        result.log_append_time_ms,
        result.log_start_offset,
    )
    if error is not _NO_ERROR:
        response.error_message = None if result.error_message is None else shorten_message(result.error_message)
        response.record_errors = [
            produce.BatchIndexAndErrorMessage(batch_index=batch_index, batch_index_error_message=message)
            for batch_index, message in result.record_errors
        ]
    return response


def _is_usual_batch(version: int, records: Buffer) -> bool:
    """Whether ``_check_single_batch`` would find nothing wrong with the records: a quick check for the usual case."""
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
        and attributes & CODEC_MASK <= (_ZSTD if version >= FIRST_VERSION_WITH_ZSTD else _LZ4)
    )
