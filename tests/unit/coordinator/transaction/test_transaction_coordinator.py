from collections.abc import Callable
from unittest.mock import Mock

import pytest

from kafka_learn.labs.coordinators import TIMEOUT_MS
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group.offsets_log import LOAD_RETRY_MS
from kafka_lite.coordinator.transaction.transaction_coordinator import InitProducerIdResult
from kafka_lite.coordinator.transaction.transaction_metadata import MAX_EPOCH, TransactionMetadata
from kafka_lite.coordinator.transaction.transaction_state import TransactionState
from tests.support.eventually import eventually
from tests.support.groups import MemoryLog
from tests.support.transactions import (
    EXPIRATION_CHECK_MS,
    EXPIRATION_MS,
    OTHER_BROKER,
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
    assert error is (
        BUSY if request_name.startswith("init") else ERRORS[request_name][1] if "," in request_name else BUSY
    )
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


# ── epochs ────────────────────────────────────────────────────────────────────────────────────────────────────────────


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


# ── the log ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("append_error", "error"),
    [
        (Errors.NOT_ENOUGH_REPLICAS, Errors.COORDINATOR_NOT_AVAILABLE),
        (Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND, Errors.COORDINATOR_NOT_AVAILABLE),
        (Errors.REQUEST_TIMED_OUT, Errors.COORDINATOR_NOT_AVAILABLE),
        (Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.COORDINATOR_NOT_AVAILABLE),
        (Errors.NOT_LEADER_OR_FOLLOWER, Errors.NOT_COORDINATOR),
        (Errors.KAFKA_STORAGE_ERROR, Errors.NOT_COORDINATOR),
        (Errors.MESSAGE_TOO_LARGE, Errors.UNKNOWN_SERVER_ERROR),
    ],
)
def test_a_failed_append_changes_nothing(append_error: Errors, error: Errors) -> None:
    transactions = Transactions()
    producer = transactions.start()
    transactions.log.error = append_error
    assert transactions.add(producer, [A0]) is error
    assert transactions.state is S.EMPTY
    transactions.log.error = Errors.NONE
    assert transactions.add(producer, [A0]) is OK


def test_the_states_of_a_transaction_are_in_the_log() -> None:
    transactions = Transactions()
    producer = transactions.start()
    transactions.add(producer, [A0])
    transactions.add(producer, [A1])
    transactions.end(producer, commit=True)
    states = [state for _, state in transactions.logged()]
    assert states == [S.EMPTY, S.ONGOING, S.ONGOING, S.PREPARE_COMMIT, S.COMPLETE_COMMIT]


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


def test_an_append_of_an_interrupted_leadership_is_not_attempted() -> None:
    transactions = Transactions()
    producer = transactions.start()
    metadata = transactions.metadata()
    stale = metadata.prepare_add_partitions([A0], 0)
    for partition in range(2):
        transactions.coordinator.on_resignation(partition, 1)
    transactions.elect(2)
    before = transactions.logged()
    errors: list[Errors] = []
    transactions.manager.append(metadata, 0, stale, errors.append)
    assert errors == [Errors.NOT_COORDINATOR]
    assert transactions.logged() == before
    assert transactions.add(producer, [A1]) is OK
    assert transactions.metadata().current.topic_partitions == {A1}


def test_an_append_that_completes_after_the_leadership_changes_nothing() -> None:
    transactions = Transactions()
    producer = transactions.start()
    transactions.log.held = []
    errors: list[Errors] = []
    transactions.coordinator.handle_add_partitions(TXN_ID, producer, [A0], errors.append)
    for partition in range(2):
        transactions.coordinator.on_resignation(partition, 1)
    transactions.log.release()
    assert errors == [Errors.NOT_COORDINATOR]
    assert transactions.add(producer, [A0]) is Errors.NOT_COORDINATOR


def test_a_raised_epoch_of_the_same_leader_interrupts_nothing() -> None:
    transactions = Transactions()
    producer = transactions.start()
    transactions.log.held = []
    errors: list[Errors] = []
    transactions.coordinator.handle_add_partitions(TXN_ID, producer, [A0], errors.append)
    transactions.elect(1)
    transactions.log.release()
    assert errors == [OK]
    assert transactions.end(producer, commit=True) is OK
    assert transactions.written == [(A0, *producer, 0, True)]


