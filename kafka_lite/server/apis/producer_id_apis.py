"""InitProducerId: an idempotent producer gets its identity. DescribeProducers: what logs remember of producers.

Kafka 2.8: core/.../server/KafkaApis.scala (handleInitProducerIdRequest, handleDescribeProducersRequest) · book 10.3
"""

from __future__ import annotations

from kafka_lite.cluster.partition import Partition
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_names import validate_topic_name
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.transaction.producer_id_manager import ProducerIdManager
from kafka_lite.log.producers.producer_state_entry import ProducerStateEntry
from kafka_lite.network.request import Request
from kafka_lite.network.unserved_requests import UnservedRequests
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
from kafka_lite.server.apis.api_handler import Respond
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.server.replica_manager import ReplicaManager

FIRST_EPOCH = 0
NO_OPEN_TRANSACTION = -1


class ProducerIdApis:
    """Gives every producer without a transactional id a new producer id, with epoch 0; describes producers."""

    def __init__(
        self,
        producer_ids: ProducerIdManager,
        replica_manager: ReplicaManager,
        metadata_cache: MetadataCache,
        unserved_requests: UnservedRequests,
    ) -> None:
        self._producer_ids = producer_ids
        self._replicas = replica_manager
        self._metadata_cache = metadata_cache
        self._unserved = unserved_requests

    def handle_init_producer_id(self, request: Request, body: InitProducerIdRequest, respond: Respond) -> None:
        """Respond with an id or an error; an id that the producer had before (v3+) does not matter."""
        try:
            self._check(request, body)
            producer_id = self._producer_ids.generate_producer_id()
        except ApiError as failure:
            respond(InitProducerIdResponse(error_code=failure.error.code, producer_epoch=NO_PRODUCER_EPOCH))
        else:
            respond(InitProducerIdResponse(producer_id=producer_id, producer_epoch=FIRST_EPOCH))

    def _check(self, request: Request, body: InitProducerIdRequest) -> None:
        if (body.producer_id == NO_PRODUCER_ID) != (body.producer_epoch == NO_PRODUCER_EPOCH):
            raise Errors.INVALID_REQUEST.exception("an id without an epoch, or an epoch without an id")
        if body.transactional_id == "":
            raise Errors.INVALID_REQUEST.exception("the transactional id is empty")
        if body.transactional_id is not None:
            # Transactions are not served. Java's clients give up at any error that they do not expect here, librdkafka
            # at this one: it would try again for ever after most others.
            self._unserved.report(
                request.header.client_id,
                request.client_address,
                "InitProducerId with a transactional id (transactions)",
                Errors.UNSUPPORTED_VERSION.name,
            )
            raise Errors.UNSUPPORTED_VERSION.exception("this broker has no transactions")

    def handle_describe_producers(self, _request: Request, body: DescribeProducersRequest, respond: Respond) -> None:
        """Describe each partition, led here or not. An error of a topic is one of all its partitions."""
        respond(DescribeProducersResponse(topics=[self._describe_topic(topic) for topic in body.topics]))

    def _describe_topic(self, topic: TopicRequest) -> TopicResponse:
        answers = []
        for index in topic.partition_indexes:
            try:
                producers = self._active_producers(TopicPartition(topic.name, index))
            except ApiError as failure:
                refused = PartitionResponse(
                    partition_index=index, error_code=failure.error.code, error_message=str(failure)
                )
                answers.append(refused)
            else:
                answers.append(PartitionResponse(partition_index=index, active_producers=producers))
        return TopicResponse(name=topic.name, partitions=answers)

    def _active_producers(self, topic_partition: TopicPartition) -> list[ProducerState]:
        validate_topic_name(topic_partition.topic)
        log = self._partition(topic_partition).log
        if log is None:
            raise Errors.NOT_LEADER_OR_FOLLOWER.exception(f"there is no log of {topic_partition} here")
        entries = list(log.producer_state.active_producers.values())  # at once, while others append
        return [_producer_state(entry) for entry in entries]

    def _partition(self, topic_partition: TopicPartition) -> Partition:
        partition = self._replicas.get_partition(topic_partition)
        if partition is not None:
            return partition
        try:
            return self._replicas.get_leader_partition(topic_partition)  # which raises the reason why it is not here
        except ApiError as failure:
            is_elsewhere = self._metadata_cache.get_partition_info(topic_partition) is not None
            if failure.error is Errors.UNKNOWN_TOPIC_OR_PARTITION and is_elsewhere:
                raise Errors.NOT_LEADER_OR_FOLLOWER.exception(f"other brokers hold {topic_partition}") from failure
            raise


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
