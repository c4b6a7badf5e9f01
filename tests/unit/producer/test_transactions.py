"""The states of a transaction, and the request that each needs next."""

from __future__ import annotations

from collections.abc import Callable

import pytest

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
    EndTxn,
    FindCoordinator,
    Identity,
    InitProducerId,
    TxnOffsetCommit,
)
from kafka_lite.record.compression import CompressionType
from tests.support.producer_transactions import NODE, OF_GROUP, TRANSACTION, in_transaction, new_manager, ready

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)

ME = Identity("id", 7, 0)

GROUP = ConsumerGroupMetadata("g", 3, "member")


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
