"""The states of a transaction, and the request that each needs next."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kafka_lite.clients.cluster import Node
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_group_metadata import ConsumerGroupMetadata
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.producer.producer_batch import ProducerBatch
from kafka_lite.producer.transaction_errors import (
    IllegalTransactionStateError,
    ProducerFencedError,
    TransactionAbortedError,
    TransactionError,
)
from kafka_lite.producer.transaction_manager import TransactionManager
from kafka_lite.producer.transaction_state import VALID_PREVIOUS_STATES, State
from kafka_lite.producer.txn_requests import (
    AddOffsetsToTxn,
    AddPartitionsToTxn,
    CoordinatorType,
    EndTxn,
    FindCoordinator,
    Identity,
    InitProducerId,
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
from kafka_lite.record.compression import CompressionType

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
ME = Identity("id", 7, 0)
GROUP = ConsumerGroupMetadata("g", 3, "member")
NODE = Node(0, "localhost", 9092)
TRANSACTION, OF_GROUP = (CoordinatorType.TRANSACTION, "id"), (CoordinatorType.GROUP, "g")


def new_manager() -> TransactionManager:
    return TransactionManager(transactional_id="id", transaction_timeout_ms=5000)


def ready(*, can_bump_epoch: bool = True) -> TransactionManager:
    manager = new_manager()
    call = manager.initialize_transactions()
    manager.coordinator_found(*TRANSACTION, NODE)
    manager.coordinator_found(*OF_GROUP, NODE)
    manager.initialized(7, 0, can_bump_epoch=can_bump_epoch)
    call.wait(0)
    return manager


def in_transaction(*, can_bump_epoch: bool = True) -> TransactionManager:
    """With one partition in it."""
    manager = ready(can_bump_epoch=can_bump_epoch)
    manager.begin_transaction()
    manager.maybe_add_partition(T0)
    manager.next_request(False)
    manager.responded()
    manager.partitions_added(frozenset({T0}))
    return manager


def batch(partition: TopicPartition = T0) -> ProducerBatch:
    made = ProducerBatch(partition, bytearray(1000), 2, CompressionType.NONE, 0)
    made.try_append(0, None, b"v", (), None)
    return made


def sent(manager: TransactionManager) -> ProducerBatch:
    made = batch()
    assert manager.may_send(made)
    manager.number(made)
    made.in_flight = True
    return made


def lose_a_batch(
    manager: TransactionManager, *, refused: bool = True, error: Errors = Errors.MESSAGE_TOO_LARGE
) -> None:
    manager.failed(sent(manager), error.exception(), broker_has_refused=refused)


# ── the happy path ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_coordinator_is_looked_up_before_the_producer_id() -> None:
    manager = new_manager()
    assert manager.next_request(False) is None, "nothing is initialized before init_transactions"
    call = manager.initialize_transactions()
    assert manager.next_request(False) == FindCoordinator(*TRANSACTION)
    manager.coordinator_found(*TRANSACTION, NODE)
    request = manager.next_request(False)
    assert request == InitProducerId("id", 5000)
    assert manager.coordinator(request) == NODE
    manager.initialized(7, 0)
    assert call.is_completed
    assert manager.next_request(False) is None


def test_a_batch_waits_for_its_partition_to_be_in_the_transaction() -> None:
    manager = ready()
    manager.begin_transaction()
    manager.maybe_add_partition(T0)
    manager.maybe_add_partition(T1)
    assert not manager.may_send(batch())
    assert manager.next_request(True) == AddPartitionsToTxn(ME, frozenset({T0, T1}))
    manager.partitions_added(frozenset({T0, T1}))
    made = sent(manager)
    assert made.is_transactional
    assert (made.producer_id, made.producer_epoch, made.base_sequence) == (7, 0, 0)
    manager.maybe_add_partition(T1)
    assert manager.next_request(True) is None, "it is in the transaction already"


@pytest.mark.parametrize("commits", [True, False])
def test_a_transaction_ends_once_no_batch_is_incomplete(commits: bool) -> None:
    manager = in_transaction()
    call = manager.begin_commit() if commits else manager.begin_abort()
    assert manager.next_request(True) is None
    assert manager.next_request(False) == EndTxn(ME, commits)
    assert not call.is_completed
    manager.transaction_ended()
    assert manager.state is State.READY
    call.wait(0)
    manager.begin_transaction()
    assert not manager.may_send(batch()), "each transaction adds its partitions anew"


def test_a_transaction_without_records_ends_without_a_request() -> None:
    manager = ready()
    manager.begin_transaction()
    call = manager.begin_commit()
    assert manager.next_request(False) is None
    assert call.is_completed
    assert manager.state is State.READY


def test_a_commit_sends_the_partitions_that_were_added_last() -> None:
    manager = in_transaction()
    manager.maybe_add_partition(T1)
    manager.begin_commit()
    assert manager.next_request(True) == AddPartitionsToTxn(ME, frozenset({T1}))
    manager.partitions_added(frozenset({T1}))
    assert manager.may_send(batch(T1))


def test_offsets_go_to_both_coordinators() -> None:
    manager = ready()
    manager.begin_transaction()
    call = manager.send_offsets_to_transaction({T0: OffsetAndMetadata(4), T1: OffsetAndMetadata(5)}, GROUP)
    add = manager.next_request(False)
    assert isinstance(add, AddOffsetsToTxn)
    assert add.coordinator == TRANSACTION
    manager.responded()
    manager.group_added(add.offsets)
    commit = manager.next_request(False)
    assert isinstance(commit, TxnOffsetCommit)
    assert commit.coordinator == OF_GROUP
    manager.offsets_accepted(commit.offsets, [T0])
    assert not call.is_completed
    again = manager.next_request(False)
    assert isinstance(again, TxnOffsetCommit)
    assert set(again.offsets.pending) == {T1}
    manager.offsets_accepted(commit.offsets, [T1])
    assert call.is_completed
    manager.begin_commit()
    assert manager.next_request(False) == EndTxn(ME, True)


# ── calls in the wrong order ──────────────────────────────────────────────────────────────────────────────────────────

CALLS: dict[str, Callable[[TransactionManager], object]] = {
    "init": TransactionManager.initialize_transactions,
    "begin": TransactionManager.begin_transaction,
    "send": TransactionManager.ensure_may_send,
    "add": lambda manager: manager.maybe_add_partition(T1),
    "offsets": lambda manager: manager.send_offsets_to_transaction({}, GROUP),
    "commit": TransactionManager.begin_commit,
    "abort": TransactionManager.begin_abort,
}
IN: dict[str, tuple[Callable[[], TransactionManager], set[str]]] = {
    "uninitialized": (new_manager, {"init"}),
    "ready": (ready, {"begin"}),
    "in a transaction": (in_transaction, {"send", "add", "offsets", "commit", "abort"}),
}


@pytest.mark.parametrize("state", IN)
@pytest.mark.parametrize("call", CALLS)
def test_a_call_in_the_wrong_state_raises_and_changes_nothing(state: str, call: str) -> None:
    make, allowed = IN[state]
    manager = make()
    before = manager.state
    if call in allowed:
        CALLS[call](manager)
        return
    with pytest.raises(IllegalTransactionStateError):
        CALLS[call](manager)
    assert manager.state is before


@pytest.mark.parametrize("call", ["init", "begin", "offsets", "commit", "abort"])
def test_without_a_transactional_id_there_are_no_transactions(call: str) -> None:
    with pytest.raises(IllegalTransactionStateError, match=r"setting transactional\.id"):
        CALLS[call](TransactionManager())


def test_a_call_that_timed_out_may_be_repeated_and_nothing_else() -> None:
    manager = in_transaction()
    call = manager.begin_commit()
    with pytest.raises(ApiError, match="Timeout expired after 0 ms while awaiting commit_transaction"):
        call.wait(0)
    assert manager.begin_commit() is call
    for other in CALLS.keys() - {"commit", "add"}:
        with pytest.raises(IllegalTransactionStateError, match="previous call to commit_transaction"):
            CALLS[other](manager)
    manager.transaction_ended()
    assert manager.begin_commit() is call
    call.wait(0)
    manager.begin_transaction()


def test_every_state_can_be_reached() -> None:
    reached = {State.UNINITIALIZED}
    while new := {state for state, before in VALID_PREVIOUS_STATES.items() if before & reached} - reached:
        reached |= new
    assert reached == set(State) == VALID_PREVIOUS_STATES.keys()


# ── errors ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_lost_batch_allows_nothing_but_an_abort_which_gets_a_new_epoch() -> None:
    manager = in_transaction()
    lose_a_batch(manager)
    assert manager.state is State.ABORTABLE_ERROR
    for name in CALLS.keys() - {"abort", "add"}:
        with pytest.raises(TransactionError) as refused:
            CALLS[name](manager)
        assert refused.value.requires_abort
    assert isinstance(manager.error_of_new_batches(), ApiError)
    call = manager.begin_abort()
    assert isinstance(manager.error_of_new_batches(), TransactionAbortedError)
    assert manager.next_request(False) == EndTxn(ME, False)
    manager.transaction_ended()
    assert not call.is_completed, "the abort includes the new epoch"
    assert manager.next_request(False) == InitProducerId("id", 5000, ME)
    manager.initialized(7, 1)
    call.wait(0)
    manager.begin_transaction()
    manager.maybe_add_partition(T0)
    manager.partitions_added(frozenset({T0}))
    made = sent(manager)
    assert (made.producer_epoch, made.base_sequence) == (1, 0)


def test_a_batch_lost_in_a_commit_fails_the_commit() -> None:
    manager = in_transaction()
    last = sent(manager)
    call = manager.begin_commit()
    manager.failed(last, Errors.REQUEST_TIMED_OUT.exception("expired"), broker_has_refused=False)
    with pytest.raises(ApiError, match="expired"):
        call.wait(0)
    manager.begin_abort()
    assert manager.next_request(False) == EndTxn(ME, False)


def test_a_batch_lost_in_an_abort_does_not_disturb_it() -> None:
    manager = in_transaction()
    last = sent(manager)
    manager.begin_abort()
    manager.failed(last, Errors.REQUEST_TIMED_OUT.exception(), broker_has_refused=False)
    assert manager.state is State.ABORTING_TRANSACTION
    manager.transaction_ended()
    assert manager.next_request(False) == InitProducerId("id", 5000, ME)


def test_a_record_that_was_never_queued_fails_the_transaction() -> None:
    manager = in_transaction()
    manager.record_lost(Errors.MESSAGE_TOO_LARGE.exception())
    with pytest.raises(TransactionError):
        manager.begin_commit()
    manager.begin_abort()
    manager.next_request(False)
    manager.transaction_ended()
    assert manager.state is State.READY, "no number is lost"


def test_without_a_new_epoch_a_refused_number_is_used_again() -> None:
    """Brokers before 2.5."""
    manager = in_transaction(can_bump_epoch=False)
    first = sent(manager)
    manager.completed(first)
    lose_a_batch(manager)
    call = manager.begin_abort()
    manager.transaction_ended()
    assert manager.state is State.READY
    call.wait(0)
    manager.begin_transaction()
    manager.maybe_add_partition(T0)
    manager.partitions_added(frozenset({T0}))
    assert sent(manager).base_sequence == 1


def test_without_a_new_epoch_an_unknown_outcome_is_fatal() -> None:
    manager = in_transaction(can_bump_epoch=False)
    lose_a_batch(manager, refused=False)
    assert manager.state is State.FATAL_ERROR
    with pytest.raises(TransactionError) as refused:
        manager.begin_abort()
    assert not refused.value.requires_abort


def test_numbers_that_will_never_arrive_are_not_retried() -> None:
    manager = in_transaction()
    manager.completed(sent(manager))
    oldest, behind = sent(manager), sent(manager)
    for error in (Errors.OUT_OF_ORDER_SEQUENCE_NUMBER, Errors.UNKNOWN_PRODUCER_ID, Errors.INVALID_PRODUCER_EPOCH):
        assert not manager.can_retry(oldest, error)
    assert manager.can_retry(behind, Errors.OUT_OF_ORDER_SEQUENCE_NUMBER)


def test_retries_go_on_in_an_abort() -> None:
    """Or they might be appended behind the marker."""
    manager = in_transaction()
    retried = sent(manager)
    retried.reenqueued(0)
    manager.begin_abort()
    assert manager.may_send(retried)
    assert not manager.may_send(batch())


def test_an_abort_waits_for_a_request_that_may_have_begun_the_transaction() -> None:
    manager = ready()
    manager.begin_transaction()
    manager.maybe_add_partition(T0)
    add = manager.next_request(True)
    manager.begin_abort()
    assert manager.next_request(False) == add, "its response is missing"
    manager.responded()
    manager.partitions_added(frozenset({T0}))
    assert manager.next_request(False) == EndTxn(ME, False)


def test_an_abort_fails_the_offsets_that_wait() -> None:
    manager = in_transaction()
    call = manager.send_offsets_to_transaction({T0: OffsetAndMetadata(4)}, GROUP)
    manager.begin_abort()
    with pytest.raises(TransactionAbortedError):
        call.wait(0)


def test_a_forgotten_id_skips_the_end_and_gets_a_new_one() -> None:
    manager = in_transaction()
    manager.abortable_if_epoch_can_be_bumped(Errors.INVALID_PRODUCER_ID_MAPPING.exception())
    call = manager.begin_abort()
    assert manager.next_request(False) == InitProducerId("id", 5000, ME)
    manager.initialized(9, 0)
    call.wait(0)
    assert manager.producer_id == 9


def test_a_fenced_producer_can_only_be_closed() -> None:
    manager = in_transaction()
    lose_a_batch(manager, error=Errors.PRODUCER_FENCED)
    assert manager.state is State.FATAL_ERROR
    for call in CALLS.keys() - {"add"}:
        with pytest.raises(ProducerFencedError):
            CALLS[call](manager)
    assert not manager.may_send(batch())


# ── responses ─────────────────────────────────────────────────────────────────────────────────────────────────────────


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
