from collections.abc import Callable

import pytest

from kafka_learn.labs.coordinators import TIMEOUT_MS
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.transaction.transaction_coordinator import InitProducerIdResult
from kafka_lite.coordinator.transaction.transaction_metadata import MAX_EPOCH
from kafka_lite.coordinator.transaction.transaction_state import TransactionState
from tests.support.transactions import (
    TXN_ID,
    Transactions,
)

S = TransactionState

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)

PRODUCER = (7, 3)

OK, BUSY, FENCED = Errors.NONE, Errors.CONCURRENT_TRANSACTIONS, Errors.PRODUCER_FENCED

UNMAPPED, INVALID = Errors.INVALID_PRODUCER_ID_MAPPING, Errors.INVALID_TXN_STATE

Send = Callable[[Transactions], Errors | InitProducerIdResult | None]

REQUESTS: dict[str, Send] = {
    "init": lambda t: t.init(),
    "init as current": lambda t: t.init((7, 3)),
    "init as retry": lambda t: t.init((7, 2)),
    "init as fenced": lambda t: t.init((7, 1)),
    "init as stranger": lambda t: t.init((8, 3)),
    "add the same": lambda t: t.add(PRODUCER, [A0]),
    "add another": lambda t: t.add(PRODUCER, [A0, B0]),
    "add, old epoch": lambda t: t.add((7, 2), [A0]),
    "add, new epoch": lambda t: t.add((7, 4), [A0]),
    "add, other id": lambda t: t.add((8, 3), [A0]),
    "commit": lambda t: t.end(PRODUCER, commit=True),
    "commit, old epoch": lambda t: t.end((7, 2), commit=True),
    "commit, new epoch": lambda t: t.end((7, 4), commit=True),
    "commit, other id": lambda t: t.end((8, 3), commit=True),
    "abort": lambda t: t.end(PRODUCER, commit=False),
}

STATES = (S.EMPTY, S.ONGOING, S.PREPARE_COMMIT, S.PREPARE_ABORT, S.COMPLETE_COMMIT, S.COMPLETE_ABORT)

# The error in each of the states above.
ERRORS: dict[str, tuple[Errors, ...]] = {
    "init": (OK, BUSY, BUSY, BUSY, OK, OK),
    "init as current": (OK, BUSY, BUSY, BUSY, OK, OK),
    "init as retry": (OK, BUSY, BUSY, BUSY, OK, OK),
    "init as fenced": (FENCED, BUSY, BUSY, BUSY, FENCED, FENCED),
    "init as stranger": (FENCED, FENCED, BUSY, BUSY, FENCED, FENCED),
    "add the same": (OK, OK, BUSY, BUSY, OK, OK),
    "add another": (OK, OK, BUSY, BUSY, OK, OK),
    "add, old epoch": (FENCED,) * 6,
    "add, new epoch": (FENCED,) * 6,
    "add, other id": (UNMAPPED,) * 6,
    "commit": (INVALID, OK, BUSY, INVALID, OK, INVALID),
    "commit, old epoch": (FENCED,) * 6,
    "commit, new epoch": (FENCED,) * 6,
    "commit, other id": (UNMAPPED,) * 6,
    "abort": (INVALID, OK, INVALID, BUSY, INVALID, OK),
}

# The state afterwards, if it is another one.
NEXT_STATES: dict[tuple[str, TransactionState], TransactionState] = {
    **{(name, s): S.EMPTY for name in list(ERRORS)[:3] for s in (S.COMPLETE_COMMIT, S.COMPLETE_ABORT)},
    **{(name, S.ONGOING): S.COMPLETE_ABORT for name in list(ERRORS)[:4]},
    **{
        (name, s): S.ONGOING
        for name in ("add the same", "add another")
        for s in (S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT)
    },
    ("commit", S.ONGOING): S.COMPLETE_COMMIT,
    ("abort", S.ONGOING): S.COMPLETE_ABORT,
}


