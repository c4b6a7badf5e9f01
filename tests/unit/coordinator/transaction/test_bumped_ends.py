"""EndTxn 5: which requests are new, which are repeated, and what they get in each state."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.transaction.transaction_coordinator import EndTxnResult
from kafka_lite.coordinator.transaction.transaction_metadata import MAX_EPOCH
from kafka_lite.coordinator.transaction.transaction_state import TransactionState
from tests.support.transactions import TXN_ID, Transactions

S = TransactionState
A0 = TopicPartition("a", 0)
OK, BUSY, FENCED = Errors.NONE, Errors.CONCURRENT_TRANSACTIONS, Errors.PRODUCER_FENCED
UNMAPPED, INVALID = Errors.INVALID_PRODUCER_ID_MAPPING, Errors.INVALID_TXN_STATE
LAST_EPOCH = MAX_EPOCH - 1

REPEATED, CURRENT, LATER = (7, 2), (7, 3), (7, 4)
STATES = (S.EMPTY, S.ONGOING, S.PREPARE_COMMIT, S.PREPARE_ABORT, S.COMPLETE_COMMIT, S.COMPLETE_ABORT)
ERRORS: dict[tuple[tuple[int, int], bool], tuple[Errors, ...]] = {
    # epoch of the request, whether it commits → the error in each of the states above
    (REPEATED, False): (FENCED, FENCED, INVALID, BUSY, INVALID, OK),
    (REPEATED, True): (FENCED, FENCED, BUSY, INVALID, OK, INVALID),
    (CURRENT, False): (OK, OK, BUSY, BUSY, OK, OK),
    (CURRENT, True): (INVALID, OK, BUSY, BUSY, INVALID, INVALID),
    (LATER, False): (FENCED,) * 6,
    (LATER, True): (FENCED,) * 6,
    ((8, 3), False): (UNMAPPED,) * 6,
}


def new_transactions(version: int = 2) -> Transactions:
    transactions = Transactions()
    transactions.transaction_version = version
    return transactions


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize(("producer", "commit"), ERRORS)
def test_error_and_next_epoch_in_each_state(state: TransactionState, producer: tuple[int, int], commit: bool) -> None:
    transactions = new_transactions()
    partitions = frozenset({A0}) if state in (S.ONGOING, S.PREPARE_COMMIT, S.PREPARE_ABORT) else frozenset()
    transactions.put(state, topic_partitions=partitions, client_transaction_version=2)
    result = transactions.end_and_bump(producer, commit=commit)
    error = ERRORS[producer, commit][STATES.index(state)]
    assert result is not None
    assert result.error is error
    if error is not OK:
        assert result.producer == ProducerIdAndEpoch(), "an error names no producer"
        assert transactions.state is state
    else:
        epoch = 3 if producer == REPEATED else 4
        assert result.producer == (7, epoch)
        assert transactions.metadata().current.producer_epoch == epoch
        assert transactions.state is (S.COMPLETE_COMMIT if commit else S.COMPLETE_ABORT)
    assert not transactions.metadata().is_pending


@pytest.mark.parametrize("commit", [False, True])
def test_a_fenced_producer_does_not_get_the_epoch_of_one_of_the_first_version(commit: bool) -> None:
    """InitProducerId has raised the epoch to that of the other one, whose ends do not: found by ``make chaos``."""
    transactions = new_transactions()
    fenced = transactions.start()
    other = transactions.start()
    assert other.epoch == fenced.epoch + 1
    assert transactions.add(other, [A0], client_version=1) is OK
    transactions.end(other, commit=commit)
    result = transactions.end_and_bump(fenced, commit=commit)
    assert result is not None
    assert (result.error, result.producer) == (FENCED, ProducerIdAndEpoch())


@pytest.mark.parametrize("version_of_the_first_partition", [1, 2])
def test_a_fenced_producer_does_not_get_the_id_that_has_replaced_its_own(version_of_the_first_partition: int) -> None:
    """InitProducerId has replaced the id, since its epochs were used up, for a producer of the first version."""
    transactions = new_transactions()
    transactions.put(S.COMPLETE_COMMIT, producer_epoch=LAST_EPOCH, client_transaction_version=2)
    other = transactions.start()
    assert other == (1000, 0)
    transactions.add(other, [A0], client_version=version_of_the_first_partition)
    assert transactions.end(other, commit=True) is OK
    assert transactions.end_and_bump((7, LAST_EPOCH), commit=True) == EndTxnResult(UNMAPPED)


@pytest.mark.parametrize(("following", "next_id"), [((7, 4), -1), ((9, 0), 9)])
def test_the_producer_of_the_next_transaction_waits_at_a_coordinator_that_has_just_loaded(
    following: tuple[int, int], next_id: int
) -> None:
    transactions = new_transactions()
    ended = {"producer_epoch": 4, "next_producer_id": next_id, "client_transaction_version": 2}
    transactions.put(S.PREPARE_COMMIT, topic_partitions=frozenset({A0}), **ended)
    assert transactions.add(following, [A0], client_version=2) is BUSY
    assert transactions.end_and_bump(following, commit=False) == EndTxnResult(BUSY)


def test_every_transaction_has_an_epoch_of_its_own_and_so_have_its_markers() -> None:
    transactions = new_transactions()
    producer = transactions.start()
    for commit in (True, False, True):
        assert transactions.add(producer, [A0], client_version=2) is OK
        result = transactions.end_and_bump(producer, commit=commit)
        assert result == EndTxnResult(OK, ProducerIdAndEpoch(producer.producer_id, producer.epoch + 1))
        producer = result.producer
    assert transactions.written == [
        (A0, 1000, 1, 0, True), (A0, 1000, 2, 0, False), (A0, 1000, 3, 0, True),
    ]  # fmt: skip
    assert transactions.metadata().current.client_transaction_version == 2


def test_a_repeated_end_is_answered_as_the_first_one_was() -> None:
    transactions = new_transactions()
    producer = transactions.start()
    transactions.add(producer, [A0], client_version=2)
    first = transactions.end_and_bump(producer, commit=True)
    assert transactions.end_and_bump(producer, commit=True) == first
    assert transactions.restart().end_and_bump(producer, commit=True) == first
    assert len(transactions.written) == 1


def test_a_transition_that_is_being_written_is_waited_for() -> None:
    transactions = new_transactions()
    producer = transactions.start()
    transactions.log.held = []
    assert transactions.add(producer, [A0], client_version=2) is None
    assert transactions.end_and_bump(producer, commit=True) == EndTxnResult(BUSY)
    assert transactions.end_and_bump((9, 9), commit=True) == EndTxnResult(BUSY), "it may be the id that is written"
    transactions.log.release()
    assert transactions.end_and_bump(producer, commit=True) == EndTxnResult(OK, ProducerIdAndEpoch(1000, 1))


def test_an_end_that_cannot_be_written_is_tried_again_with_the_same_epoch() -> None:
    transactions = new_transactions()
    producer = transactions.start()
    transactions.add(producer, [A0], client_version=2)
    transactions.log.error = Errors.NOT_ENOUGH_REPLICAS
    assert transactions.end_and_bump(producer, commit=True) == EndTxnResult(Errors.COORDINATOR_NOT_AVAILABLE)
    assert transactions.metadata().current.producer_epoch == producer.epoch
    transactions.log.error = OK
    assert transactions.end_and_bump(producer, commit=True) == EndTxnResult(OK, ProducerIdAndEpoch(1000, 1))


def test_an_abort_without_partitions_fences_late_batches() -> None:
    transactions = new_transactions()
    producer = transactions.start()
    assert transactions.end_and_bump(producer, commit=False) == EndTxnResult(OK, ProducerIdAndEpoch(1000, 1))
    assert not transactions.written
    assert transactions.add(producer, [A0], client_version=2) is FENCED


# ── the epochs are used up ────────────────────────────────────────────────────────────────────────────────────────


def ongoing_at_the_last_epoch() -> Transactions:
    transactions = new_transactions()
    transactions.put(S.ONGOING, topic_partitions=frozenset({A0}), producer_epoch=LAST_EPOCH)
    return transactions


def test_the_producer_gets_another_id_when_its_epochs_are_used_up() -> None:
    transactions = ongoing_at_the_last_epoch()
    given = EndTxnResult(OK, ProducerIdAndEpoch(1000, 0))
    assert transactions.end_and_bump((7, LAST_EPOCH), commit=True) == given
    assert transactions.written == [(A0, 7, MAX_EPOCH, 0, True)], "the markers are still those of the id before"
    assert transactions.end_and_bump((7, LAST_EPOCH), commit=True) == given, "the request is repeated"
    assert transactions.end_and_bump((7, LAST_EPOCH), commit=False) == EndTxnResult(INVALID)
    assert transactions.add((1000, 0), [A0], client_version=2) is OK
    assert transactions.end_and_bump((1000, 0), commit=True) == EndTxnResult(OK, ProducerIdAndEpoch(1000, 1))
    assert transactions.end_and_bump((7, LAST_EPOCH), commit=True) == EndTxnResult(UNMAPPED)


def test_the_next_coordinator_gives_the_reserved_id() -> None:
    transactions = ongoing_at_the_last_epoch()
    transactions.marker_errors[A0] = Errors.NOT_LEADER_OR_FOLLOWER
    assert transactions.end_and_bump((7, LAST_EPOCH), commit=True) == EndTxnResult(OK, ProducerIdAndEpoch(1000, 0))
    assert transactions.add((1000, 0), [A0], client_version=2) is BUSY, "the transaction before has not ended"
    transactions.marker_errors.clear()
    other = transactions.restart()
    assert other.written == [(A0, 7, MAX_EPOCH, 1, True)]
    current = other.metadata().current
    assert (current.producer_id, current.producer_epoch, current.last_producer_id) == (1000, 0, 7)
    third = other.restart(2)
    assert third.end_and_bump((7, LAST_EPOCH), commit=True) == EndTxnResult(OK, ProducerIdAndEpoch(1000, 0))


def test_without_another_id_nothing_is_decided() -> None:
    transactions = ongoing_at_the_last_epoch()

    def none_available() -> int:
        raise Errors.COORDINATOR_LOAD_IN_PROGRESS.exception()

    transactions.coordinator._generate_producer_id = none_available
    assert transactions.end_and_bump((7, LAST_EPOCH), commit=True) == EndTxnResult(Errors.COORDINATOR_LOAD_IN_PROGRESS)
    assert transactions.state is S.ONGOING


# ── aborts of the coordinator ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("version", "epoch_known_to_a_retry"), [(1, None), (2, 0)])
def test_a_timed_out_transaction_is_aborted_with_the_next_epoch(
    version: int, epoch_known_to_a_retry: int | None
) -> None:
    transactions = new_transactions(version)
    producer = transactions.start()
    transactions.add(producer, [A0])
    transactions.time.sleep(transactions.metadata().current.timeout_ms + 1)
    transactions.coordinator.abort_timed_out_transactions()
    assert transactions.state is S.COMPLETE_ABORT
    assert transactions.written == [(A0, 1000, 1, 0, False)]
    assert transactions.metadata().current.last_producer_epoch == (
        -1 if epoch_known_to_a_retry is None else epoch_known_to_a_retry
    )
    if version == 2:
        assert transactions.end_and_bump(producer, commit=True) == EndTxnResult(INVALID)
        assert transactions.end_and_bump(producer, commit=False) == EndTxnResult(OK, ProducerIdAndEpoch(1000, 1))


def test_a_starting_producer_fences_the_one_before_even_if_the_first_abort_cannot_be_written() -> None:
    transactions = new_transactions()
    producer = transactions.start()
    transactions.add(producer, [A0], client_version=2)
    transactions.log.error = Errors.NOT_ENOUGH_REPLICAS
    assert (result := transactions.init()) is not None
    assert result.error is Errors.COORDINATOR_NOT_AVAILABLE
    transactions.log.error = OK
    assert (result := transactions.init()) is not None
    assert result.error is BUSY
    assert transactions.written == [(A0, 1000, 1, 0, False)], "the epoch was raised once"
    assert transactions.start() == (1000, 2)
    assert transactions.end_and_bump(producer, commit=True) == EndTxnResult(FENCED)


def test_the_last_epoch_is_raised_once_more_by_a_fence() -> None:
    transactions = ongoing_at_the_last_epoch()
    assert (result := transactions.init()) is not None
    assert result.error is BUSY
    assert transactions.written == [(A0, 7, MAX_EPOCH, 0, False)]
    assert transactions.start() == (1000, 1)
    assert transactions.end_and_bump((7, LAST_EPOCH), commit=False) == EndTxnResult(UNMAPPED)


def test_a_producer_whose_last_epoch_has_timed_out_continues_with_another_id() -> None:
    """With MAX_EPOCH, which a fence needs, its next transaction could neither be ended nor time out."""
    transactions = ongoing_at_the_last_epoch()
    transactions.time.sleep(transactions.metadata().current.timeout_ms + 20_000)
    given = ProducerIdAndEpoch(1000, 0)
    assert transactions.end_and_bump((7, LAST_EPOCH), commit=False) == EndTxnResult(OK, given)
    assert transactions.add(given, [A0], client_version=2) is OK
    assert transactions.end_and_bump(given, commit=True) == EndTxnResult(OK, ProducerIdAndEpoch(1000, 1))


@pytest.mark.parametrize("epoch", [-1, MAX_EPOCH])
def test_epochs_that_no_producer_has_are_refused(epoch: int) -> None:
    transactions = new_transactions()
    transactions.put(S.COMPLETE_ABORT, producer_epoch=epoch, client_transaction_version=2)
    assert transactions.add((7, epoch), [A0], client_version=2) is FENCED
    assert transactions.end_and_bump((7, epoch), commit=False) == EndTxnResult(FENCED)
    assert transactions.end_and_bump((7, epoch - 1), commit=False) == EndTxnResult(FENCED)


def test_a_fence_without_another_id_is_tried_again() -> None:
    transactions = ongoing_at_the_last_epoch()
    generate = transactions.coordinator._generate_producer_id

    def none_available() -> int:
        raise Errors.COORDINATOR_LOAD_IN_PROGRESS.exception()

    transactions.coordinator._generate_producer_id = none_available
    assert (result := transactions.init()) is not None
    assert result.error is Errors.COORDINATOR_LOAD_IN_PROGRESS
    assert not transactions.metadata().is_pending
    transactions.coordinator._generate_producer_id = generate
    assert transactions.end_and_bump((7, LAST_EPOCH), commit=True) == EndTxnResult(OK, ProducerIdAndEpoch(1000, 0))


def test_an_abort_whose_fence_is_gone_waits() -> None:
    """The partition has left this broker and come back since the fence: the id was loaded anew."""
    transactions = new_transactions()
    producer = transactions.start()
    transactions.add(producer, [A0], client_version=2)
    results: list[EndTxnResult] = []
    fenced = ProducerIdAndEpoch(producer.producer_id, producer.epoch + 1)
    transactions.coordinator.handle_bumped_end(TXN_ID, fenced, False, results.append, from_client=False)
    assert results == [EndTxnResult(BUSY)]
    assert transactions.state is S.ONGOING


def test_a_fence_that_the_first_version_could_not_write_leads_to_another_id() -> None:
    transactions = ongoing_at_the_last_epoch()
    transactions.transaction_version = 1
    transactions.log.error = Errors.NOT_ENOUGH_REPLICAS
    transactions.init()
    assert transactions.metadata().current.producer_epoch == MAX_EPOCH
    transactions.log.error, transactions.transaction_version = OK, 2
    assert (result := transactions.init()) is not None
    assert result.error is BUSY
    assert transactions.start() == (1000, 1)


# ── producers of both kinds ───────────────────────────────────────────────────────────────────────────────────────


def test_a_producer_changes_its_kind_between_two_transactions() -> None:
    transactions = new_transactions()
    producer = transactions.start()
    transactions.add(producer, [A0])
    assert transactions.end(producer, commit=True) is OK
    transactions.add(producer, [A0], client_version=2)
    result = transactions.end_and_bump(producer, commit=True)
    assert result is not None
    transactions.add(result.producer, [A0])
    assert transactions.end(result.producer, commit=False) is OK
    assert [marker[2] for marker in transactions.written] == [0, 1, 1]


@pytest.mark.parametrize("version", [0, 1, 2])
def test_what_is_written_follows_the_finalized_level(version: int) -> None:
    transactions = new_transactions(version)
    producer = transactions.start()
    transactions.add(producer, [A0])
    [log] = [log for log in transactions.log.logs.values() if log.records()]
    values = [record.value or b"" for record in log.records()]
    assert {value[:2] for value in values} == {bytes([0, min(version, 1)])}
    assert transactions.restart().metadata(TXN_ID).current.topic_partitions == {A0}
