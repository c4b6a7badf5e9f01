"""Which indexes are mapped, and what an index does that has been unmapped."""

from __future__ import annotations

import errno
import mmap
import os
import threading
from pathlib import Path

import pytest

from kafka_lite.log import abstract_index
from kafka_lite.log.mapped_indexes import MappedIndexes
from kafka_lite.log.offset_index import OffsetIndex
from kafka_lite.log.time_index import TimeIndex


@pytest.fixture
def mapped(monkeypatch: pytest.MonkeyPatch) -> MappedIndexes:
    """Two at most, as all the indexes of this test have it."""
    indexes = MappedIndexes(2)
    monkeypatch.setattr(abstract_index, "MAPPED_INDEXES", indexes)
    return indexes


@pytest.fixture
def three(tmp_path: Path, mapped: MappedIndexes) -> list[OffsetIndex]:
    """Three indexes with an entry each, of which two are mapped."""
    made = [OffsetIndex(tmp_path / str(number), 0, 80) for number in range(3)]
    for number, index in enumerate(made, 1):
        index.append(number, 100 * number)
    return made


def mapped_ones(indexes: list[OffsetIndex]) -> list[int]:
    return [number for number, index in enumerate(indexes) if index._mapping is not None]


def test_the_one_that_was_mapped_first_is_unmapped(three: list[OffsetIndex], mapped: MappedIndexes) -> None:
    assert (len(mapped), mapped_ones(three)) == (2, [1, 2])
    assert three[0].lookup(5) == (1, 100)
    assert mapped_ones(three) == [0, 2]
    assert [index.lookup(5) for index in three] == [(1, 100), (2, 200), (3, 300)]


def test_what_was_written_is_there_after_unmapping(three: list[OffsetIndex], mapped: MappedIndexes) -> None:
    mapped.make_room(three[0])
    assert mapped_ones(three) == []
    three[2].append(7, 700)
    three[2].resize(three[2].size_in_bytes)
    mapped.make_room(three[0])
    three[2].resize(80)
    assert [three[2].entry(number) for number in range(2)] == [(3, 300), (7, 700)]
    three[2].truncate_to(7)
    assert (three[2].last_offset, three[2].entries, three[2].max_entries) == (3, 1, 10)


def test_a_time_index_is_mapped_again_too(tmp_path: Path, mapped: MappedIndexes) -> None:
    index = TimeIndex(tmp_path / "t", 0, 120)
    index.maybe_append(1000, 5)
    for use in (lambda: index.last_entry, lambda: index.lookup(2000), lambda: index.entry(0)):
        assert index.try_unmap()
        assert use() == (1000, 5)
    assert index.try_unmap()
    index.sanity_check()


def test_an_index_in_use_stays_mapped(three: list[OffsetIndex], mapped: MappedIndexes) -> None:
    entered, leave = threading.Event(), threading.Event()

    def reader() -> None:
        with three[1]._lock:
            entered.set()
            leave.wait()

    thread = threading.Thread(target=reader)
    thread.start()
    entered.wait()
    assert not three[1].try_unmap()
    assert three[0].lookup(1) == (1, 100), "it does not wait for the reader"
    assert (mapped_ones(three), len(mapped)) == ([0, 1, 2], 3)
    leave.set()
    thread.join()
    mapped.add(three[0])
    assert (mapped_ones(three), len(mapped)) == ([0, 2], 2)


def test_a_closed_index_is_not_mapped_again(three: list[OffsetIndex], mapped: MappedIndexes) -> None:
    for index in three:
        index.close()
        assert index.file.stat().st_size == 8
        with pytest.raises(ValueError, match="closed"):
            index.lookup(5)
    assert len(mapped) == 0


def test_a_deleted_index_stays_mapped_for_its_readers(three: list[OffsetIndex], mapped: MappedIndexes) -> None:
    for index in three:
        index.delete()
        assert not index.file.exists()
    assert len(mapped) == 0
    mapped.make_room(three[0])
    assert [index.try_unmap() for index in three] == [True] * 3
    assert [index.lookup(5) for index in three] == [(1, 100), (2, 200), (3, 300)]


def test_an_index_whose_file_is_gone_can_be_deleted(three: list[OffsetIndex]) -> None:
    three[0].file.unlink()
    three[0].delete()
    with pytest.raises(FileNotFoundError):
        three[0].lookup(1)


def test_an_index_is_renamed_and_flushed_while_it_is_not_mapped(
    three: list[OffsetIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    three[0].rename_to(three[0].file.with_suffix(".swap"))
    three[0].flush()
    assert (mapped_ones(three), len(synced)) == ([1, 2], 1)
    three[2].flush()
    assert len(synced) == 1, "a mapping is flushed by itself"
    assert three[0].lookup(1) == (1, 100)


def limit(monkeypatch: pytest.MonkeyPatch, error: int, failures: int) -> list[int]:
    """Let the next mappings fail; returns their sizes."""
    tried: list[int] = []
    real = mmap.mmap

    def scarce(number: int, size: int, **options: bool) -> mmap.mmap:
        tried.append(size)
        if len(tried) <= failures:
            raise OSError(error, os.strerror(error))
        return real(number, size, **options)

    monkeypatch.setattr(mmap, "mmap", scarce)
    return tried


@pytest.mark.parametrize("error", [errno.EMFILE, errno.ENFILE, errno.ENOMEM], ids=errno.errorcode.get)
def test_others_make_room_if_no_more_files_can_be_opened(
    three: list[OffsetIndex], monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    limit(monkeypatch, error, 1)
    assert three[0].lookup(1) == (1, 100)
    assert mapped_ones(three) == [0]


def test_other_errors_are_raised_at_once(three: list[OffsetIndex], monkeypatch: pytest.MonkeyPatch) -> None:
    tried = limit(monkeypatch, errno.EIO, 9)
    with pytest.raises(OSError, match="Input/output error"):
        three[0].lookup(1)
    assert (tried, mapped_ones(three)) == ([80], [1, 2])


def test_a_file_that_cannot_be_mapped_is_not_opened(
    tmp_path: Path, mapped: MappedIndexes, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(monkeypatch, errno.EMFILE, 2)
    with pytest.raises(OSError, match="Too many open files"):
        OffsetIndex(tmp_path / "i", 0, 80)
    assert len(mapped) == 0