def error_of(response: Errors | InitProducerIdResult | None) -> Errors | None:
    return response.error if isinstance(response, InitProducerIdResult) else response


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("request_name", REQUESTS)
def test_error_and_next_state_of_each_request_in_each_state(request_name: str, state: TransactionState) -> None:
    transactions = Transactions()
    partitions = frozenset({A0}) if state in (S.ONGOING, S.PREPARE_COMMIT, S.PREPARE_ABORT) else frozenset()
    transactions.put(state, last_producer_epoch=2, topic_partitions=partitions)
    error = error_of(REQUESTS[request_name](transactions))
    assert error is ERRORS[request_name][STATES.index(state)]
    assert transactions.state is NEXT_STATES.get((request_name, state), state)
    assert not transactions.metadata().is_pending


@pytest.mark.parametrize("request_name", REQUESTS)
def test_requests_are_refused_while_a_transition_is_written(request_name: str) -> None:
    transactions = Transactions()
    transactions.put(S.EMPTY, last_producer_epoch=2)
    transactions.log.held = []
    assert transactions.add(PRODUCER, [A0]) is None
    error = error_of(REQUESTS[request_name](transactions))
    assert error is (ERRORS[request_name][1] if request_name.startswith("commit,") else BUSY)
    transactions.log.release()
    assert transactions.state is S.ONGOING


@pytest.mark.parametrize("request_name", REQUESTS)
def test_requests_of_an_unknown_id(request_name: str) -> None:
    transactions = Transactions()
    error = error_of(REQUESTS[request_name](transactions))
    assert error is (OK if request_name.startswith("init") else UNMAPPED)


@pytest.mark.parametrize("request_name", REQUESTS)
@pytest.mark.parametrize(
    ("loading", "error"), [(True, Errors.COORDINATOR_LOAD_IN_PROGRESS), (False, Errors.NOT_COORDINATOR)]
)
def test_requests_to_a_broker_that_does_not_coordinate_the_id(request_name: str, loading: bool, error: Errors) -> None:
    transactions = Transactions(loaded=False)
    if loading:
        for partition in range(2):
            transactions.coordinator.on_election(partition, 0)
    assert error_of(REQUESTS[request_name](transactions)) is error


def test_requests_without_an_id_are_invalid() -> None:
    transactions = Transactions()
    assert transactions.init(transactional_id="") == InitProducerIdResult(ProducerIdAndEpoch(), Errors.INVALID_REQUEST)
    assert transactions.add(PRODUCER, [A0], "") is Errors.INVALID_REQUEST
    assert transactions.end(PRODUCER, commit=True, transactional_id="") is Errors.INVALID_REQUEST


@pytest.mark.parametrize("timeout_ms", [-1, 0, 15 * 60 * 1000 + 1])
def test_timeouts_out_of_range_are_refused(timeout_ms: int) -> None:
    assert error_of(Transactions().init(timeout_ms=timeout_ms)) is Errors.INVALID_TRANSACTION_TIMEOUT


def test_the_longest_timeout_is_allowed() -> None:
    assert error_of(Transactions().init(timeout_ms=15 * 60 * 1000)) is OK


def test_partitions_that_are_added_again_are_not_written_again() -> None:
    transactions = Transactions()
    producer = transactions.start()
    transactions.add(producer, [A0, B0])
    written = transactions.logged()
    assert transactions.add(producer, [B0]) is OK
    assert transactions.logged() == written


@pytest.mark.parametrize("state", STATES)
def test_verification_knows_the_partitions_of_open_transactions_only(state: TransactionState) -> None:
    transactions = Transactions()
    is_open = state in (S.ONGOING, S.PREPARE_COMMIT, S.PREPARE_ABORT)
    transactions.put(state, topic_partitions=frozenset({A0}) if is_open else frozenset())
    found = transactions.coordinator.verify_partitions(TXN_ID, ProducerIdAndEpoch(*PRODUCER), [A0, B0])
    outside = Errors.TRANSACTION_ABORTABLE
    expected = {S.ONGOING: (OK, outside), S.PREPARE_COMMIT: (BUSY, BUSY), S.PREPARE_ABORT: (BUSY, BUSY)}
    assert tuple(found.values()) == expected.get(state, (outside, outside))


