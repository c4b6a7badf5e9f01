"""The file of an index: preallocated, trimmed, resized, damaged, renamed."""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path

import pytest

from kafka_lite.log import abstract_index
from kafka_lite.log.abstract_index import CorruptIndexError
from kafka_lite.log.mapped_indexes import MappedIndexes
from kafka_lite.log.offset_index import OffsetIndex

BASE = 45


@pytest.fixture
def index(tmp_path: Path) -> OffsetIndex:
    return OffsetIndex(tmp_path / "00000000000000000045.index", BASE, 30 * 8)


def fill(index: OffsetIndex, *pairs: tuple[int, int]) -> None:
    for offset, position in pairs:
        index.append(offset, position)


def test_file_is_preallocated_in_whole_entries(tmp_path: Path) -> None:
    index = OffsetIndex(tmp_path / "i", 0, 67)
    assert (tmp_path / "i").stat().st_size == 64
    assert (index.max_entries, index.entries) == (8, 0)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="only Linux lists a process's descriptors")
def test_an_index_needs_no_descriptor_where_python_can_map_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(abstract_index, "MAPPED_INDEXES", MappedIndexes())  # without those of other tests
    before = len(os.listdir("/proc/self/fd"))
    index = OffsetIndex(tmp_path / "i", 0, 64)
    assert len(os.listdir("/proc/self/fd")) - before == (0 if sys.version_info >= (3, 13) else 1)
    index.append(1, 2)
    index.resize(128)
    assert index.lookup(1) == (1, 2)
    index.close()
    assert len(os.listdir("/proc/self/fd")) == before


def test_append_to_a_full_index_is_rejected(index: OffsetIndex) -> None:
    for i in range(index.max_entries):
        index.append(BASE + i + 1, i)
    assert index.is_full
    with pytest.raises(IndexError, match="full"):
        index.append(BASE + 1000, 1)


def test_offset_beyond_a_32_bit_relative_offset_is_rejected(index: OffsetIndex) -> None:
    assert not index.can_append_offset(BASE + 2**31)
    assert not index.can_append_offset(BASE - 1)
    with pytest.raises(OverflowError):
        index.append(BASE + 2**31, 0)


def test_entry_by_number(index: OffsetIndex) -> None:
    fill(index, (46, 7))
    assert index.entry(0) == (46, 7)
    for n in (1, -1):
        with pytest.raises(IndexError):
            index.entry(n)


def test_truncate_to(index: OffsetIndex) -> None:
    fill(index, *((BASE + i, i) for i in range(1, 10)))
    index.truncate_to(BASE + 12)
    assert index.entries == 9
    index.truncate_to(BASE + 10)
    assert (index.entries, index.last_offset) == (9, BASE + 9)
    index.truncate_to(BASE + 9)
    assert (index.entries, index.last_offset) == (8, BASE + 8)
    index.truncate_to(BASE)
    assert (index.entries, index.last_offset) == (0, BASE)


def test_truncated_entries_are_zeroed_and_can_be_written_again(index: OffsetIndex) -> None:
    fill(index, (46, 1), (47, 2))
    index.truncate()
    assert index.file.read_bytes() == bytes(240)
    fill(index, (48, 3))
    assert index.lookup(48) == (48, 3)


def test_trim_reopen_and_resize(index: OffsetIndex) -> None:
    fill(index, (51, 345), (52, 456))
    index.close()
    assert index.file.stat().st_size == 16
    again = OffsetIndex(index.file, BASE, 30 * 8)
    again.sanity_check()
    assert (again.entries, again.last_offset, again.is_full) == (2, 52, True)
    assert again.lookup(51) == (51, 345)
    again.resize(30 * 8)
    again.append(53, 567)
    assert [again.entry(n) for n in range(3)] == [(51, 345), (52, 456), (53, 567)]
    again.close()
    assert again.file.read_bytes() == struct.pack(">6i", 6, 345, 7, 456, 8, 567)


def test_empty_index_closes_to_an_empty_file_and_opens_again(index: OffsetIndex) -> None:
    index.close()
    index.close()
    assert index.file.stat().st_size == 0
    again = OffsetIndex(index.file, BASE, 240)
    again.sanity_check()
    assert (again.entries, again.lookup(50)) == (0, (BASE, 0))
    again.resize(240)
    again.append(46, 3)
    assert again.lookup(46) == (46, 3)


def test_an_untrimmed_file_fails_the_sanity_check(index: OffsetIndex) -> None:
    fill(index, (51, 345))
    index.flush()
    with pytest.raises(CorruptIndexError, match="not greater than its base offset"):
        OffsetIndex(index.file, BASE, 240).sanity_check()


def test_a_file_of_incomplete_entries_fails_the_sanity_check(tmp_path: Path) -> None:
    (tmp_path / "i").write_bytes(bytes(17))
    with pytest.raises(CorruptIndexError, match="17"):
        OffsetIndex(tmp_path / "i", 0, 240).sanity_check()


def test_a_max_size_below_one_entry_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="7 bytes"):
        OffsetIndex(tmp_path / "i", 0, 7)


def test_lookup_after_close_fails(index: OffsetIndex) -> None:
    fill(index, (51, 345))
    index.close()
    with pytest.raises(ValueError, match="closed"):
        index.lookup(51)


def test_rename_and_delete(index: OffsetIndex, tmp_path: Path) -> None:
    fill(index, (51, 345))
    index.rename_to(tmp_path / "other")
    assert index.lookup(60) == (51, 345)
    index.delete()
    index.delete()
    assert list(tmp_path.iterdir()) == []


def test_a_preallocated_file_uses_no_disk_space_until_written(tmp_path: Path) -> None:
    index = OffsetIndex(tmp_path / "i", 0, 10 * 2**20)
    assert index.file.stat().st_blocks == 0
    index.append(1, 1)
    index.flush()
    assert 0 < index.file.stat().st_blocks * 512 <= 64 * 1024


def test_reopening_an_unclosed_file_truncates_its_unwritten_rest(tmp_path: Path) -> None:
    """Reading the hole through the mapping would allocate blocks on some file systems."""
    index = OffsetIndex(tmp_path / "i", 0, 1 << 20)
    for offset in range(1, 11):
        index.append(offset, offset * 100)
    assert index.file.stat().st_size == 1 << 20
    again = OffsetIndex(tmp_path / "i", 0, 1 << 20)
    assert index.file.stat().st_size == 4096  # the block that has the entries
    with pytest.raises(CorruptIndexError):
        again.sanity_check()


def test_truncation_frees_the_blocks_of_the_removed_entries(tmp_path: Path) -> None:
    index = OffsetIndex(tmp_path / "i", 0, 1 << 20)
    for offset in range(1, 2001):
        index.append(offset, offset * 100)
    blocks = index.file.stat().st_blocks
    index.truncate_to(3)
    assert index.file.stat().st_size == 1 << 20
    assert index.file.stat().st_blocks < blocks
    assert index.file.read_bytes()[16:] == bytes((1 << 20) - 16)
    index.append(7, 700)
    assert [index.entry(n) for n in range(3)] == [(1, 100), (2, 200), (7, 700)]
