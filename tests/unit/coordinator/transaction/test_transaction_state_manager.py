"""The transactional ids of a broker's partitions: loaded, served, appended, resigned, expired."""

from unittest.mock import Mock

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group.offsets_log import LOAD_RETRY_MS
from kafka_lite.coordinator.transaction import transaction_state_manager
from kafka_lite.coordinator.transaction.transaction_coordinator import InitProducerIdResult
from kafka_lite.coordinator.transaction.transaction_metadata import TransactionMetadata
from kafka_lite.coordinator.transaction.transaction_state import TransactionState
from tests.support.groups import MemoryLog
from tests.support.transactions import (
    EXPIRATION_CHECK_MS,
    EXPIRATION_MS,
    TXN_ID,
    Transactions,
)

S = TransactionState

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)

OK, BUSY, FENCED = Errors.NONE, Errors.CONCURRENT_TRANSACTIONS, Errors.PRODUCER_FENCED

UNMAPPED, INVALID = Errors.INVALID_PRODUCER_ID_MAPPING, Errors.INVALID_TXN_STATE

STATES = (S.EMPTY, S.ONGOING, S.PREPARE_COMMIT, S.PREPARE_ABORT, S.COMPLETE_COMMIT, S.COMPLETE_ABORT)


def error_of(response: Errors | InitProducerIdResult | None) -> Errors | None:
    return response.error if isinstance(response, InitProducerIdResult) else response


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


def test_an_onlooker_sees_an_id_of_the_cache_and_takes_no_lock() -> None:
    transactions = Transactions()
    transactions.start()
    manager = transactions.coordinator.manager
    with manager._changed:
        found = manager.peek(TXN_ID)
        assert manager.peek("nobody") is None
    assert found is not None
    assert found.state is S.EMPTY


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


# ── too many ids


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transaction_state_manager, "MAX_TRANSACTIONAL_IDS", 5)
    monkeypatch.setattr(transaction_state_manager, "EVICTED_AT_ONCE", 2)


def started(transactions: Transactions, count: int) -> list[str]:
    """So many ids, each a millisecond after the one before it."""
    names = [f"id-{number}" for number in range(count)]
    for name in names:
        assert error_of(transactions.init(transactional_id=name)) is OK
        transactions.time.sleep(1)
    return names


def known(transactions: Transactions, names: list[str]) -> list[str]:
    return [name for name in names if transactions.manager.get(name)[1] is not None]


@pytest.mark.usefixtures("few")
def test_the_ids_that_were_used_longest_ago_make_room(caplog: pytest.LogCaptureFixture) -> None:
    transactions = Transactions()
    names = started(transactions, 5)
    assert known(transactions, names) == names
    assert error_of(transactions.init(transactional_id=names[0])) is OK, "used once more, and no new one"
    assert error_of(transactions.init(transactional_id="new")) is OK
    assert known(transactions, [*names, "new"]) == [names[0], names[3], names[4], "new"]
    assert {name for name, state in transactions.logged() if state is None} == {names[1], names[2]}
    assert "There are 5 transactional ids: the 2 that were used longest ago expire" in caplog.text


@pytest.mark.usefixtures("few")
def test_ids_with_open_transactions_never_make_room() -> None:
    transactions = Transactions()
    names = started(transactions, 5)
    for name in names[:3]:
        transactions.metadata(name).complete(transactions.metadata(name).prepare_add_partitions([A0], 0))
    assert error_of(transactions.init(transactional_id="new")) is OK
    assert known(transactions, [*names, "new"]) == [*names[:3], "new"]
    started_after = transactions.metadata("new")
    started_after.complete(started_after.prepare_add_partitions([A0], 0))
    assert error_of(transactions.init(transactional_id="fifth")) is OK
    transactions.metadata("fifth").complete(transactions.metadata("fifth").prepare_add_partitions([A0], 0))
    assert error_of(transactions.init(transactional_id="sixth")) is Errors.COORDINATOR_NOT_AVAILABLE
    assert known(transactions, ["sixth"]) == []
