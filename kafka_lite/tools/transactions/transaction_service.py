"""Transactions as brokers know them: the coordinators know transactional ids, partition leaders know producers.

Kafka 3.0: clients/.../clients/admin/KafkaAdminClient.java (listTransactions, describeTransactions, describeProducers,
abortTransaction) · book 10.3
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from kafka_lite.protocol.messages.api_22_init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kafka_lite.protocol.messages.api_27_write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from kafka_lite.protocol.messages.api_61_describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    ProducerState,
    TopicRequest,
)
from kafka_lite.protocol.messages.api_65_describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)
from kafka_lite.protocol.messages.api_66_list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from kafka_lite.tools.admin.admin_channel import RETRY_BACKOFF_MS, AdminChannel, check_answered, check_error
from kafka_lite.tools.common.tool_errors import ToolError

TRANSACTION = 1
"""The key type of transactional ids in FindCoordinator."""
LAST_WITH_ONE_KEY = 3
FENCE_TIMEOUT_MS = 1
MAX_RETRIES = 100
RETRIABLE = {
    Errors.COORDINATOR_LOAD_IN_PROGRESS,
    Errors.COORDINATOR_NOT_AVAILABLE,
    Errors.NOT_COORDINATOR,
    Errors.CONCURRENT_TRANSACTIONS,
}
NO_OFFSET = -1


class ListedTransaction(NamedTuple):
    """A transactional id, as its coordinator lists it."""

    transactional_id: str
    coordinator_id: int
    producer_id: int
    state: str


class OpenTransaction(NamedTuple):
    """A transaction that is open in a partition."""

    partition: TopicPartition
    producer: ProducerState


def list_transactions(
    channel: AdminChannel, *, producer_ids: Collection[int] = (), duration_ms: int = -1
) -> list[ListedTransaction]:
    """The transactional ids of all coordinators, with ``duration_ms`` only those open for longer.

    A coordinator that is still loading lists only some of them, and is asked again. Raises ToolError.
    """
    request = ListTransactionsRequest(producer_id_filters=sorted(producer_ids), duration_filter=duration_ms)
    listed = []
    for broker_id in sorted(channel.brokers):
        response = _list_when_loaded(channel, request, broker_id)
        listed += [
            ListedTransaction(each.transactional_id, broker_id, each.producer_id, each.transaction_state)
            for each in response.transaction_states
        ]
    return listed


def _list_when_loaded(
    channel: AdminChannel, request: ListTransactionsRequest, broker_id: int
) -> ListTransactionsResponse:
    for _ in range(MAX_RETRIES):
        response = channel.send(request, ListTransactionsResponse, broker_id)
        if Errors.for_code(response.error_code) is not Errors.COORDINATOR_LOAD_IN_PROGRESS:
            break
        channel.time.sleep(RETRY_BACKOFF_MS)
    check_error(response.error_code)
    return response


def find_coordinator(channel: AdminChannel, transactional_id: str) -> int:
    """The broker that coordinates the id. Raises ToolError."""
    request = FindCoordinatorRequest(key=transactional_id, key_type=TRANSACTION)
    for _ in range(MAX_RETRIES):
        response = channel.send(request, FindCoordinatorResponse, max_version=LAST_WITH_ONE_KEY)
        if Errors.for_code(response.error_code) not in RETRIABLE:
            break
        channel.time.sleep(RETRY_BACKOFF_MS)
    check_error(response.error_code, response.error_message)
    return response.node_id


def describe_transaction(channel: AdminChannel, transactional_id: str) -> tuple[int, TransactionState]:
    """The coordinator of an id, and the transaction's state. Raises ToolError if there is none, or on another error."""
    ((coordinator_id, state),) = _settled_states(
        channel, {transactional_id: find_coordinator(channel, transactional_id)}
    )
    _check_described(state)
    return coordinator_id, state


def describe_transactions(
    channel: AdminChannel, listed: Iterable[ListedTransaction]
) -> list[tuple[int, TransactionState]]:
    """The coordinator and the state of each id, without ids that have expired meanwhile. Raises ToolError."""
    states = _settled_states(channel, {each.transactional_id: each.coordinator_id for each in listed})
    alive = [each for each in states if each[1].error_code != Errors.TRANSACTIONAL_ID_NOT_FOUND.code]
    for _, state in alive:
        _check_described(state)
    return alive


def _settled_states(channel: AdminChannel, coordinators: Mapping[str, int]) -> list[tuple[int, TransactionState]]:
    """The coordinator and the state, or the error, of each id. An id whose error may pass is asked for again."""
    settled = []
    for _ in range(MAX_RETRIES):
        states = list(_ask_coordinators(channel, coordinators))
        passing = [each for each in states if _may_pass(each[1])]
        settled += [each for each in states if not _may_pass(each[1])]
        if not passing:
            return settled
        channel.time.sleep(RETRY_BACKOFF_MS)
        ids = [state.transactional_id for _, state in passing]
        coordinators = {each: find_coordinator(channel, each) for each in ids}
    return settled + passing