def test_each_start_of_a_producer_raises_the_epoch() -> None:
    transactions = Transactions()
    assert [transactions.start() for _ in range(3)] == [(1000, 0), (1000, 1), (1000, 2)]


def test_a_repeated_request_gets_the_last_epoch_of_an_id_again_and_no_other_id() -> None:
    transactions = Transactions()
    transactions.put(S.EMPTY, producer_epoch=MAX_EPOCH - 1, last_producer_epoch=MAX_EPOCH - 2)
    result = transactions.init((7, MAX_EPOCH - 2))
    assert result is not None
    assert result.producer == (7, MAX_EPOCH - 1)


def test_another_producer_with_a_new_id_leaves_nothing_to_the_one_before() -> None:
    """Its epochs were used up, and it was restarted: what the old process repeats must not get the new id."""
    transactions = Transactions()
    transactions.put(S.EMPTY, producer_epoch=MAX_EPOCH - 1)
    assert transactions.start() == (1000, 0)
    assert error_of(transactions.init((7, MAX_EPOCH - 1))) is FENCED


def test_a_producer_whose_transaction_was_aborted_by_another_stays_fenced() -> None:
    transactions = Transactions()
    transactions.put(S.ONGOING, last_producer_epoch=2, topic_partitions=frozenset({A0}))
    assert error_of(transactions.init()) is BUSY
    assert transactions.state is S.COMPLETE_ABORT
    assert error_of(transactions.init((7, 2))) is FENCED


def test_a_lost_response_does_not_raise_the_epoch_twice() -> None:
    transactions = Transactions()
    first = transactions.start()
    for _ in range(2):
        result = transactions.init(expected=first)
        assert result == InitProducerIdResult(ProducerIdAndEpoch(1000, 1))


def test_a_started_producer_fences_the_one_before_and_its_retries() -> None:
    transactions = Transactions()
    zombie = transactions.start()
    transactions.init(expected=zombie)
    transactions.start()
    assert error_of(transactions.init(expected=zombie)) is FENCED
    assert transactions.add(zombie, [A0]) is FENCED


@pytest.mark.parametrize("named", [False, True])
def test_a_producer_gets_another_id_when_its_epochs_are_used_up(named: bool) -> None:
    transactions = Transactions()
    transactions.put(S.COMPLETE_COMMIT, producer_epoch=MAX_EPOCH - 1)
    expected = (7, MAX_EPOCH - 1) if named else None
    assert transactions.init(expected=expected) == InitProducerIdResult(ProducerIdAndEpoch(1000, 0))
    if named:  # a lost response: it names the id that it knows
        assert transactions.init(expected=expected) == InitProducerIdResult(ProducerIdAndEpoch(1000, 0))


def test_fencing_a_producer_with_the_last_epoch_leads_to_another_id() -> None:
    transactions = Transactions()
    transactions.put(S.ONGOING, producer_epoch=MAX_EPOCH - 1, topic_partitions=frozenset({A0}))
    assert error_of(transactions.init()) is BUSY
    assert transactions.written == [(A0, 7, MAX_EPOCH, 0, False)]
    assert transactions.init() == InitProducerIdResult(ProducerIdAndEpoch(1000, 0))


def test_an_open_transaction_is_aborted_with_a_raised_epoch_before_a_producer_starts() -> None:
    transactions = Transactions()
    zombie = transactions.start()
    transactions.add(zombie, [A0])
    assert error_of(transactions.init()) is BUSY
    assert transactions.written == [(A0, 1000, 1, 0, False)]
    assert transactions.start() == (1000, 2)
    assert transactions.end(zombie, commit=True) is FENCED


def test_a_commit_that_meets_a_fence_waits() -> None:
    transactions = Transactions()
    metadata = transactions.put(S.ONGOING, topic_partitions=frozenset({A0}))
    metadata.prepare_fence_producer_epoch(0)
    assert transactions.end(PRODUCER, commit=True) is BUSY
    assert transactions.end(PRODUCER, commit=False) is BUSY


