"""An append is checked against what the log knows of its producer: sequences, epochs, duplicates."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.log.producers.producer_state_entry import BatchMetadata
from kafka_lite.record.control_record import ControlRecordType, EndTransactionMarker
from kafka_lite.record.default_record_batch import CONTROL_FLAG_MASK, TRANSACTIONAL_FLAG_MASK, encode_batch
from tests.support.producer_states import ProducerState as State
from tests.support.producer_states import producer_batch as batch

MAX_SEQUENCE = 2**31 - 1


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State(tmp_path)


def test_only_the_next_sequence_is_accepted(state: State) -> None:
    assert state.append(batch(0, 3)) is None
    assert state.append(batch(3, 2, offset=3)) is None
    assert state.refused(batch(6)) is Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert state.refused(batch(4)) is Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert state.append(batch(5, offset=5)) is None
    assert state.active_producers[7].last_seq == 5


def test_a_duplicate_returns_the_metadata_of_the_stored_batch(state: State) -> None:
    state.append(batch(0, 3, offset=10, timestamp=111))
    state.append(batch(3, offset=20, timestamp=222))
    found = state.append(batch(0, 3, offset=99))
    assert found == BatchMetadata(last_seq=2, last_offset=12, offset_delta=2, timestamp=111)
    assert found.first_offset == 10
    assert state.refused(batch(0, 2)) is Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert state.refused(batch(0, 4)) is Errors.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_the_last_five_batches_are_remembered(state: State) -> None:
    for sequence in range(6):
        state.append(batch(sequence, offset=sequence))
    assert state.refused(batch(0)) is Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
    for sequence in range(1, 6):
        found = state.append(batch(sequence, offset=99))
        assert found is not None
        assert found.first_offset == sequence


@pytest.mark.parametrize("first", [0, 1, 5000, MAX_SEQUENCE])
def test_an_unknown_producer_may_start_with_any_sequence(state: State, first: int) -> None:
    assert state.append(batch(first)) is None
    assert state.append(batch((first + 1) % 2**31, offset=1)) is None


def test_sequences_wrap_around_even_within_a_batch(state: State) -> None:
    state.append(batch(MAX_SEQUENCE - 1, 5))
    assert state.active_producers[7].last_seq == 2
    duplicate = state.append(batch(MAX_SEQUENCE - 1, 5, offset=50))
    assert duplicate is not None
    assert (duplicate.first_seq, duplicate.last_seq, duplicate.first_offset) == (MAX_SEQUENCE - 1, 2, 0)
    assert state.append(batch(3, offset=5)) is None


def test_producers_have_separate_sequences(state: State) -> None:
    state.append(batch(0, 5))
    assert state.append(batch(0, 5, producer_id=8, offset=5)) is None
    assert {entry.last_data_offset for entry in state.active_producers.values()} == {4, 9}


def test_replication_does_not_check_sequences_and_epochs(state: State) -> None:
    state.append(batch(5) + batch(99, offset=1), AppendOrigin.REPLICATION)
    assert state.active_producers[7].last_seq == 99
    assert state.append(batch(99, offset=1), AppendOrigin.REPLICATION) is None, "nor does it look for duplicates"
    state.append(batch(0, epoch=3, offset=2), AppendOrigin.REPLICATION)
    state.append(batch(0, epoch=2, offset=3), AppendOrigin.REPLICATION)
    assert state.active_producers[7].producer_epoch == 2


def test_a_new_epoch_starts_at_sequence_0_and_fences_the_old_one(state: State) -> None:
    state.append(batch(0, 3))
    assert state.refused(batch(3, epoch=1)) is Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert state.append(batch(0, 3, epoch=1, offset=3)) is None
    assert state.refused(batch(3, epoch=0)) is Errors.INVALID_PRODUCER_EPOCH
    assert state.refused(batch(0, 3, epoch=0)) is Errors.INVALID_PRODUCER_EPOCH
    assert [b.first_offset for b in state.active_producers[7].batch_metadata] == [3]


def test_markers_end_the_transactions_in_logs_written_by_kafka(state: State) -> None:
    state.append(batch(0, transactional=True, offset=4), AppendOrigin.REPLICATION)
    entry = state.active_producers[7]
    assert entry.current_txn_first_offset == 4
    assert state.refused(batch(1, offset=5)) is Errors.INVALID_TXN_STATE
    marker = EndTransactionMarker(ControlRecordType.COMMIT, 12).to_batch(7, 1, 2000, base_offset=5)
    state.append(marker, AppendOrigin.REPLICATION)
    assert (entry.current_txn_first_offset, entry.coordinator_epoch, entry.producer_epoch) == (None, 12, 1)
    assert (entry.is_empty, entry.last_timestamp) == (True, 2000)
    assert state.refused(batch(1, epoch=1, offset=6)) is Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert state.append(batch(0, epoch=1, offset=6)) is None


def test_a_marker_of_an_old_epoch_is_refused(state: State) -> None:
    state.append(batch(0, epoch=3))
    old = EndTransactionMarker(ControlRecordType.COMMIT, 0).to_batch(7, 2, 2000, base_offset=1)
    with pytest.raises(ApiError) as info:
        state.append(old, AppendOrigin.COORDINATOR)
    assert info.value.error is Errors.INVALID_PRODUCER_EPOCH
    state.append(old, AppendOrigin.REPLICATION)  # the leader has accepted it


def test_batches_of_a_coordinator_have_no_sequence_numbers(state: State) -> None:
    for offset in range(2):
        records = batch(-1, offset=offset, transactional=True)
        assert state.append(records, AppendOrigin.COORDINATOR) is None
    assert state.active_producers[7].last_data_offset == 1


def test_a_marker_that_was_compacted_away_changes_nothing(state: State) -> None:
    state.append(batch(0, transactional=True), AppendOrigin.REPLICATION)
    header = encode_batch(
        b"", base_offset=1, last_offset_delta=0, attributes=CONTROL_FLAG_MASK | TRANSACTIONAL_FLAG_MASK,
        base_timestamp=-1, max_timestamp=1000, producer_id=7, producer_epoch=0, record_count=0,
    )  # fmt: skip
    state.append(header, AppendOrigin.REPLICATION)
    assert state.active_producers[7].current_txn_first_offset == 0
