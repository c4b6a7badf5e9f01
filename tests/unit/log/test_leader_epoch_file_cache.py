"""LeaderEpochFileCache: which leader epoch begins at which offset."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.checkpoints.leader_epoch_checkpoint_file import LeaderEpochCheckpointFile
from kafka_lite.log.leader_epoch_file_cache import LeaderEpochFileCache


@pytest.fixture
def cache(tmp_path: Path) -> LeaderEpochFileCache:
    return open_cache(tmp_path)


def open_cache(directory: Path) -> LeaderEpochFileCache:
    return LeaderEpochFileCache(TopicPartition("t", 0), LeaderEpochCheckpointFile(directory))


def fill(cache: LeaderEpochFileCache, *entries: tuple[int, int]) -> None:
    for entry in entries:
        cache.assign(*entry)


def test_an_empty_cache_has_no_epochs(cache: LeaderEpochFileCache) -> None:
    assert (cache.latest_epoch, cache.latest_entry, cache.earliest_entry) == (-1, None, None)
    assert cache.end_offset_for(0, 10) == (-1, -1)
    assert cache.epoch_for_offset(0) == -1
    cache.truncate_from_start(5)
    cache.truncate_from_end(0)


def test_entries_are_kept_in_a_file(cache: LeaderEpochFileCache, tmp_path: Path) -> None:
    fill(cache, (0, 0), (2, 120), (5, 180))
    assert (tmp_path / "leader-epoch-checkpoint").read_text() == "0\n3\n0 0\n2 120\n5 180\n"
    assert open_cache(tmp_path).entries == [(0, 0), (2, 120), (5, 180)]


def test_assigning_the_same_epoch_again_is_a_no_op(cache: LeaderEpochFileCache) -> None:
    fill(cache, (2, 10), (2, 15))
    assert cache.entries == [(2, 10)]


def test_assign_removes_contradicting_entries(cache: LeaderEpochFileCache) -> None:
    fill(cache, (1, 0), (2, 10), (3, 20), (4, 20))
    assert cache.entries == [(1, 0), (2, 10), (4, 20)]
    fill(cache, (3, 5))
    assert cache.entries == [(1, 0), (3, 5)]
    fill(cache, (3, 2))
    assert cache.entries == [(1, 0), (3, 2)]
    fill(cache, (4, 10), (3, 7))
    assert cache.entries == [(1, 0), (3, 7)], "an older epoch again, from a later offset"


def test_assign_newer_ignores_older_epochs(cache: LeaderEpochFileCache) -> None:
    fill(cache, (3, 20))
    cache.assign_newer(2, 50)
    cache.assign_newer(3, 60)
    cache.assign_newer(3, 10)
    cache.assign_newer(4, 70)
    assert cache.entries == [(3, 20), (4, 70)]


@pytest.mark.parametrize("entry", [(-1, 0), (0, -1)])
def test_negative_epochs_and_offsets_are_rejected(cache: LeaderEpochFileCache, entry: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="cannot start"):
        cache.assign(*entry)


def test_end_offset_for(cache: LeaderEpochFileCache) -> None:
    fill(cache, (2, 100), (4, 120), (5, 180))
    assert cache.end_offset_for(5, 200) == (5, 200)
    assert cache.end_offset_for(4, 200) == (4, 180)
    assert cache.end_offset_for(3, 200) == (2, 120)
    assert cache.end_offset_for(2, 200) == (2, 120)
    assert cache.end_offset_for(1, 200) == (1, 100)
    assert cache.end_offset_for(6, 200) == (-1, -1)
    assert cache.end_offset_for(-1, 200) == (-1, -1)


def test_epoch_for_offset(cache: LeaderEpochFileCache) -> None:
    fill(cache, (2, 100), (4, 120))
    assert [cache.epoch_for_offset(offset) for offset in (99, 100, 119, 120, 500)] == [-1, 2, 2, 4, 4]


def test_truncate_from_end(cache: LeaderEpochFileCache, tmp_path: Path) -> None:
    fill(cache, (2, 100), (4, 120), (5, 180))
    cache.truncate_from_end(181)
    assert len(cache.entries) == 3
    cache.truncate_from_end(120)
    assert cache.entries == open_cache(tmp_path).entries == [(2, 100)]


def test_truncate_from_start(cache: LeaderEpochFileCache, tmp_path: Path) -> None:
    fill(cache, (2, 100), (4, 120), (5, 180))
    cache.truncate_from_start(50)
    assert cache.earliest_entry == (2, 100)
    cache.truncate_from_start(150)
    assert cache.entries == open_cache(tmp_path).entries == [(4, 150), (5, 180)]
    cache.truncate_from_start(180)
    assert cache.entries == [(5, 180)]


def test_a_truncation_that_removes_no_epoch_writes_no_file(cache: LeaderEpochFileCache, tmp_path: Path) -> None:
    fill(cache, (2, 100), (4, 120))
    (tmp_path / "leader-epoch-checkpoint").unlink()
    cache.truncate_from_end(121)
    cache.truncate_from_start(100)
    assert list(tmp_path.iterdir()) == []


def test_after_a_rename_the_file_is_in_the_new_directory(tmp_path: Path) -> None:
    before, after = tmp_path / "t-0", tmp_path / "t-0.delete"
    before.mkdir()
    cache = open_cache(before)
    fill(cache, (0, 0))
    before.rename(after)
    cache.set_directory(after)
    fill(cache, (1, 10))
    assert open_cache(after).entries == [(0, 0), (1, 10)]


def test_flush_fsyncs_an_epoch_that_was_written_without_fsync(
    tmp_path: Path, cache: LeaderEpochFileCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    cache.assign(0, 0, sync=False)
    assert open_cache(tmp_path).entries == cache.entries
    assert not synced
    cache.flush()
    cache.flush()
    assert len(synced) == 1, "a second flush does nothing"
    for _ in range(2):
        cache.assign(1, 10)
        assert len(synced) == 2
    cache.flush()
    assert len(synced) == 2


def test_an_epoch_that_could_not_be_written_is_written_by_the_next_flush(
    cache: LeaderEpochFileCache, tmp_path: Path
) -> None:
    fill(cache, (0, 0))
    (tmp_path / "leader-epoch-checkpoint.tmp").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left on device"):
        cache.assign(1, 10, sync=False)
    cache.assign(1, 10, sync=False)
    (tmp_path / "leader-epoch-checkpoint.tmp").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left on device"):
        cache.flush()
    cache.flush()
    assert open_cache(tmp_path).entries == [(0, 0), (1, 10)]


def test_a_truncation_that_could_not_be_written_is_written_by_the_next_flush(
    cache: LeaderEpochFileCache, tmp_path: Path
) -> None:
    fill(cache, (0, 0), (1, 10))
    (tmp_path / "leader-epoch-checkpoint.tmp").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left on device"):
        cache.truncate_from_end(10)
    cache.flush()
    assert open_cache(tmp_path).entries == [(0, 0)]
