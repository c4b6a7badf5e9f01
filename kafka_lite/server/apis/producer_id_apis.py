"""InitProducerId allocates producer ids for idempotent producers. DescribeProducers shows the producers of a log.

Kafka 2.8: core/.../server/KafkaApis.scala (handleInitProducerIdRequest, handleDescribeProducersRequest) · book 10.3
"""

from __future__ import annotations

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.topic_names import validate_topic_name
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.transaction.producer_id_manager import ProducerIdManager
from kafka_lite.coordinator.transaction.transaction_coordinator import InitProducerIdResult, TransactionCoordinator
from kafka_lite.log.producers.producer_state_entry import ProducerStateEntry
from kafka_lite.network.request import Request
from kafka_lite.protocol.messages.api_22_init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kafka_lite.protocol.messages.api_61_describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicRequest,
    TopicResponse,
)
from kafka_lite.record.record import NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from kafka_lite.server.apis.api_handler import Respond, error_for_version
from kafka_lite.server.replica_manager import ReplicaManager

FIRST_EPOCH = 0
NO_OPEN_TRANSACTION = -1
LATER_ERRORS = {Errors.PRODUCER_FENCED: (4, Errors.INVALID_PRODUCER_EPOCH)}
"""Errors that older producers do not know: the first version that has them, and the replacement before."""


class ProducerIdApis:
    """Allocates producer ids, with epoch 0 for producers without a transactional id; describes producers."""

    def __init__(
        self,
        producer_ids: ProducerIdManager,
        coordinator: TransactionCoordinator,
        replica_manager: ReplicaManager,
    ) -> None:
        self._producer_ids = producer_ids
        self._coordinator = coordinator
        self._replicas = replica_manager

    def handle_init_producer_id(self, request: Request, body: InitProducerIdRequest, respond: Respond) -> None:
        """Respond with an id and its epoch, or an error.

        A producer without a transactional id gets a new id; the previous one (v3+) is ignored.
        """

        def send(result: InitProducerIdResult) -> None:
            error = error_for_version(result.error, request.header.api_version, LATER_ERRORS)
            producer_id, epoch = result.producer
            respond(InitProducerIdResponse(error_code=error.code, producer_id=producer_id, producer_epoch=epoch))

        named = ProducerIdAndEpoch(body.producer_id, body.producer_epoch)
        if (named.producer_id == NO_PRODUCER_ID) != (named.epoch == NO_PRODUCER_EPOCH):
            send(InitProducerIdResult(ProducerIdAndEpoch(), Errors.INVALID_REQUEST))
        elif body.transactional_id is None:
            send(self._new_producer())
        else:
            expected = None if named.producer_id == NO_PRODUCER_ID else named
            timeout_ms = body.transaction_timeout_ms
            self._coordinator.handle_init_producer_id(body.transactional_id, timeout_ms, expected, send)

    def _new_producer(self) -> InitProducerIdResult:
        try:
            producer_id = self._producer_ids.generate_producer_id()
        except ApiError as failure:
            return InitProducerIdResult(ProducerIdAndEpoch(), failure.error)
        return InitProducerIdResult(ProducerIdAndEpoch(producer_id, FIRST_EPOCH))

    def handle_describe_producers(self, _request: Request, body: DescribeProducersRequest, respond: Respond) -> None:
        """Describe each partition, whether led here or not. An error of a topic applies to all its partitions."""
        respond(DescribeProducersResponse(topics=[self._describe_topic(topic) for topic in body.topics]))

    def _describe_topic(self, topic: TopicRequest) -> TopicResponse:
        responses = []
        for index in topic.partition_indexes:
            try:
                producers = self._active_producers(TopicPartition(topic.name, index))
            except ApiError as failure:
                refused = PartitionResponse(
                    partition_index=index, error_code=failure.error.code, error_message=str(failure)
                )
                responses.append(refused)
            else:
                responses.append(PartitionResponse(partition_index=index, active_producers=producers))
        return TopicResponse(name=topic.name, partitions=responses)

    def _active_producers(self, topic_partition: TopicPartition) -> list[ProducerState]:
        validate_topic_name(topic_partition.topic)
        partition = self._replicas.get_partition(topic_partition)
        if partition is None:
            partition = self._replicas.get_leader_partition(topic_partition)  # which raises the reason
        log = partition.log
        if log is None:
            raise Errors.NOT_LEADER_OR_FOLLOWER.exception(f"this broker has no log of {topic_partition}")
        entries = list(log.producer_state.active_producers.values())  # at once, while others append
        return [_producer_state(entry) for entry in entries]


def _producer_state(entry: ProducerStateEntry) -> ProducerState:
    began = entry.current_txn_first_offset
    return ProducerState(
        producer_id=entry.producer_id,
        producer_epoch=entry.producer_epoch,
        last_sequence=entry.last_seq,
        last_timestamp=entry.last_timestamp,
        coordinator_epoch=entry.coordinator_epoch,
        current_txn_start_offset=NO_OPEN_TRANSACTION if began is None else began,
    )
