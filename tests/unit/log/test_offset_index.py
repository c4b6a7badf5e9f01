"""OffsetIndex: the entries, the binary search, the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.log.abstract_index import InvalidOffsetError
from kafka_lite.log.index_entry import OffsetPosition
from kafka_lite.log.offset_index import OffsetIndex

BASE = 45


@pytest.fixture
def index(tmp_path: Path) -> OffsetIndex:
    return OffsetIndex(tmp_path / "00000000000000000045.index", BASE, 30 * 8)


def fill(index: OffsetIndex, *pairs: tuple[int, int]) -> None:
    for offset, position in pairs:
        index.append(offset, position)


def test_entries_are_relative_offset_and_position_big_endian(index: OffsetIndex) -> None:
    fill(index, (46, 1), (BASE + 2**31 - 1, 2**31 - 1))
    index.flush()
    assert index.file.read_bytes()[:24] == bytes.fromhex("00000001 00000001 7fffffff 7fffffff 00000000 00000000")


def test_lookup_in_an_empty_index_returns_the_base_offset(index: OffsetIndex) -> None:
    assert index.lookup(BASE + 100) == OffsetPosition(BASE, 0)
    assert index.last_offset == BASE


def test_lookup_finds_the_greatest_entry_not_above_the_offset(index: OffsetIndex) -> None:
    fill(index, (47, 100), (50, 200), (52, 300))
    assert index.lookup(44) == (BASE, 0)
    assert index.lookup(46) == (BASE, 0)
    assert index.lookup(47) == (47, 100)
    assert index.lookup(49) == (47, 100)
    assert index.lookup(50) == (50, 200)
    assert index.lookup(51) == (50, 200)
    assert index.lookup(10_000) == (52, 300)


@given(st.sets(st.integers(1, 300), max_size=30), st.lists(st.integers(-5, 310), min_size=1))
def test_lookup_equals_a_linear_search(
    tmp_path_factory: pytest.TempPathFactory, offsets: set[int], targets: list[int]
) -> None:
    index = OffsetIndex(tmp_path_factory.mktemp("i") / "i", 0, 30 * 8)
    entries = [OffsetPosition(offset, offset * 10) for offset in sorted(offsets)]
    fill(index, *entries)
    for target in targets:
        not_greater = [entry for entry in entries if entry.offset <= target]
        assert index.lookup(target) == (not_greater[-1] if not_greater else (0, 0))
    for target in targets:
        index.truncate_to(target)
        entries = [entry for entry in entries if entry.offset < target]
        assert [index.entry(n) for n in range(index.entries)] == entries


def test_offsets_must_increase(index: OffsetIndex) -> None:
    with pytest.raises(InvalidOffsetError, match="45"):
        index.append(BASE, 1)  # relative offset 0 is never written
    fill(index, (51, 0))
    for offset in (51, 50):
        with pytest.raises(InvalidOffsetError, match="51"):
            index.append(offset, 1)
    assert index.entries == 1
