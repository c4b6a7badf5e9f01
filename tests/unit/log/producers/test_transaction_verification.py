"""The log's part of verifying transactions: only a batch with a valid guard begins a transaction."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import MockTime
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.log.log import Log
from kafka_lite.log.producers.producer_state_manager import LATE_TRANSACTION_BUFFER_MS
from kafka_lite.log.producers.producer_state_manager_config import ProducerStateManagerConfig
from kafka_lite.log.producers.verification_state_entry import VerificationGuard
from kafka_lite.record.control_record import ControlRecordType, EndTransactionMarker
from tests.support.compaction import keyed_set
from tests.support.logs import open_log

COMMIT, ABORT = ControlRecordType.COMMIT, ControlRecordType.ABORT
PRODUCER = 7
EXPIRATION_MS = 10_000
MAX_TIMEOUT_MS = 900_000


class Verified:
    """A log that demands verification, and one producer of transactions."""

    def __init__(self, directory: Path) -> None:
        self.time = MockTime()
        self.config = ProducerStateManagerConfig(EXPIRATION_MS, transaction_verification_enabled=True)
        self.log: Log = open_log(directory, time=self.time, producer_config=self.config)

    def start(self, sequence: int = 0, epoch: int = 0) -> VerificationGuard | None:
        return self.log.derived_state.maybe_start_transaction_verification(PRODUCER, sequence, epoch)

    def send(
        self,
        guard: VerificationGuard | None,
        sequence: int = 0,
        epoch: int = 0,
        *,
        origin: AppendOrigin = AppendOrigin.CLIENT,
        transactional: bool = True,
    ) -> Errors:
        records = keyed_set(
            (b"k", b"v"), timestamp=int(self.time.milliseconds()), producer_id=PRODUCER, producer_epoch=epoch,
            base_sequence=sequence, is_transactional=transactional,
        )  # fmt: skip
        try:
            self.log.append_as_leader(records, 0, origin, guard)
        except ApiError as failure:
            return failure.error
        return Errors.NONE

    def end(self, kind: ControlRecordType = COMMIT, epoch: int = 0) -> None:
        marker = EndTransactionMarker(kind, 0).to_batch(PRODUCER, epoch, int(self.time.milliseconds()))
        self.log.append_as_leader(bytearray(marker), 0, AppendOrigin.COORDINATOR)


@pytest.fixture
def verified(tmp_path: Path) -> Verified:
    return Verified(tmp_path)


def test_the_first_batch_needs_a_guard_and_the_next_ones_do_not(verified: Verified) -> None:
    assert verified.send(None) is Errors.INVALID_TXN_STATE
    assert verified.log.log_end_offset == 0
    guard = verified.start()
    assert guard is not None
    assert verified.send(guard) is Errors.NONE
    assert verified.start(1) is None
    assert verified.send(None, 1) is Errors.NONE


@pytest.mark.parametrize("kind", [COMMIT, ABORT])
def test_every_transaction_needs_a_guard_of_its_own(verified: Verified, kind: ControlRecordType) -> None:
    first = verified.start()
    assert verified.send(first) is Errors.NONE
    verified.end(kind)
    assert verified.send(first, 1) is Errors.INVALID_TXN_STATE
    second = verified.start(1)
    assert second is not first
    assert verified.send(second, 1) is Errors.NONE


def test_a_marker_between_verification_and_append_refuses_the_batch(verified: Verified) -> None:
    guard = verified.start()
    verified.end(ABORT)  # the coordinator has verified the batch, but the producer's transaction has ended since
    assert verified.send(guard) is Errors.INVALID_TXN_STATE
    assert verified.log.last_stable_offset(verified.log.log_end_offset) == 1


def test_a_late_verification_does_not_count_for_the_next_transaction(verified: Verified) -> None:
    late = verified.start()
    verified.end(ABORT)
    assert verified.start() is not None  # of the next transaction, which is not verified yet
    assert verified.send(late) is Errors.INVALID_TXN_STATE


def test_a_batch_without_the_guard_is_refused_while_the_verification_runs(verified: Verified) -> None:
    guard = verified.start()
    assert verified.send(None) is Errors.INVALID_TXN_STATE
    assert verified.send(guard) is Errors.NONE


def test_a_batch_outside_of_transactions_does_not_end_the_verification(verified: Verified) -> None:
    guard = verified.start()
    assert verified.send(None, 0, transactional=False) is Errors.NONE
    assert verified.start(1) is guard


def test_requests_for_one_transaction_share_its_guard(verified: Verified) -> None:
    guard = verified.start()
    assert verified.start() is guard
    assert verified.send(VerificationGuard()) is Errors.INVALID_TXN_STATE
    assert verified.send(guard) is Errors.NONE


def test_a_batch_may_not_overtake_one_that_is_not_verified(verified: Verified) -> None:
    guard = verified.start(5)
    assert verified.start(3) is guard
    assert verified.send(guard, 5) is Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert verified.send(guard, 3) is Errors.NONE
    assert verified.send(None, 4) is Errors.NONE


def test_a_new_epoch_begins_with_its_own_sequence_numbers(verified: Verified) -> None:
    assert verified.start(3) is not None
    guard = verified.start(0, epoch=1)
    assert verified.start(7, epoch=0) is guard  # a zombie
    assert verified.send(guard, 1, epoch=1) is Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert verified.send(guard, 0, epoch=1) is Errors.NONE


def test_a_duplicate_of_an_ended_transaction_is_recognized(verified: Verified) -> None:
    assert verified.send(verified.start()) is Errors.NONE
    verified.end()
    assert verified.send(None) is Errors.NONE
    assert verified.log.log_end_offset == 2


def test_offsets_of_groups_need_a_guard_and_followers_and_others_do_not(verified: Verified) -> None:
    assert verified.send(None, -1, origin=AppendOrigin.COORDINATOR) is Errors.INVALID_TXN_STATE
    assert verified.send(None, 0, transactional=False) is Errors.NONE
    assert verified.send(None, 1, origin=AppendOrigin.REPLICATION) is Errors.NONE


def test_verification_can_be_switched_off_at_any_time(verified: Verified) -> None:
    verified.config.transaction_verification_enabled = False
    assert verified.send(None) is Errors.NONE


def test_a_verification_that_nobody_finishes_expires(verified: Verified) -> None:
    guard = verified.start()
    verified.time.sleep(EXPIRATION_MS - 1)
    verified.log.derived_state.remove_expired_producers()
    assert verified.start() is guard
    verified.time.sleep(1)
    verified.log.derived_state.remove_expired_producers()
    assert verified.start() is not guard


def test_a_transaction_is_late_after_the_longest_timeout_and_some_time_for_its_end(verified: Verified) -> None:
    def is_late(after_ms: int) -> bool:
        return verified.log.producer_state.has_late_transaction(verified.time.milliseconds() + after_ms, MAX_TIMEOUT_MS)

    limit_ms = MAX_TIMEOUT_MS + LATE_TRANSACTION_BUFFER_MS
    assert not is_late(limit_ms * 2)
    assert verified.send(verified.start()) is Errors.NONE
    assert not is_late(limit_ms)
    assert is_late(limit_ms + 1)
    verified.end()
    assert not is_late(limit_ms + 1)


def test_the_oldest_transaction_decides_whether_one_is_late(tmp_path: Path) -> None:
    log = open_log(tmp_path)

    def begin(producer_id: int, timestamp: int) -> None:
        log.append_as_leader(
            keyed_set(
                (b"k", b"v"), timestamp=timestamp, producer_id=producer_id, producer_epoch=0, base_sequence=0,
                is_transactional=True,
            ),
            0,
        )  # fmt: skip

    begin(8, 1_000_000)
    begin(9, 50_000_000)
    late_ms = 1_000_000 + MAX_TIMEOUT_MS + LATE_TRANSACTION_BUFFER_MS
    assert not log.producer_state.has_late_transaction(late_ms, MAX_TIMEOUT_MS)
    assert log.producer_state.has_late_transaction(late_ms + 1, MAX_TIMEOUT_MS)


@pytest.mark.parametrize("timestamp", [0, -1])
def test_a_transaction_without_a_timestamp_is_not_late(tmp_path: Path, timestamp: int) -> None:
    log = open_log(tmp_path)
    records = keyed_set(
        (b"k", b"v"), timestamp=timestamp, producer_id=PRODUCER, producer_epoch=0, base_sequence=0,
        is_transactional=True,
    )  # fmt: skip
    log.append_as_leader(records, 0)
    assert not log.producer_state.has_late_transaction(1 << 50, MAX_TIMEOUT_MS)


# ── producers whose epoch is raised after every transaction (KIP-890, part 2) ─────────────────────────────────────


def start_bumped(verified: Verified, epoch: int, sequence: int = 0) -> VerificationGuard | None:
    return verified.log.derived_state.maybe_start_transaction_verification(PRODUCER, sequence, epoch, True)


def test_the_marker_of_the_last_transaction_leaves_the_next_one_its_guard(verified: Verified) -> None:
    assert verified.send(start_bumped(verified, 0)) is Errors.NONE
    following = start_bumped(verified, 1)
    assert following is not None, "a transaction is open, but of the epoch before"
    verified.end(COMMIT, epoch=1)
    assert start_bumped(verified, 1) is following
    assert verified.send(following, epoch=1) is Errors.NONE
    verified.end(COMMIT, epoch=2)
    assert verified.send(following, 1, epoch=2) is Errors.INVALID_TXN_STATE


def test_the_marker_of_an_abort_takes_the_guard_of_its_own_transaction(verified: Verified) -> None:
    late = start_bumped(verified, 0)
    verified.end(ABORT, epoch=1)
    assert verified.send(late) is Errors.INVALID_TXN_STATE


def test_a_batch_of_an_epoch_before_the_last_one_is_not_asked_about(verified: Verified) -> None:
    assert verified.send(start_bumped(verified, 0)) is Errors.NONE
    verified.end(COMMIT, epoch=1)
    with pytest.raises(ApiError) as raised:
        start_bumped(verified, 0)
    assert raised.value.error is Errors.INVALID_PRODUCER_EPOCH


def test_an_open_transaction_of_another_epoch_does_not_let_a_batch_in(verified: Verified) -> None:
    assert verified.send(start_bumped(verified, 0)) is Errors.NONE
    assert verified.send(None, epoch=1) is Errors.INVALID_TXN_STATE


def test_the_first_batch_of_an_unknown_producer_begins_with_0(verified: Verified) -> None:
    assert verified.send(start_bumped(verified, 5, 3), 3, epoch=5) is Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert verified.send(start_bumped(verified, 5), epoch=5) is Errors.NONE
