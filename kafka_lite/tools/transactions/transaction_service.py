"""Transactions as brokers know them: the coordinators know transactional ids, partition leaders know producers.

Kafka 3.0: clients/.../clients/admin/KafkaAdminClient.java (listTransactions, describeTransactions, describeProducers,
abortTransaction) · book 10.3
"""

from __future__ import annotations

import time
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
from kafka_lite.tools.admin.admin_channel import RETRY_BACKOFF_MS, AdminChannel, check_error
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
    """The transactional ids of all coordinators, with ``duration_ms`` only those open for longer. Raises ToolError."""
    request = ListTransactionsRequest(producer_id_filters=sorted(producer_ids), duration_filter=duration_ms)
    listed = []
    for broker_id in sorted(channel.brokers):
        response = channel.send(request, ListTransactionsResponse, broker_id)
        check_error(response.error_code)
        listed += [
            ListedTransaction(each.transactional_id, broker_id, each.producer_id, each.transaction_state)
            for each in response.transaction_states
        ]
    return listed


def find_coordinator(channel: AdminChannel, transactional_id: str) -> int:
    """The broker that coordinates the id. Raises ToolError."""
    request = FindCoordinatorRequest(key=transactional_id, key_type=TRANSACTION)
    for _ in range(MAX_RETRIES):
        response = channel.send(request, FindCoordinatorResponse, max_version=LAST_WITH_ONE_KEY)
        if Errors.for_code(response.error_code) not in RETRIABLE:
            break
        time.sleep(RETRY_BACKOFF_MS / 1000)
    check_error(response.error_code, response.error_message)
    return response.node_id


def describe_transaction(channel: AdminChannel, transactional_id: str) -> tuple[int, TransactionState]:
    """The coordinator of an id, and the transaction's state. Raises ToolError if there is none, or on another error."""
    request = DescribeTransactionsRequest(transactional_ids=[transactional_id])
    for _ in range(MAX_RETRIES):
        coordinator_id = find_coordinator(channel, transactional_id)
        (state,) = channel.send(request, DescribeTransactionsResponse, coordinator_id).transaction_states
        if Errors.for_code(state.error_code) not in RETRIABLE:
            break
        time.sleep(RETRY_BACKOFF_MS / 1000)
    error = Errors.for_code(state.error_code)
    if error is not Errors.NONE:
        reason = f"Failed to describe transaction state of transactional-id `{transactional_id}`"
        raise ToolError(f"{reason}: {error.name}: {error.message}")
    return coordinator_id, state


def describe_transactions(
    channel: AdminChannel, listed: Iterable[ListedTransaction]
) -> list[tuple[int, TransactionState]]:
    """The coordinator and the state of each id; without ids that have moved or expired meanwhile."""
    by_coordinator: dict[int, list[str]] = {}
    for each in listed:
        by_coordinator.setdefault(each.coordinator_id, []).append(each.transactional_id)
    return [
        (broker_id, state)
        for broker_id, ids in by_coordinator.items()
        for state in channel.send(
            DescribeTransactionsRequest(transactional_ids=ids), DescribeTransactionsResponse, broker_id
        ).transaction_states
        if state.error_code == Errors.NONE.code
    ]


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


def abort_transaction(channel: AdminChannel, partition: TopicPartition, marker: WritableTxnMarker) -> None:
    """Make the partition's leader write an abort marker. Raises ToolError."""
    marker.topics = [WritableTxnMarkerTopic(name=partition.topic, partition_indexes=[partition.partition])]
    leader = channel.leaders({partition.topic}).get(partition, -1)
    response = channel.send(WriteTxnMarkersRequest(markers=[marker]), WriteTxnMarkersResponse, leader)
    errors = [each.error_code for of in response.markers for topic in of.topics for each in topic.partitions]
    for code in errors:
        check_error(code)


def force_terminate(channel: AdminChannel, transactional_id: str) -> None:
    """Fence the producer of an id, which aborts its open transaction. Raises ToolError."""
    request = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=FENCE_TIMEOUT_MS)
    for _ in range(MAX_RETRIES):
        response = channel.send(request, InitProducerIdResponse, find_coordinator(channel, transactional_id), 4)
        if Errors.for_code(response.error_code) not in RETRIABLE:
            break
        time.sleep(RETRY_BACKOFF_MS / 1000)
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
    known = {each.producer_id: describe_transaction(channel, each.transactional_id)[1] for each in ids}
    return [each for each in candidates if not is_known(each, known.get(each.producer.producer_id))]


def is_known(transaction: OpenTransaction, state: TransactionState | None) -> bool:
    """Whether the coordinator's transaction has the partition, so that it will end there, too."""
    partition = transaction.partition
    return state is not None and any(
        topic.topic == partition.topic and partition.partition in topic.partitions for topic in state.topics
    )
