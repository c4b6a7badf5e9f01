"""Requests about transactions: AddPartitionsToTxn, AddOffsetsToTxn, EndTxn, DescribeTransactions, ListTransactions.

Kafka 0.11: core/.../server/KafkaApis.scala (handleAddPartitionToTxnRequest, handleAddOffsetsToTxnRequest,
handleEndTxnRequest) · book 10.3
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.topic_names import is_internal
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group.modern.regular_expressions import matching_topics
from kafka_lite.coordinator.transaction.transaction_coordinator import EndTxnResult, TransactionCoordinator
from kafka_lite.coordinator.transaction.transaction_state import TransactionState
from kafka_lite.network.request import Request
from kafka_lite.protocol.messages import api_24_add_partitions_to_txn as add_partitions
from kafka_lite.protocol.messages import api_25_add_offsets_to_txn as add_offsets
from kafka_lite.protocol.messages import api_26_end_txn as end_txn
from kafka_lite.protocol.messages import api_65_describe_transactions as describe
from kafka_lite.protocol.messages import api_66_list_transactions as list_transactions
from kafka_lite.server.apis.api_handler import Respond, error_for_version
from kafka_lite.server.metadata_cache import MetadataCache

LATER_ERRORS = {Errors.PRODUCER_FENCED: (2, Errors.INVALID_PRODUCER_EPOCH)}
"""Errors that older producers do not know: the first version that has them, and the replacement before."""
FIRST_VERSION_OF_BROKERS = 4
FIRST_END_WITH_BUMP = 5
STATES_BY_TITLE = {state.title: state for state in TransactionState}
PartitionErrors = Mapping[TopicPartition, Errors]


class TransactionApis:
    """Handlers of requests to the transaction coordinator."""

    def __init__(
        self,
        coordinator: TransactionCoordinator,
        metadata_cache: MetadataCache,
        offsets_partition_of: Callable[[str], TopicPartition],
    ) -> None:
        """``offsets_partition_of`` returns a group's partition of ``__consumer_offsets``."""
        self._coordinator = coordinator
        self._metadata_cache = metadata_cache
        self._offsets_partition_of = offsets_partition_of

    def handle_add_partitions_to_txn(
        self, request: Request, body: add_partitions.AddPartitionsToTxnRequest, respond: Respond
    ) -> None:
        """Add partitions to a producer's transaction; from version 4 on, for brokers, to several, or verify them."""
        version = request.header.api_version
        if version >= FIRST_VERSION_OF_BROKERS:
            results = _Results(body.transactions, respond)
            for transaction in body.transactions:
                self._add_or_verify(version, transaction, results.sender(transaction.transactional_id))
            return
        transaction = add_partitions.AddPartitionsToTxnTransaction(
            transactional_id=body.v3_and_below_transactional_id,
            producer_id=body.v3_and_below_producer_id,
            producer_epoch=body.v3_and_below_producer_epoch,
            topics=body.v3_and_below_topics,
        )

        def send(errors: PartitionErrors) -> None:
            results = _topic_results(errors)
            respond(add_partitions.AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results))

        self._add_or_verify(version, transaction, send)

    def _add_or_verify(
        self,
        version: int,
        transaction: add_partitions.AddPartitionsToTxnTransaction,
        send: Callable[[PartitionErrors], None],
    ) -> None:
        """Add all partitions or none: if one cannot be added, the others get OPERATION_NOT_ATTEMPTED."""
        asked = [TopicPartition(topic.name, index) for topic in transaction.topics for index in topic.partitions]
        wrong = {tp: error for tp in asked if (error := self._refusal(version, tp)) is not None}
        producer = ProducerIdAndEpoch(transaction.producer_id, transaction.producer_epoch)
        if wrong:
            send({tp: wrong.get(tp, Errors.OPERATION_NOT_ATTEMPTED) for tp in asked})
        elif transaction.verify_only:
            send(self._coordinator.verify_partitions(transaction.transactional_id, producer, asked))
        else:
            self._coordinator.handle_add_partitions(
                transaction.transactional_id,
                producer,
                frozenset(asked),
                lambda error: send(dict.fromkeys(asked, error_for_version(error, version, LATER_ERRORS))),
                2 if version >= FIRST_VERSION_OF_BROKERS else 0,
            )

    def _refusal(self, version: int, partition: TopicPartition) -> Errors | None:
        """Why a partition cannot be added. Clients write to internal topics by other requests only."""
        if version < FIRST_VERSION_OF_BROKERS and is_internal(partition.topic):
            return Errors.TOPIC_AUTHORIZATION_FAILED
        return Errors.UNKNOWN_TOPIC_OR_PARTITION if self._metadata_cache.get_partition_info(partition) is None else None

    def handle_add_offsets_to_txn(
        self, request: Request, body: add_offsets.AddOffsetsToTxnRequest, respond: Respond
    ) -> None:
        """Add the group's partition of ``__consumer_offsets``."""

        def send(error: Errors) -> None:
            known = error_for_version(error, request.header.api_version, LATER_ERRORS)
            respond(add_offsets.AddOffsetsToTxnResponse(error_code=known.code))

        self._coordinator.handle_add_partitions(
            body.transactional_id,
            ProducerIdAndEpoch(body.producer_id, body.producer_epoch),
            frozenset({self._offsets_partition_of(body.group_id)}),
            send,
        )

    def handle_end_txn(self, request: Request, body: end_txn.EndTxnRequest, respond: Respond) -> None:
        """Commit or abort; the response is sent once the decision is in the log.

        From version 5 on, every transaction has an epoch of its own, and the response has the next one.
        """
        producer = ProducerIdAndEpoch(body.producer_id, body.producer_epoch)
        if request.header.api_version >= FIRST_END_WITH_BUMP:

            def send_producer(result: EndTxnResult) -> None:
                producer_id, epoch = result.producer
                respond(
                    end_txn.EndTxnResponse(error_code=result.error.code, producer_id=producer_id, producer_epoch=epoch)
                )

            self._coordinator.handle_bumped_end(body.transactional_id, producer, body.committed, send_producer)
            return

        def send(error: Errors) -> None:
            known = error_for_version(error, request.header.api_version, LATER_ERRORS)
            respond(end_txn.EndTxnResponse(error_code=known.code))

        self._coordinator.handle_end_transaction(body.transactional_id, producer, body.committed, send)

    def handle_describe_transactions(
        self, _request: Request, body: describe.DescribeTransactionsRequest, respond: Respond
    ) -> None:
        """Describe ids, each with its own error."""
        states = [self._describe(transactional_id) for transactional_id in body.transactional_ids]
        respond(describe.DescribeTransactionsResponse(transaction_states=states))

    def _describe(self, transactional_id: str) -> describe.TransactionState:
        described = describe.TransactionState(transactional_id=transactional_id)
        try:
            current = self._coordinator.describe_transaction(transactional_id)
        except ApiError as failure:
            described.error_code = failure.error.code
            return described
        topics: dict[str, describe.TopicData] = {}
        for topic, partition in sorted(current.topic_partitions):
            topics.setdefault(topic, describe.TopicData(topic=topic)).partitions.append(partition)
        described.transaction_state = current.state.title
        described.transaction_timeout_ms = current.timeout_ms
        described.transaction_start_time_ms = current.start_timestamp_ms
        described.producer_id = current.producer_id
        described.producer_epoch = current.producer_epoch
        described.topics = list(topics.values())
        return described

    def handle_list_transactions(
        self, _request: Request, body: list_transactions.ListTransactionsRequest, respond: Respond
    ) -> None:
        """List the ids that this broker coordinates. Names of states that there are not are in the response."""
        unknown = [name for name in body.state_filters if name not in STATES_BY_TITLE]
        states = {STATES_BY_TITLE[name] for name in body.state_filters if name in STATES_BY_TITLE}
        try:
            found = self._coordinator.list_transactions(
                states if body.state_filters else None, frozenset(body.producer_id_filters), body.duration_filter
            )
            if pattern := body.transactional_id_pattern:
                wanted = matching_topics(pattern, found)
                found = {each: current for each, current in found.items() if each in wanted}
        except ApiError as failure:
            respond(list_transactions.ListTransactionsResponse(error_code=failure.error.code))
            return
        respond(
            list_transactions.ListTransactionsResponse(
                unknown_state_filters=unknown,
                transaction_states=[
                    list_transactions.TransactionState(
                        transactional_id=transactional_id,
                        producer_id=current.producer_id,
                        transaction_state=current.state.title,
                    )
                    for transactional_id, current in found.items()
                ],
            )
        )


