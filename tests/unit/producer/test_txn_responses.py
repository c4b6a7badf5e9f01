"""The reaction to each error of each response in a producer's transactions."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_group_metadata import ConsumerGroupMetadata
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.producer.transaction_errors import (
    ProducerFencedError,
)
from kafka_lite.producer.transaction_manager import TransactionManager
from kafka_lite.producer.transaction_state import State
from kafka_lite.producer.txn_requests import (
    AddOffsetsToTxn,
    AddPartitionsToTxn,
    FindCoordinator,
    TxnOffsetCommit,
    TxnRequest,
)
from kafka_lite.producer.txn_responses import REACTIONS, Reaction, handle_response, reaction_to
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorResponse
from kafka_lite.protocol.messages.api_22_init_producer_id import InitProducerIdResponse
from kafka_lite.protocol.messages.api_24_add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopicResult,
)
from kafka_lite.protocol.messages.api_25_add_offsets_to_txn import AddOffsetsToTxnResponse
from kafka_lite.protocol.messages.api_26_end_txn import EndTxnResponse
from kafka_lite.protocol.messages.api_28_txn_offset_commit import (
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from tests.support.producer_transactions import NODE, TRANSACTION, in_transaction, new_manager

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)

GROUP = ConsumerGroupMetadata("g", 3, "member")


def response(request: TxnRequest, *errors: Errors) -> object:
    """A response with an error for each of the partitions 0, 1, …, or for the request."""
    if isinstance(request, AddPartitionsToTxn):
        added = [
            AddPartitionsToTxnPartitionResult(partition_index=n, partition_error_code=each.code)
            for n, each in enumerate(errors)
        ]
        topics = [AddPartitionsToTxnTopicResult(name="t", results_by_partition=added)]
        return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=topics)
    if isinstance(request, TxnOffsetCommit):
        offsets = [
            TxnOffsetCommitResponsePartition(partition_index=n, error_code=each.code) for n, each in enumerate(errors)
        ]
        return TxnOffsetCommitResponse(topics=[TxnOffsetCommitResponseTopic(name="t", partitions=offsets)])
    kinds: dict[ApiKey, Callable[..., object]] = {
        ApiKey.FIND_COORDINATOR: FindCoordinatorResponse, ApiKey.INIT_PRODUCER_ID: InitProducerIdResponse,
        ApiKey.ADD_OFFSETS_TO_TXN: AddOffsetsToTxnResponse, ApiKey.END_TXN: EndTxnResponse,
    }  # fmt: skip
    return kinds[request.api_key](error_code=errors[0].code)


def waiting_for(api_key: ApiKey) -> tuple[TransactionManager, TxnRequest]:
    """A manager whose next request is of this API, and the request."""
    if api_key in (ApiKey.FIND_COORDINATOR, ApiKey.INIT_PRODUCER_ID):
        manager = new_manager()
        manager.initialize_transactions()
        if api_key is ApiKey.INIT_PRODUCER_ID:
            manager.coordinator_found(*TRANSACTION, NODE)
    else:
        manager = in_transaction()
        if api_key is ApiKey.ADD_PARTITIONS_TO_TXN:
            manager.maybe_add_partition(T1)
        elif api_key is ApiKey.END_TXN:
            manager.begin_commit()
        else:
            manager.send_offsets_to_transaction({T0: OffsetAndMetadata(1), T1: OffsetAndMetadata(2)}, GROUP)
            if api_key is ApiKey.TXN_OFFSET_COMMIT:
                add = manager.next_request(False)
                assert isinstance(add, AddOffsetsToTxn)
                manager.responded()
                manager.group_added(add.offsets)
    request = manager.next_request(False)
    assert request is not None
    assert request.api_key is api_key
    return manager, request


ROWS = [(api_key, error) for api_key, errors in REACTIONS.items() for error in errors] + [
    (api_key, error)
    for api_key in REACTIONS
    for error in (Errors.UNKNOWN_SERVER_ERROR, Errors.INVALID_TXN_STATE, Errors.NOT_ENOUGH_REPLICAS)
]


@pytest.mark.parametrize(("api_key", "error"), ROWS, ids=[f"{api.name}-{error.name}" for api, error in ROWS])
def test_every_error_of_every_response_has_its_reaction(api_key: ApiKey, error: Errors) -> None:
    manager, request = waiting_for(api_key)
    before, reaction = manager.state, reaction_to(api_key, error)
    again = handle_response(manager, request, response(request, error), 4)  # type: ignore[arg-type]
    assert again == (reaction < Reaction.ABORTABLE)
    if reaction is Reaction.RETRY:
        assert manager.state is before
        assert manager.next_request(False) == request
    elif reaction is Reaction.FIND_COORDINATOR:
        assert request.coordinator is not None
        assert manager.next_request(False) == FindCoordinator(*request.coordinator)
    elif reaction in (Reaction.FATAL, Reaction.FENCED):
        assert manager.state is State.FATAL_ERROR
        assert isinstance(manager.error, ProducerFencedError) == (reaction is Reaction.FENCED)
    elif api_key is not ApiKey.FIND_COORDINATOR:  # which also serves calls before a transaction
        assert manager.state is State.ABORTABLE_ERROR


@pytest.mark.parametrize("api_key", REACTIONS)
def test_success_moves_on(api_key: ApiKey) -> None:
    manager, request = waiting_for(api_key)
    assert not handle_response(manager, request, response(request, Errors.NONE, Errors.NONE), 4)  # type: ignore[arg-type]
    assert manager.next_request(False) != request


def test_the_gravest_error_of_a_response_counts() -> None:
    manager, request = waiting_for(ApiKey.ADD_PARTITIONS_TO_TXN)
    errors = (Errors.OPERATION_NOT_ATTEMPTED, Errors.TOPIC_AUTHORIZATION_FAILED, Errors.CONCURRENT_TRANSACTIONS)
    handle_response(manager, request, response(request, *errors), 3)  # type: ignore[arg-type]
    assert isinstance(manager.error, ApiError)
    assert manager.error.error is Errors.TOPIC_AUTHORIZATION_FAILED


def test_offsets_that_were_accepted_are_not_sent_again() -> None:
    manager, request = waiting_for(ApiKey.TXN_OFFSET_COMMIT)
    answer = response(request, Errors.NONE, Errors.COORDINATOR_LOAD_IN_PROGRESS)
    assert handle_response(manager, request, answer, 3)  # type: ignore[arg-type]
    again = manager.next_request(False)
    assert isinstance(again, TxnOffsetCommit)
    assert set(again.offsets.pending) == {T1}


def test_a_coordinator_without_epoch_bumps_is_recognized_by_its_version() -> None:
    manager, request = waiting_for(ApiKey.INIT_PRODUCER_ID)
    handle_response(manager, request, InitProducerIdResponse(producer_id=7, producer_epoch=0), 2)
    manager.abortable_if_epoch_can_be_bumped(Errors.UNKNOWN_PRODUCER_ID.exception())
    assert manager.state is State.FATAL_ERROR