def test_a_fence_whose_append_fails_is_repeated_with_the_same_epoch() -> None:
    transactions = Transactions()
    transactions.put(S.ONGOING, topic_partitions=frozenset({A0}))
    transactions.log.error = Errors.NOT_ENOUGH_REPLICAS
    assert error_of(transactions.init()) is Errors.COORDINATOR_NOT_AVAILABLE
    assert transactions.state is S.ONGOING
    transactions.log.error = Errors.NONE
    assert error_of(transactions.init()) is BUSY
    assert transactions.written == [(A0, 7, 4, 0, False)]


@pytest.mark.parametrize("state", [S.EMPTY, S.ONGOING, S.COMPLETE_COMMIT])
def test_another_coordinator_continues_with_the_state_in_the_log(state: TransactionState) -> None:
    transactions = Transactions()
    producer = transactions.start()
    if state is not S.EMPTY:
        transactions.add(producer, [A0])
    if state is S.COMPLETE_COMMIT:
        transactions.end(producer, commit=True)
    other = transactions.restart()
    assert other.state is state
    assert other.add(producer, [A1]) is OK
    assert other.end(producer, commit=True) is OK
    assert (A1, *producer, 1, True) in other.written


def test_a_producer_waits_for_the_markers_before_its_next_transaction() -> None:
    transactions = Transactions()
    producer = transactions.start()
    transactions.add(producer, [A0])
    transactions.held = []
    assert transactions.end(producer, commit=True) is OK
    assert transactions.add(producer, [A0]) is BUSY
    transactions.release_markers()
    assert transactions.add(producer, [A0]) is OK


def test_a_transaction_that_times_out_is_aborted_and_its_producer_fenced() -> None:
    transactions = Transactions()
    producer = transactions.start()
    transactions.add(producer, [A0])
    transactions.time.sleep(TIMEOUT_MS)
    assert transactions.state is S.ONGOING
    transactions.time.sleep(20_000)
    assert transactions.state is S.COMPLETE_ABORT
    assert transactions.written == [(A0, producer.producer_id, producer.epoch + 1, 0, False)]
    assert transactions.end(producer, commit=True) is FENCED
    assert transactions.start() == (producer.producer_id, producer.epoch + 2)


def test_a_producer_that_names_its_fenced_epoch_after_a_timeout_is_refused() -> None:
    transactions = Transactions()
    producer = transactions.start()
    transactions.add(producer, [A0])
    transactions.time.sleep(TIMEOUT_MS + 20_000)
    assert error_of(transactions.init(expected=producer)) is FENCED


def test_describe_a_transaction() -> None:
    transactions = Transactions()
    producer = transactions.start()
    transactions.add(producer, [A0])
    described = transactions.coordinator.describe_transaction(TXN_ID)
    assert (described.state, described.producer_id, described.topic_partitions) == (S.ONGOING, 1000, {A0})


@pytest.mark.parametrize(("name", "error"), [("", Errors.INVALID_REQUEST), ("x", Errors.TRANSACTIONAL_ID_NOT_FOUND)])
def test_describe_an_id_that_there_is_not(name: str, error: Errors) -> None:
    with pytest.raises(ApiError) as failure:
        Transactions().coordinator.describe_transaction(name)
    assert failure.value.error is error


def test_list_transactions_by_state_producer_and_duration() -> None:
    transactions = Transactions()
    producer = transactions.start()
    transactions.add(producer, [A0])
    transactions.init(transactional_id="other")
    transactions.time.sleep(1000)
    listed = transactions.coordinator.list_transactions
    assert set(listed(None, (), -1)) == {TXN_ID, "other"}
    assert set(listed({S.ONGOING}, (), -1)) == {TXN_ID}
    assert set(listed(set(), (), -1)) == set()
    assert set(listed(None, [1001], -1)) == {"other"}
    assert set(listed({S.ONGOING}, (), 999)) == {TXN_ID}
    assert set(listed({S.ONGOING}, (), 1000)) == set()


def test_list_transactions_while_a_partition_loads() -> None:
    transactions = Transactions(loaded=False)
    transactions.coordinator.on_election(0, 0)
    with pytest.raises(ApiError) as failure:
        transactions.coordinator.list_transactions(None, (), -1)
    assert failure.value.error is Errors.COORDINATOR_LOAD_IN_PROGRESS
