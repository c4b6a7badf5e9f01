"""Markers are written until every partition of a transaction has its own."""

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.transaction.transaction_state import TransactionState
from tests.support.eventually import eventually
from tests.support.transactions import (
    OTHER_BROKER,
    TXN_ID,
    Transactions,
)

S = TransactionState

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)

OK, BUSY, FENCED = Errors.NONE, Errors.CONCURRENT_TRANSACTIONS, Errors.PRODUCER_FENCED


@pytest.mark.parametrize("commit", [True, False])
def test_another_coordinator_writes_the_markers_of_a_decided_transaction(commit: bool) -> None:
    transactions = Transactions()
    producer = transactions.start()
    transactions.add(producer, [A0, B0])
    transactions.held = []
    assert transactions.end(producer, commit=commit) is OK
    assert transactions.written == []
    other = transactions.restart(epoch=5)
    assert sorted(other.written) == [(A0, *producer, 5, commit), (B0, *producer, 5, commit)]
    assert other.state is (S.COMPLETE_COMMIT if commit else S.COMPLETE_ABORT)


def test_markers_are_written_again_where_they_failed() -> None:
    transactions = Transactions()
    producer = transactions.start()
    transactions.add(producer, [A0, B0])
    transactions.marker_errors[B0] = Errors.NOT_LEADER_OR_FOLLOWER
    assert transactions.end(producer, commit=True) is OK
    assert transactions.state is S.PREPARE_COMMIT
    assert transactions.metadata().current.topic_partitions == {B0}
    del transactions.marker_errors[B0]
    transactions.time.sleep(1000)
    assert transactions.state is S.COMPLETE_COMMIT
    assert [marker[0] for marker in transactions.written] == [A0, B0]


def test_markers_wait_for_a_leader() -> None:
    transactions = Transactions()
    producer = transactions.start()
    transactions.add(producer, [A0])
    transactions.leaders[A0] = -1
    assert transactions.end(producer, commit=True) is OK
    transactions.time.sleep(1000)
    assert (transactions.state, transactions.markers.markers_without_leader) == (S.PREPARE_COMMIT, 1)
    del transactions.leaders[A0]
    transactions.time.sleep(1000)
    assert (transactions.state, transactions.markers.markers_without_leader) == (S.COMPLETE_COMMIT, 0)


def test_a_partition_that_does_not_exist_any_more_needs_no_marker() -> None:
    transactions = Transactions()
    producer = transactions.start()
    transactions.add(producer, [A0])
    transactions.leaders[A0] = None
    assert transactions.end(producer, commit=True) is OK
    assert (transactions.state, transactions.written) == (S.COMPLETE_COMMIT, [])


def test_a_log_in_an_old_format_needs_no_marker() -> None:
    transactions = Transactions()
    producer = transactions.start()
    transactions.add(producer, [A0])
    transactions.marker_errors[A0] = Errors.UNSUPPORTED_FOR_MESSAGE_FORMAT
    assert transactions.end(producer, commit=True) is OK
    assert transactions.state is S.COMPLETE_COMMIT


@pytest.mark.parametrize("error", [Errors.INVALID_PRODUCER_EPOCH, Errors.TRANSACTION_COORDINATOR_FENCED])
def test_fenced_markers_are_not_written_again(error: Errors) -> None:
    transactions = Transactions()
    producer = transactions.start()
    transactions.add(producer, [A0])
    transactions.marker_errors[A0] = error
    assert transactions.end(producer, commit=True) is OK
    transactions.marker_errors.clear()
    transactions.time.sleep(1000)
    assert (transactions.state, transactions.written) == (S.PREPARE_COMMIT, [])


def test_markers_of_other_leaders_are_sent_to_them() -> None:
    transactions = Transactions()
    producer = transactions.start()
    transactions.add(producer, [A0, B0])
    transactions.leaders[B0] = OTHER_BROKER
    assert transactions.end(producer, commit=True) is OK
    eventually(lambda: transactions.state is S.COMPLETE_COMMIT)
    assert transactions.sent == [OTHER_BROKER]
    assert [marker[0] for marker in transactions.written] == [A0]
    transactions.coordinator.shutdown()


def test_the_end_is_appended_again_after_a_temporary_error() -> None:
    transactions = Transactions()
    producer = transactions.start()
    transactions.add(producer, [A0])
    transactions.held = []
    transactions.end(producer, commit=True)
    transactions.log.error = Errors.NOT_ENOUGH_REPLICAS
    transactions.release_markers()
    assert (transactions.state, transactions.markers.completions_to_retry) == (S.PREPARE_COMMIT, 1)
    transactions.time.sleep(1000)
    assert transactions.add(producer, [A0]) is BUSY
    transactions.log.error = Errors.NONE
    transactions.time.sleep(1000)
    assert (transactions.state, transactions.markers.completions_to_retry) == (S.COMPLETE_COMMIT, 0)
    assert len(transactions.written) == 1


def test_the_markers_are_on_their_way_before_the_response_to_the_end() -> None:
    """Otherwise the producer's next request would often be refused with CONCURRENT_TRANSACTIONS."""
    transactions = Transactions()
    producer = transactions.start()
    transactions.add(producer, [A0])
    states: list[TransactionState] = []
    transactions.coordinator.handle_end_transaction(TXN_ID, producer, True, lambda _: states.append(transactions.state))
    assert states == [S.COMPLETE_COMMIT]


def test_a_coordinator_that_has_resigned_sends_no_more_markers() -> None:
    transactions = Transactions()
    producer = transactions.start()
    transactions.add(producer, [A0])
    transactions.leaders[A0] = -1
    transactions.end(producer, commit=True)
    for partition in range(2):
        transactions.coordinator.on_resignation(partition, 1)
    del transactions.leaders[A0]
    transactions.time.sleep(10_000)
    assert transactions.written == []
