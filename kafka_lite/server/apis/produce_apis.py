"""Produce: appending records to logs.

Kafka 0.10.2: core/.../server/KafkaApis.scala (handleProducerRequest) · book 2.3.5
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Final

from kafka_lite.common.errors import ApiError, Errors, shorten_message
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.sendable import Buffer, size_of
from kafka_lite.common.topic_partition import TopicPartition, known_topic_partition
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.network.request import Request
from kafka_lite.protocol.messages import api_00_produce as produce
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.default_record_batch import (
    CONTROL_FLAG_MASK,
    RECORD_BATCH_OVERHEAD,
    TRANSACTIONAL_FLAG_MASK,
    peek_claims,
    peek_origin,
)
from kafka_lite.record.record import MAGIC_V2, NO_PRODUCER_ID
from kafka_lite.record.record_batch import CODEC_MASK, LOG_OVERHEAD
from kafka_lite.record.records import first_batch
from kafka_lite.server.apis.api_handler import Handler, Respond, error_for_version
from kafka_lite.server.apis.leader_hints import UNKNOWN_LEADER, CurrentLeader
from kafka_lite.server.apis.topic_ids.offset_topic_ids import TopicNames
from kafka_lite.server.apis.topic_ids.produce_topic_ids import by_produce_topic_ids
from kafka_lite.server.produce_status import PartitionResponse
from kafka_lite.server.replica_manager import ReplicaManager
from kafka_lite.server.transactions.add_partitions_to_txn_manager import PartitionErrors, TransactionSupportedOperation
from kafka_lite.server.transactions.transaction_verification import Guards, TransactionVerification

logger = logging.getLogger(__name__)

ADMIN_CLIENT_ID = "__admin_client"
"""The client id that may write to internal topics, as in Kafka."""
FIRST_VERSION_WITH_ZSTD = 7
FIRST_VERSION_WITH_LEADER = 10
LATER_ERRORS = {
    Errors.KAFKA_STORAGE_ERROR: (4, Errors.NOT_LEADER_OR_FOLLOWER),
    Errors.INVALID_RECORD: (3, Errors.CORRUPT_MESSAGE),
}
"""Errors that older clients do not know: the first version that has them, and the replacement before."""

_new_produce_response = produce.ProduceResponse.maker("responses")
_new_topic_produce_response = produce.TopicProduceResponse.maker("name", "partition_responses")
_new_partition_produce_response = produce.PartitionProduceResponse.maker(
    "index", "error_code", "base_offset", "log_append_time_ms", "log_start_offset"
)
UNVERIFIED_FOR_NOW = frozenset({
    Errors.CONCURRENT_TRANSACTIONS, Errors.NETWORK_EXCEPTION, Errors.COORDINATOR_LOAD_IN_PROGRESS,
    Errors.COORDINATOR_NOT_AVAILABLE, Errors.NOT_COORDINATOR,
})  # fmt: skip
"""Reasons why a batch could not be verified that may have gone when the producer retries. Producers do not expect these
errors, so they get NOT_ENOUGH_REPLICAS, after which every producer retries without asking for metadata."""
_TRANSACTIONAL_OR_CONTROL = TRANSACTIONAL_FLAG_MASK | CONTROL_FLAG_MASK
_LZ4, _ZSTD = CompressionType.LZ4.code, CompressionType.ZSTD.code
_NO_ERROR: Final = Errors.NONE
_NOT_LEADER: Final = Errors.NOT_LEADER_OR_FOLLOWER
"""Both are bound once: in Python 3.11, looking up a member of an enum takes as long as a call."""


class ProduceApis:
    """The handler of Produce. It does not block."""

    def __init__(
        self,
        replica_manager: ReplicaManager,
        close_connection: Callable[[Request], None],
        verification: TransactionVerification,
        current_leader: CurrentLeader = lambda _partition, _listener: UNKNOWN_LEADER,
        topics: TopicNames | None = None,
    ) -> None:
        """``topics`` knows the names of topic ids; None if no client sends any."""
        self._replicas = replica_manager
        self._current_leader = current_leader
        self._verification = verification
        self._close_connection = close_connection
        by_ids = None if topics is None else by_produce_topic_ids(topics, close_connection, self._produce)
        self._by_name_or_id: Handler = by_ids or self._produce

    def handle_produce(self, request: Request, body: produce.ProduceRequest, respond: Respond) -> None:
        """Append every partition's records, and respond when the request's ``acks`` are satisfied."""
        self._by_name_or_id(request, body, respond)

    def _produce(self, request: Request, body: produce.ProduceRequest, respond: Respond) -> None:
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
                        Errors.INVALID_REQUEST, error_message=f"the request contains {topic_partition} more than once"
                    )
                elif not isinstance(records, (memoryview, bytes, bytearray)):
                    refused[topic_partition] = PartitionResponse(
                        Errors.INVALID_RECORD, error_message="the records are null"
                    )
                elif (error := self._check_produce(request, body, topic_partition, records)) is not None:
                    refused[topic_partition] = error
                else:
                    entries[topic_partition] = records

        def send(responses: dict[TopicPartition, PartitionResponse]) -> None:
            self._send_produce_response(request, body, refused | responses if refused else responses, respond)

        if not entries:
            send({})
            return
        internal_topics_allowed = request.header.client_id == ADMIN_CLIENT_ID
        if body.transactional_id is None:
            self._replicas.append_records(body.timeout_ms, body.acks, internal_topics_allowed, entries, send)
            _forget_records(body)
            return

        operation = TransactionSupportedOperation.of_produce(request.header.api_version)

        def append(errors: PartitionErrors, guards: Guards) -> None:
            for topic_partition, error in errors.items():
                refused[topic_partition] = _unverified(error, operation)
                del entries[topic_partition]
            if entries:
                self._replicas.append_records(
                    body.timeout_ms, body.acks, internal_topics_allowed, entries, send, AppendOrigin.CLIENT, guards
                )
            else:
                send({})
            _forget_records(body)

        _verify(self._verification, body.transactional_id, entries, operation, append)

    def _check_produce(
        self, request: Request, body: produce.ProduceRequest, topic_partition: TopicPartition, records: Buffer
    ) -> PartitionResponse | None:
        """Why the records are rejected before the log sees them; None if the log must decide."""
        version = request.header.api_version
        if version < 3 or _is_usual_batch(version, body.transactional_id is not None, records):
            return None
        try:
            refused = self._check_single_batch(request, body, topic_partition, records)
        except ApiError as error:
            refused = PartitionResponse(error.error, error_message=f"{topic_partition}: {error}")
        if refused is not None and self._replicas.get_partition(topic_partition) is None:
            return PartitionResponse(Errors.UNKNOWN_TOPIC_OR_PARTITION)  # said before what is wrong with the records
        return refused

    @staticmethod
    def _check_single_batch(
        request: Request, body: produce.ProduceRequest, topic_partition: TopicPartition, records: Buffer
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
        if batch.is_transactional and body.transactional_id is None:
            return PartitionResponse(
                Errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
                error_message=f"{topic_partition}: a transactional batch needs a transactional id in the request",
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
        response = _new_produce_response(_produce_topics(version, body, responses))
        if version >= FIRST_VERSION_WITH_LEADER and _NOT_LEADER in [result.error for result in responses.values()]:
            self._name_leaders(response, request.listener_name)
        respond(response)

    def _name_leaders(self, response: produce.ProduceResponse, listener_name: str) -> None:
        """Say who leads the partitions that this broker does not lead."""
        nodes: dict[int, produce.NodeEndpoint] = {}
        for topic in response.responses:
            for data in topic.partition_responses:
                if data.error_code != _NOT_LEADER.code:
                    continue
                leader = self._current_leader(TopicPartition(topic.name, data.index), listener_name)
                data.current_leader = produce.LeaderIdAndEpoch(
                    leader_id=leader.leader_id, leader_epoch=leader.leader_epoch
                )
                if (node := leader.node) is not None:
                    nodes[node.id] = produce.NodeEndpoint(
                        node_id=node.id, host=node.host, port=node.port, rack=node.rack
                    )
        response.node_endpoints = list(nodes.values())


def _verify(
    verification: TransactionVerification,
    transactional_id: str,
    entries: Mapping[TopicPartition, Buffer],
    operation: TransactionSupportedOperation,
    on_verified: Callable[[PartitionErrors, Guards], None],
) -> None:
    """Verify that the partitions of transactional batches are part of the transaction."""
    sequences: dict[TopicPartition, int] = {}
    producers: set[ProducerIdAndEpoch] = set()
    for topic_partition, records in entries.items():
        attributes, producer_id, epoch, sequence = peek_origin(records, 0)
        if attributes & TRANSACTIONAL_FLAG_MASK and producer_id != NO_PRODUCER_ID:
            sequences[topic_partition] = sequence
            producers.add(ProducerIdAndEpoch(producer_id, epoch))
    if not producers:
        on_verified({}, {})
    elif len(producers) > 1:
        on_verified(dict.fromkeys(entries, Errors.INVALID_PRODUCER_ID_MAPPING), {})
    else:
        verification.verify(transactional_id, producers.pop(), sequences, operation, on_verified)


def _forget_records(body: produce.ProduceRequest) -> None:
    """Drop what is in the log, or refused: a request that waits must not keep it in memory."""
    for topic in body.topic_data:
        for partition in topic.partition_data:
            partition.records = None


def _unverified(error: Errors, operation: TransactionSupportedOperation) -> PartitionResponse:
    """The response for a partition that is not verified, or not added."""
    if error is Errors.CONCURRENT_TRANSACTIONS and operation.supports_epoch_bump:
        return PartitionResponse(error)  # such a producer knows it, and it is no failure
    if error is Errors.INVALID_TXN_STATE:
        return PartitionResponse(error, error_message="the partition is not part of the transaction")
    if error in UNVERIFIED_FOR_NOW:
        return PartitionResponse(
            Errors.NOT_ENOUGH_REPLICAS,
            error_message=f"cannot verify that the partition is part of the transaction: {error.name}",
        )
    return PartitionResponse(error)


def _produce_topics(
    version: int, body: produce.ProduceRequest, responses: dict[TopicPartition, PartitionResponse]
) -> list[produce.TopicProduceResponse]:
    """The results, grouped like the request."""
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


def _is_usual_batch(version: int, has_transactional_id: bool, records: Buffer) -> bool:
    """Whether ``_check_single_batch`` would accept the records: a quick check for the usual case."""
    size = len(records)
    if size < RECORD_BATCH_OVERHEAD:
        return False
    base_offset, length, magic, attributes = peek_claims(records, 0)
    return (
        base_offset == 0
        and length == size - LOG_OVERHEAD
        and magic == MAGIC_V2
        and attributes & (CONTROL_FLAG_MASK if has_transactional_id else _TRANSACTIONAL_OR_CONTROL) == 0
        and attributes & CODEC_MASK <= (_ZSTD if version >= FIRST_VERSION_WITH_ZSTD else _LZ4)
    )
