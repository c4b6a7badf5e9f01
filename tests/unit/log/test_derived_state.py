"""Leader epochs and producers follow the log together."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.checkpoints.leader_epoch_checkpoint_file import EpochEntry
from kafka_lite.log.derived_state import DerivedState
from kafka_lite.log.log_segments import LogSegments
from kafka_lite.record.record import MAGIC_V1, MAGIC_V2


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    path = tmp_path / "t-0"
    path.mkdir()
    return path


def new_state(directory: Path, magic: int = MAGIC_V2, epochs: tuple[tuple[int, int], ...] = ()) -> DerivedState:
    state = DerivedState(directory, magic, None, TopicPartition("t", 0), threading.RLock(), MockTime())
    for epoch, start in epochs:
        assert state.leader_epoch_cache is not None
        state.leader_epoch_cache.assign(epoch, start)
    return state


def entries(state: DerivedState) -> list[EpochEntry]:
    assert state.leader_epoch_cache is not None
    return state.leader_epoch_cache.entries


def test_formats_before_v2_have_no_epochs(directory: Path) -> None:
    state = new_state(directory, MAGIC_V1)
    assert state.leader_epoch_cache is None
    assert (state.latest_epoch, state.epoch_for_offset(3)) == (-1, -1)
    assert state.end_offset_for_epoch(0, 10) == (-1, -1)
    state.truncate_leader_epochs(0)
    state.on_log_start_offset_incremented(5)
    state.flush()
    state.use_format(MAGIC_V2, directory)
    assert entries(state) == []
    state.use_format(MAGIC_V1, directory)
    assert state.leader_epoch_cache is None


def test_a_format_that_stays_keeps_the_epochs(directory: Path) -> None:
    state = new_state(directory, epochs=((0, 0), (2, 5)))
    state.use_format(MAGIC_V2, directory)
    assert (state.latest_epoch, state.epoch_for_offset(4), state.epoch_for_offset(5)) == (2, 0, 2)
    assert (state.end_offset_for_epoch(0, 9), state.end_offset_for_epoch(2, 9)) == ((0, 5), (2, 9))


def test_a_higher_start_offset_forgets_what_lies_below(directory: Path) -> None:
    state = new_state(directory, epochs=((0, 0), (2, 5), (3, 8)))
    state.on_log_start_offset_incremented(6)
    assert entries(state) == [(2, 6), (3, 8)]


def test_a_truncation_forgets_what_lies_above(directory: Path) -> None:
    state = new_state(directory, epochs=((0, 0), (2, 5), (3, 8)))
    state.truncate_to(LogSegments(), 0, 6)
    assert entries(state) == [(0, 0), (2, 5)]
    assert state.producers.map_end_offset == 6
    state.truncate_fully_and_start_at(3)
    assert entries(state) == [(0, 0)]
    assert (state.producers.map_end_offset, state.producers.snapshot_offsets) == (3, ())


def test_files_are_written_where_the_directory_is_now(directory: Path) -> None:
    state = new_state(directory, epochs=((0, 0),))
    moved = directory.rename(directory.with_name("t-0.moved"))
    state.update_directory(moved)
    assert state.leader_epoch_cache is not None
    state.leader_epoch_cache.assign(1, 4, sync=False)
    state.flush()
    assert entries(new_state(moved)) == [(0, 0), (1, 4)]
