"""What a log knows of its producers: sequences, duplicates, epochs, expiration, snapshots."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_lite.common.errors import Errors
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.log.producers.producer_state_entry import BatchMetadata
from kafka_lite.record.records import batches
from tests.support.examples import examples
from tests.support.producer_states import ProducerState as State
from tests.support.producer_states import producer_batch as batch

MAX_SEQUENCE = 2**31 - 1


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State(tmp_path)


def test_prepared_updates_do_not_change_the_state(state: State) -> None:
    state.append(batch(0))
    state.prepare_updates(batches(batch(0, epoch=1, offset=1)), AppendOrigin.CLIENT)
    assert state.append(batch(1, offset=1)) is None


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


@settings(max_examples=examples(150), deadline=None)
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
