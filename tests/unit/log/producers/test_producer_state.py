"""What a log knows of its producers: sequences, duplicates, epochs, expiration, snapshots."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest
from crc32c import crc32c
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.log.producers.producer_snapshot import (
    CorruptSnapshotError,
    decode_entries,
    decode_snapshot,
    encode_snapshot,
)
from kafka_lite.log.producers.producer_state_entry import BatchMetadata, ProducerStateEntry
from kafka_lite.log.producers.producer_state_manager import ProducerStateManager
from kafka_lite.log.producers.producer_state_manager_config import ProducerStateManagerConfig
from kafka_lite.record.control_record import ControlRecordType, EndTransactionMarker
from kafka_lite.record.default_record_batch import CONTROL_FLAG_MASK, TRANSACTIONAL_FLAG_MASK, encode_batch
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.records import batches
from tests.support.samples import hex_sample

MAX_SEQUENCE = 2**31 - 1
SNAPSHOT_OF_KAFKA = "v39-modern-0.00000000000000000009.snapshot.hex"
PARTITION = TopicPartition("topic", 0)


def batch(
    sequence: int,
    count: int = 1,
    *,
    offset: int = 0,
    epoch: int = 0,
    producer_id: int = 7,
    timestamp: int = 1000,
    transactional: bool = False,
) -> bytes:
    builder = MemoryRecordsBuilder(
        base_offset=offset,
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
        is_transactional=transactional,
    )
    for _ in range(count):
        builder.append(timestamp, None, b"v")
    return bytes(builder.build())


class State:
    """A manager, used in the way a log uses it."""

    def __init__(self, directory: Path, expiration_ms: int = 10_000) -> None:
        self.config = ProducerStateManagerConfig(expiration_ms)
        self.manager = ProducerStateManager(PARTITION, directory, self.config)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.manager, name)

    def append(self, records: bytes, origin: AppendOrigin = AppendOrigin.CLIENT) -> BatchMetadata | None:
        """Returns the metadata of the stored batch if this one is a duplicate."""
        prepared = self.manager.prepare_updates(batches(records), origin)
        for append in prepared.appends:
            self.manager.update(append)
        return prepared.duplicate

    def refused(self, records: bytes) -> Errors:
        with pytest.raises(ApiError) as info:
            self.append(records)
        return info.value.error


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State(tmp_path)


# -- sequences -----------------------------------------------------------------------------------------------------


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


# -- epochs --------------------------------------------------------------------------------------------------------


def test_a_new_epoch_starts_at_sequence_0_and_fences_the_old_one(state: State) -> None:
    state.append(batch(0, 3))
    assert state.refused(batch(3, epoch=1)) is Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert state.append(batch(0, 3, epoch=1, offset=3)) is None
    assert state.refused(batch(3, epoch=0)) is Errors.INVALID_PRODUCER_EPOCH
    assert state.refused(batch(0, 3, epoch=0)) is Errors.INVALID_PRODUCER_EPOCH
    assert [b.first_offset for b in state.active_producers[7].batch_metadata] == [3]


def test_prepared_updates_do_not_change_the_state(state: State) -> None:
    state.append(batch(0))
    state.prepare_updates(batches(batch(0, epoch=1, offset=1)), AppendOrigin.CLIENT)
    assert state.append(batch(1, offset=1)) is None


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


# -- expiration --------------------------------------------------------------------------------------------------------


def test_idle_producers_expire(state: State) -> None:
    state.append(batch(0, timestamp=1000))
    state.append(batch(0, producer_id=8, timestamp=5000, offset=1))
    state.remove_expired_producers(10_999)
    assert set(state.active_producers) == {7, 8}
    state.config.producer_id_expiration_ms = 10_001
    state.remove_expired_producers(11_000)
    assert set(state.active_producers) == {7, 8}
    state.config.producer_id_expiration_ms = 10_000
    state.remove_expired_producers(11_000)
    assert set(state.active_producers) == {8}
    assert state.append(batch(40, offset=2)) is None


def test_a_producer_with_an_open_transaction_does_not_expire(state: State) -> None:
    state.append(batch(0, transactional=True), AppendOrigin.REPLICATION)
    state.remove_expired_producers(10**12)
    assert set(state.active_producers) == {7}


# -- a model -------------------------------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(
    first=st.sampled_from([0, MAX_SEQUENCE - 9]),
    counts=st.lists(st.integers(1, 4), min_size=1, max_size=20),
    network=st.integers(0, 2**32).map(random.Random),
)
def test_records_are_stored_once_and_in_order_whatever_the_network_does(
    first: int, counts: list[int], network: random.Random
) -> None:
    """A network that repeats, delays and reorders up to five batches in flight; the log must have what was sent."""
    state = State(Path("nowhere"))
    sent, sequence = [], first
    for count in counts:
        sent.append((sequence, count))
        sequence = (sequence + count) % 2**31
    stored: list[tuple[int, int]] = []
    offsets: dict[tuple[int, int], int] = {}
    offset, acknowledged = 0, 0
    while acknowledged < len(sent):
        # The window never covers more than five batches. The first must arrive first, or it is unknown.
        last = acknowledged if not stored else min(acknowledged + 4, len(sent) - 1)
        index = network.randint(max(0, acknowledged - 1), last)
        sequence, count = sent[index]
        if index > len(stored):
            assert state.refused(batch(sequence, count, offset=offset)) is Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
            continue
        duplicate = state.append(batch(sequence, count, offset=offset))
        if duplicate is None:
            assert index == len(stored)
            stored.append(sent[index])
            offsets[sent[index]] = offset
            offset += count
        else:
            assert duplicate.first_offset == offsets[sent[index]]
        if network.random() < 0.5 or len(stored) - acknowledged >= 4:  # otherwise, the response is lost
            acknowledged = min(max(acknowledged, index + 1), len(stored))
    assert stored == sent


# -- snapshots -----------------------------------------------------------------------------------------------------


def test_a_snapshot_of_kafka_is_read_and_written_back_unchanged() -> None:
    data = hex_sample(SNAPSHOT_OF_KAFKA)
    entries = decode_snapshot(data)
    assert [(e.producer_id, e.producer_epoch, e.last_seq, e.last_data_offset) for e in entries] == [
        (1, 0, 0, 5), (2, 0, 0, 6), (3, 0, 0, 7)
    ]  # fmt: skip
    assert [e.coordinator_epoch for e in entries] == [-1, -1, 0]
    assert encode_snapshot(entries) == data


@given(
    st.lists(
        st.builds(
            lambda pid, epoch, seq, offset, delta, time, coordinator, txn: ProducerStateEntry(
                pid, epoch, coordinator, time, txn
            ),
            st.integers(0, 2**63 - 1), st.integers(0, 2**15 - 1), st.none(), st.none(), st.none(),
            st.integers(-1, 2**63 - 1), st.integers(-1, 2**31 - 1), st.none() | st.integers(0, 2**63 - 1),
        )
    )
)  # fmt: skip
def test_snapshots_are_read_back(entries: list[ProducerStateEntry]) -> None:
    assert decode_snapshot(encode_snapshot(entries)) == entries


@given(st.data())
def test_files_that_are_no_snapshot_are_corrupt(data: st.DataObject) -> None:
    good = hex_sample(SNAPSHOT_OF_KAFKA)
    cut = data.draw(st.integers(0, len(good) - 1))
    with pytest.raises(CorruptSnapshotError):
        decode_snapshot(good[:cut])
    flipped = bytearray(good)
    flipped[cut] ^= data.draw(st.integers(1, 255))
    with pytest.raises(CorruptSnapshotError):
        decode_snapshot(bytes(flipped))
    with pytest.raises(CorruptSnapshotError):
        decode_snapshot(data.draw(st.binary(max_size=80)))


@pytest.mark.parametrize("count", [-1, 2, 2**31 - 1])
def test_an_impossible_entry_count_is_corrupt(count: int) -> None:
    body = count.to_bytes(4, "big", signed=True) + bytes(46)
    with pytest.raises(CorruptSnapshotError, match="cannot be"):
        decode_snapshot(b"\0\1" + crc32c(body).to_bytes(4, "big") + body)


def test_the_state_is_loaded_from_the_newest_valid_snapshot(state: State, tmp_path: Path) -> None:
    for sequence in range(3):
        state.append(batch(sequence, offset=sequence))
        state.update_map_end_offset(sequence + 1)
        assert state.take_snapshot() is not None
        assert state.take_snapshot() is None  # a valid one
    (tmp_path / "00000000000000000003.snapshot").write_bytes(b"\0\1 torn")
    again = State(tmp_path)
    again.truncate_and_reload(0, 10, now_ms=2000)
    assert again.map_end_offset == 2
    assert again.active_producers[7].last_seq == 1
    assert sorted(file.name for file in tmp_path.iterdir()) == [f"{1:020d}.snapshot", f"{2:020d}.snapshot"]
    late = State(tmp_path)
    late.truncate_and_reload(0, 10, now_ms=11_000)
    assert late.is_empty


def test_a_batch_before_the_last_one_is_still_a_duplicate_after_a_restart(state: State, tmp_path: Path) -> None:
    for sequence in range(7):
        state.append(batch(2 * sequence, 2, offset=10 * sequence, timestamp=1000 + sequence))
        state.append(batch(sequence, producer_id=8, offset=10 * sequence + 2))
    state.append(batch(0, producer_id=9, epoch=3, offset=70))
    state.update_map_end_offset(71)
    state.take_snapshot()
    again = State(tmp_path)
    again.truncate_and_reload(0, 71, now_ms=2000)
    assert again.active_producers == state.active_producers
    for sequence in range(2, 7):
        duplicate = again.append(batch(2 * sequence, 2, offset=71))
        assert duplicate == BatchMetadata(2 * sequence + 1, 10 * sequence + 1, 1, 1000 + sequence)
    assert again.refused(batch(2, 2, offset=71)) is Errors.OUT_OF_ORDER_SEQUENCE_NUMBER  # the sixth last
    assert again.append(batch(14, offset=71)) is None


def test_kafka_keeps_the_last_of_the_entries_of_a_producer(state: State) -> None:
    for sequence in range(3):
        state.append(batch(sequence, offset=sequence, timestamp=1000 + sequence))
    found = decode_entries(encode_snapshot(state.active_producers.values()))
    assert [(entry.producer_id, entry.last_seq, entry.last_timestamp) for entry in found] == [
        (7, 0, 1000), (7, 1, 1001), (7, 2, 1002)
    ]  # fmt: skip


def test_snapshots_outside_the_log_are_deleted(state: State, tmp_path: Path) -> None:
    for offset in (5, 10, 15):
        state.update_map_end_offset(offset)
        state.take_snapshot()
    state.truncate_and_reload(5, 12, now_ms=0)
    assert state.snapshot_offsets == (10,)
    assert [file.name for file in tmp_path.iterdir()] == [f"{10:020d}.snapshot"]


def test_a_truncation_to_where_the_map_ends_keeps_the_producers(state: State) -> None:
    state.append(batch(0))
    state.update_map_end_offset(1)
    state.truncate_and_reload(0, 1, now_ms=0)
    assert (state.map_end_offset, set(state.active_producers)) == (1, {7})


def test_without_a_snapshot_a_truncation_leaves_no_producer(state: State) -> None:
    state.append(batch(0, transactional=True), AppendOrigin.REPLICATION)
    state.update_map_end_offset(5)
    state.truncate_and_reload(0, 3, now_ms=0)
    assert (state.map_end_offset, state.is_empty, state.transactions.is_empty) == (0, True, True)


def test_an_emptied_log_can_have_snapshots_at_lower_offsets(state: State) -> None:
    state.update_map_end_offset(10)
    state.take_snapshot()
    state.truncate_fully_and_start_at(3)
    assert state.map_end_offset == 3
    state.update_map_end_offset(5)
    assert state.take_snapshot() is not None


def test_the_newest_readable_snapshot_up_to_an_offset_is_read(state: State, tmp_path: Path) -> None:
    for sequence, offset in enumerate((5, 10, 15)):
        state.append(batch(sequence, offset=offset - 1))
        state.update_map_end_offset(offset)
        state.take_snapshot()
    (tmp_path / f"{15:020d}.snapshot").write_bytes(b"\0\1 torn")
    for before, found in ((4, 0), (5, 5), (9, 5), (10, 10), (20, 10)):
        offset, entries = state.read_snapshot_before(before)
        assert offset == found
        assert [entry.last_data_offset + 1 for entry in entries] == [found] * bool(found)
    assert state.snapshot_offsets == (5, 10, 15), "nothing has changed"


def test_the_snapshot_of_a_deleted_segment_is_renamed_and_forgotten(state: State, tmp_path: Path) -> None:
    for offset in (5, 10):
        state.update_map_end_offset(offset)
        state.take_snapshot()
    assert state.remove_and_mark_snapshot_for_deletion(7) is None
    assert state.remove_and_mark_snapshot_for_deletion(5) == tmp_path / f"{5:020d}.snapshot.deleted"
    assert state.remove_and_mark_snapshot_for_deletion(5) is None
    assert state.snapshot_offsets == (10,)
    assert sorted(file.name for file in tmp_path.iterdir()) == [f"{5:020d}.snapshot.deleted", f"{10:020d}.snapshot"]


def test_where_the_log_starts_there_is_nothing_to_store(state: State) -> None:
    state.append(batch(0))
    state.update_map_end_offset(3)
    state.on_log_start_offset_incremented(5)
    assert state.map_end_offset == 5
    assert state.take_snapshot() is None
    state.on_log_start_offset_incremented(2)
    assert state.map_end_offset == 5
    assert state.take_snapshot() is not None


def test_a_snapshot_is_forced_to_disk_at_once_or_by_the_caller(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    synced = []
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(os.fstat(fd).st_size))
    state.append(batch(0))
    state.update_map_end_offset(1)
    state.take_snapshot(sync=False)
    assert synced == []
    state.update_map_end_offset(2)
    file = state.take_snapshot()
    assert file is not None
    assert synced == [file.stat().st_size]


@pytest.mark.parametrize(
    ("snapshots", "bases", "kept"),
    [
        ([0, 5, 10], [0, 5, 10], (5, 10)),
        ([5, 7, 10, 12], [0, 5, 10], (5, 10, 12)),
        ([3, 5, 12, 14], [0, 5, 10], (5, 14)),
        ([3, 7], [0, 10], ()),
    ],
)
def test_stray_snapshots_are_deleted(
    state: State, snapshots: list[int], bases: list[int], kept: tuple[int, ...]
) -> None:
    for offset in snapshots:
        state.update_map_end_offset(offset)
        state.take_snapshot()
    state.remove_stray_snapshots(bases)
    assert state.snapshot_offsets == kept