def _ask_coordinators(channel: AdminChannel, coordinators: Mapping[str, int]) -> Iterator[tuple[int, TransactionState]]:
    """One request to each coordinator."""
    by_coordinator: dict[int, list[str]] = {}
    for transactional_id, coordinator_id in coordinators.items():
        by_coordinator.setdefault(coordinator_id, []).append(transactional_id)
    for coordinator_id, ids in by_coordinator.items():
        request = DescribeTransactionsRequest(transactional_ids=ids)
        response = channel.send(request, DescribeTransactionsResponse, coordinator_id)
        yield from ((coordinator_id, state) for state in response.transaction_states)


def _may_pass(state: TransactionState) -> bool:
    return Errors.for_code(state.error_code) in RETRIABLE


def _check_described(state: TransactionState) -> None:
    error = Errors.for_code(state.error_code)
    if error is not Errors.NONE:
        reason = f"Failed to describe transaction state of transactional-id `{state.transactional_id}`"
        raise ToolError(f"{reason}: {error.name}: {error.message}")


def describe_producers(
    channel: AdminChannel, partitions: Iterable[TopicPartition], broker_id: int | None = None
) -> dict[TopicPartition, list[ProducerState]]:
    """The producers of each partition, as its leader knows them, or else one broker. Raises ToolError."""
    wanted = sorted(partitions)
    leaders = channel.leaders({each.topic for each in wanted})
    by_broker: dict[int, list[TopicPartition]] = {}
    for partition in wanted:
        broker = leaders.get(partition, -1) if broker_id is None else broker_id
        if partition not in leaders or broker < 0:
            error = Errors.LEADER_NOT_AVAILABLE if partition in leaders else Errors.UNKNOWN_TOPIC_OR_PARTITION
            raise ToolError(f"{partition}: {error.name}: {error.message}")
        by_broker.setdefault(broker, []).append(partition)
    found: dict[TopicPartition, list[ProducerState]] = {}
    for broker, of_broker in by_broker.items():
        found.update(_producers_of(channel, broker, of_broker))
    return found


def _producers_of(
    channel: AdminChannel, broker_id: int, partitions: list[TopicPartition]
) -> Iterator[tuple[TopicPartition, list[ProducerState]]]:
    topics: dict[str, list[int]] = {}
    for partition in partitions:
        topics.setdefault(partition.topic, []).append(partition.partition)
    request = DescribeProducersRequest(
        topics=[TopicRequest(name=name, partition_indexes=indexes) for name, indexes in topics.items()]
    )
    response = channel.send(request, DescribeProducersResponse, broker_id)
    for topic in response.topics:
        for each in topic.partitions:
            partition = TopicPartition(topic.name, each.partition_index)
            error = Errors.for_code(each.error_code)
            if error is not Errors.NONE:
                raise ToolError(f"{partition}: {each.error_message or f'{error.name}: {error.message}'}")
            yield partition, each.active_producers
    answered = (
        TopicPartition(topic.name, each.partition_index) for topic in response.topics for each in topic.partitions
    )
    check_answered(partitions, answered)


def abort_transaction(channel: AdminChannel, partition: TopicPartition, marker: WritableTxnMarker) -> None:
    """Make the partition's leader write an abort marker. Raises ToolError."""
    marker.topics = [WritableTxnMarkerTopic(name=partition.topic, partition_indexes=[partition.partition])]
    leader = channel.leaders({partition.topic}).get(partition, -1)
    response = channel.send(WriteTxnMarkersRequest(markers=[marker]), WriteTxnMarkersResponse, leader)
    errors = [each.error_code for of in response.markers for topic in of.topics for each in topic.partitions]
    if not errors:
        raise ToolError(f"broker {leader} did not say whether it has aborted the transaction in {partition}")
    for code in errors:
        check_error(code)


def force_terminate(channel: AdminChannel, transactional_id: str) -> None:
    """Fence the producer of an id, which aborts its open transaction. Raises ToolError."""
    request = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=FENCE_TIMEOUT_MS)
    for _ in range(MAX_RETRIES):
        response = channel.send(request, InitProducerIdResponse, find_coordinator(channel, transactional_id), 4)
        if Errors.for_code(response.error_code) not in RETRIABLE:
            break
        channel.time.sleep(RETRY_BACKOFF_MS)
    check_error(response.error_code)


def open_longer_than(
    producers: Mapping[TopicPartition, Iterable[ProducerState]], age_ms: int, now_ms: int
) -> list[OpenTransaction]:
    """The open transactions whose last record is older than ``age_ms``."""
    return [
        OpenTransaction(partition, producer)
        for partition, of_partition in producers.items()
        for producer in of_partition
        if producer.current_txn_start_offset != NO_OFFSET and now_ms - producer.last_timestamp > age_ms
    ]


def find_hanging(channel: AdminChannel, candidates: Collection[OpenTransaction]) -> list[OpenTransaction]:
    """The open transactions that no coordinator will end: it does not know that the partition is part of one."""
    if not candidates:
        return []
    ids = list_transactions(channel, producer_ids={each.producer.producer_id for each in candidates})
    known = {state.producer_id: state for _, state in describe_transactions(channel, ids)}
    return [each for each in candidates if not is_known(each, known.get(each.producer.producer_id))]


def is_known(transaction: OpenTransaction, state: TransactionState | None) -> bool:
    """Whether the coordinator's transaction has the partition, so that it will end there, too."""
    partition = transaction.partition
    return state is not None and any(
        topic.topic == partition.topic and partition.partition in topic.partitions for topic in state.topics
    )