class _Results:
    """Collects the results of a request's transactions, which arrive in any thread, and responds after the last."""

    def __init__(
        self, transactions: Collection[add_partitions.AddPartitionsToTxnTransaction], respond: Respond
    ) -> None:
        self._left = len(transactions)
        self._respond = respond
        self._lock = threading.Lock()
        self._response = add_partitions.AddPartitionsToTxnResponse()
        if not transactions:
            respond(self._response)

    def sender(self, transactional_id: str) -> Callable[[PartitionErrors], None]:
        """Takes the result of one transaction."""

        def send(errors: PartitionErrors) -> None:
            result = add_partitions.AddPartitionsToTxnResult(
                transactional_id=transactional_id, topic_results=_topic_results(errors)
            )
            with self._lock:
                self._response.results_by_transaction.append(result)
                self._left -= 1
                is_complete = not self._left
            if is_complete:
                self._respond(self._response)

        return send


def _topic_results(errors: PartitionErrors) -> list[add_partitions.AddPartitionsToTxnTopicResult]:
    topics: dict[str, add_partitions.AddPartitionsToTxnTopicResult] = {}
    for (topic, partition), error in errors.items():
        result = add_partitions.AddPartitionsToTxnPartitionResult(
            partition_index=partition, partition_error_code=error.code
        )
        of_topic = topics.setdefault(topic, add_partitions.AddPartitionsToTxnTopicResult(name=topic))
        of_topic.results_by_partition.append(result)
    return list(topics.values())