def test_a_partition_that_cannot_be_read_is_not_served_until_it_is_elected_again() -> None:
    transactions = Transactions()
    producer = transactions.start()
    other = Transactions(transactions.log, transactions.time, loaded=False)
    read = other.manager._read

    def fail(_partition: int) -> dict[str, TransactionMetadata]:
        raise OSError("bad sector")

    other.manager._read = fail  # type: ignore[method-assign]
    other.elect(1)
    assert other.add(producer, [A0]) is Errors.NOT_COORDINATOR
    other.manager._read = read  # type: ignore[method-assign]
    other.elect(2)
    assert other.add(producer, [A0]) is OK


def test_a_partition_that_has_moved_before_it_is_read_has_no_ids() -> None:
    transactions = Transactions()
    producer = transactions.start()

    def gone(topic_partition: TopicPartition) -> None:
        raise ApiError(Errors.NOT_LEADER_OR_FOLLOWER, str(topic_partition))

    transactions.log.get_leader_log = gone  # type: ignore[assignment, method-assign]
    other = Transactions(transactions.log, transactions.time, loaded=False)
    other.elect(1)
    assert not other.manager.is_loading
    assert other.add(producer, [A0]) is UNMAPPED


def test_a_decision_is_acted_on_once_the_replicas_in_sync_have_it() -> None:
    transactions = Transactions()
    producer = transactions.start()
    transactions.add(producer, [A0])
    transactions.held = []
    transactions.end(producer, commit=True)
    transactions.log.high_watermark = 0
    other = Transactions(transactions.log, transactions.time, loaded=False)
    other.elect(1)
    other.elect(2)
    transactions.time.sleep(1000)
    assert other.add(producer, [A0]) is Errors.COORDINATOR_LOAD_IN_PROGRESS
    assert not other.written, "the next coordinator might not know of the decision, and abort"
    transactions.log.high_watermark = None
    transactions.time.sleep(1000)
    assert other.written


