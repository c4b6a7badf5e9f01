"""TimeIndex: the largest timestamps and their offsets."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lite.log.abstract_index import CorruptIndexError, InvalidOffsetError
from kafka_lite.log.time_index import TimeIndex

BASE = 20


@pytest.fixture
def index(tmp_path: Path) -> TimeIndex:
    return TimeIndex(tmp_path / "00000000000000000020.timeindex", BASE, 10 * 12 + 5)


def fill(index: TimeIndex, *pairs: tuple[int, int]) -> None:
    for timestamp, offset in pairs:
        index.maybe_append(timestamp, offset)


def test_entries_are_timestamp_and_relative_offset(index: TimeIndex) -> None:
    fill(index, (0x1A1FD3034CD, 27))
    index.flush()
    assert index.file.stat().st_size == 120
    assert index.file.read_bytes()[:24] == bytes.fromhex("000001a1fd3034cd 00000007") + bytes(12)


def test_lookup(index: TimeIndex) -> None:
    assert index.lookup(100) == (-1, BASE)
    fill(index, (103, 21), (105, 23), (109, 26))
    assert index.lookup(102) == (-1, BASE)
    assert index.lookup(103) == (103, 21)
    assert index.lookup(108) == (105, 23)
    assert index.lookup(1 << 60) == (109, 26)
    assert index.last_entry == (109, 26)


def test_maybe_append_ignores_timestamps_that_are_not_newer(index: TimeIndex) -> None:
    fill(index, (103, 21), (103, 21), (103, 25), (104, 25))
    assert [index.entry(n) for n in range(index.entries)] == [(103, 21), (104, 25)]


def test_messages_without_timestamps_add_no_entry(index: TimeIndex) -> None:
    fill(index, (-1, BASE), (-1, BASE))
    assert (index.entries, index.last_entry) == (0, (-1, BASE))


def test_decreasing_timestamps_and_offsets_are_rejected(index: TimeIndex) -> None:
    fill(index, (103, 23))
    with pytest.raises(InvalidOffsetError):
        index.maybe_append(104, 22)
    with pytest.raises(InvalidOffsetError):
        index.maybe_append(102, 24)


def test_the_last_slot_is_reserved_for_the_roll(index: TimeIndex) -> None:
    fill(index, *((100 + i, BASE + i) for i in range(9)))
    assert index.is_full
    with pytest.raises(IndexError, match="full"):
        index.maybe_append(200, 200)
    index.maybe_append(200, 200, skip_full_check=True)
    assert (index.entries, index.last_entry) == (10, (200, 200))


def test_truncate_to_searches_by_offset(index: TimeIndex) -> None:
    fill(index, (103, 21), (105, 23), (109, 26))
    index.truncate_to(27)
    assert index.entries == 3
    index.truncate_to(25)
    assert index.last_entry == (105, 23)
    index.truncate_to(23)
    assert index.last_entry == (103, 21)
    index.truncate_to(BASE)
    assert index.entries == 0


def test_sanity_check(index: TimeIndex, tmp_path: Path) -> None:
    index.sanity_check()
    fill(index, (103, 21), (105, 23))
    index.close()
    TimeIndex(index.file, BASE, 120).sanity_check()
    (tmp_path / "untrimmed").write_bytes(index.file.read_bytes() + bytes(12))
    with pytest.raises(CorruptIndexError, match="last timestamp"):
        TimeIndex(tmp_path / "untrimmed", BASE, 120).sanity_check()
    (tmp_path / "odd").write_bytes(index.file.read_bytes() + b"x")
    with pytest.raises(CorruptIndexError, match="25 bytes"):
        TimeIndex(tmp_path / "odd", BASE, 120).sanity_check()
    (tmp_path / "offset").write_bytes(bytes.fromhex("0000000000000067 ffffffff"))
    with pytest.raises(CorruptIndexError, match="base offset"):
        TimeIndex(tmp_path / "offset", BASE, 120).sanity_check()