def test_ids_that_there_was_no_memory_for_are_loaded_later(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    transactions = Transactions()
    producer = transactions.start()
    with monkeypatch.context() as scarcity:
        scarcity.setattr(MemoryLog, "read", Mock(side_effect=MemoryError))
        after = Transactions(transactions.log, transactions.time)
    assert "No memory to load __transaction_state-0: trying again" in caplog.text
    after.time.sleep(LOAD_RETRY_MS - 1)
    assert after.add(producer, [A0]) is Errors.COORDINATOR_LOAD_IN_PROGRESS
    after.time.sleep(1)
    assert after.add(producer, [A0]) is OK


def test_ids_that_cannot_be_read_are_not_served(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    transactions = Transactions()
    producer = transactions.start()
    with monkeypatch.context() as damaged:
        damaged.setattr(transactions.log, "get_leader_log", Mock(side_effect=OSError("no disk")))
        after = Transactions(transactions.log, transactions.time)
    assert "Error loading transactions from __transaction_state-0" in caplog.text
    after.time.sleep(LOAD_RETRY_MS)
    assert after.add(producer, [A0]) is Errors.NOT_COORDINATOR


def test_the_load_of_each_partition_is_timed() -> None:
    transactions = Transactions()
    assert len(transactions.manager.metrics.take()) == 2
    assert transactions.manager.metrics.take() == []


def test_a_resignation_of_an_older_epoch_is_ignored() -> None:
    transactions = Transactions(epoch=5)
    producer = transactions.start()
    for partition in range(2):
        transactions.coordinator.on_resignation(partition, 4)
    assert transactions.add(producer, [A0]) is OK
    for partition in range(2):
        transactions.coordinator.on_resignation(partition, None)
    assert transactions.add(producer, [A0]) is Errors.NOT_COORDINATOR


# ── markers ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_producer_waits_for_the_markers_before_its_next_transaction() -> None:
    transactions = Transactions()
    producer = transactions.start()
    transactions.add(producer, [A0])
    transactions.held = []
    assert transactions.end(producer, commit=True) is OK
    assert transactions.add(producer, [A0]) is BUSY
    transactions.release_markers()
    assert transactions.add(producer, [A0]) is OK


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


# ── timeouts and expiration ───────────────────────────────────────────────────────────────────────────────────────────


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


@pytest.mark.parametrize("state", STATES)
def test_unused_ids_without_a_transaction_expire(state: TransactionState) -> None:
    transactions = Transactions()
    transactions.put(state, start_timestamp_ms=transactions.time.milliseconds(), timeout_ms=10 * EXPIRATION_MS)
    transactions.time.sleep(EXPIRATION_MS - 1)
    assert transactions.manager.get(TXN_ID)[1] is not None
    transactions.time.sleep(EXPIRATION_CHECK_MS)
    expires = state in (S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT)
    assert (transactions.manager.get(TXN_ID)[1] is None) is expires
    assert ((TXN_ID, None) in transactions.logged()) is expires


def test_an_expired_id_is_unknown_to_the_next_coordinator_and_starts_with_another_producer_id() -> None:
    transactions = Transactions()
    transactions.start()
    transactions.time.sleep(EXPIRATION_MS + EXPIRATION_CHECK_MS)
    other = transactions.restart()
    assert other.manager.get(TXN_ID)[1] is None
    assert other.start() == (1001, 0)


def test_an_id_stays_if_its_tombstone_cannot_be_appended() -> None:
    transactions = Transactions()
    transactions.start()
    transactions.log.error = Errors.NOT_ENOUGH_REPLICAS
    transactions.time.sleep(EXPIRATION_MS + EXPIRATION_CHECK_MS)
    transactions.log.error = Errors.NONE
    assert transactions.start() == (1000, 1)


# ── DescribeTransactions, ListTransactions ────────────────────────────────────────────────────────────────────────────


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


def test_the_markers_are_on_their_way_before_the_response_to_the_end() -> None:
    """Otherwise the producer's next request would often be refused with CONCURRENT_TRANSACTIONS."""
    transactions = Transactions()
    producer = transactions.start()
    transactions.add(producer, [A0])
    states: list[TransactionState] = []
    transactions.coordinator.handle_end_transaction(TXN_ID, producer, True, lambda _: states.append(transactions.state))
    assert states == [S.COMPLETE_COMMIT]


def test_an_id_that_is_being_removed_cannot_be_described() -> None:
    transactions = Transactions()
    transactions.put(S.DEAD)
    with pytest.raises(ApiError) as refused:
        transactions.coordinator.describe_transaction(TXN_ID)
    assert refused.value.error is Errors.TRANSACTIONAL_ID_NOT_FOUND


def test_an_id_expires_as_soon_as_its_time_is_over() -> None:
    transactions = Transactions()
    transactions.put(S.EMPTY)
    transactions.time.sleep(EXPIRATION_MS)
    transactions.manager.remove_expired_ids()
    assert transactions.manager.get(TXN_ID)[1] is None


def test_an_id_does_not_expire_while_its_next_state_is_written() -> None:
    transactions = Transactions()
    producer = transactions.start()
    transactions.log.held = []
    transactions.add(producer, [A0])
    transactions.time.sleep(EXPIRATION_MS)
    transactions.manager.remove_expired_ids()
    transactions.log.release()
    assert transactions.state is S.ONGOING


@pytest.mark.parametrize("loaded", [False, True])
@pytest.mark.parametrize(("resigned_at", "serves"), [(2, True), (3, False), (4, False), (None, False)])
def test_a_resignation_ends_leaderships_up_to_its_epoch(loaded: bool, resigned_at: int | None, serves: bool) -> None:
    transactions = Transactions(loaded=False)
    for partition in range(2):
        transactions.coordinator.on_election(partition, 3)
    if loaded:
        transactions.time.sleep(0)
    for partition in range(2):
        transactions.coordinator.on_resignation(partition, resigned_at)
    transactions.time.sleep(0)
    assert error_of(transactions.init()) is (OK if serves else Errors.NOT_COORDINATOR)


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
