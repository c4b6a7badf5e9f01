"""Task 3: from an offset to the position at which reading starts."""

import struct

import pytest

from kafka_learn.labs.locks import touched_only_with
from kafka_lite.log.index_entry import OffsetPosition

STORED = [(3, 300), (6, 600), (9, 900)]


@pytest.mark.points(3, task=3)
def test_between_two_entries(index_with):
    """An offset between two entries"""
    found = tuple(index_with(STORED).lookup(8))
    assert found != (9, 900), "reading from position 900 misses offset 8: the entry must not be above the offset"
    assert found == (6, 600), f"offset 8 is found by reading from 600, where offset 6 is; you returned {found}"


@pytest.mark.points(3, task=3)
def test_offsets_are_absolute_on_both_sides(index_with):
    """A segment that does not start at offset 0"""
    found = tuple(index_with(STORED, base_offset=1000).lookup(1006))
    assert found != (1009, 900), "absolute 1006 was compared with what is stored (3, 6, 9), which is relative to 1000"
    assert found == (1006, 600), f"with base offset 1000, offset 1006 is the entry stored as 6: not {found}"


@pytest.mark.points(1, task=3)
def test_the_first_entry(index_with):
    """Offsets at and after the first entry"""
    index = index_with(STORED)
    with touched_only_with(index, "_lock", state=["_entries", "_mmap"], within=["lookup", "last_offset"]):
        index.lookup(index.last_offset)
    for offset in (3, 5):
        found = tuple(index.lookup(offset))
        assert found == (3, 300), f"offset {offset} is found by reading from 300, where the first entry is: not {found}"


@pytest.mark.points(3, task=3)
def test_without_an_entry_reading_starts_at_the_beginning(index_with, new_index):
    """No entry at or before the offset"""
    for name, index in {"an empty index": new_index(40), "entries 43, 46, 49": index_with(STORED, 40)}.items():
        found = index.lookup(41)
        assert tuple(found) == (40, 0), f"{name}: offset 41 is below every entry, so read from (40, 0), not {found}"
        assert isinstance(found, OffsetPosition), f"the result is always an OffsetPosition; this one is just {found}"
        try:
            found = tuple(index.lookup(35))
        except OverflowError as error:
            pytest.fail(f"{name}: offset 35 is below every entry, so read from (40, 0); that is no error ({error})")
        assert found == (40, 0), f"{name}: offset 35 is below every entry, so read from (40, 0), not {found}"
    trimmed = new_index(60)
    trimmed.trim_to_valid_size()  # as of a segment that is no longer written
    try:
        last = trimmed.last_offset
    except struct.error as error:
        pytest.fail(f"an index that was trimmed has no entry and no room for one: do not read a slot ({error})")
    assert last == 60, f"without an entry, last_offset is the base offset 60, not {last}"


@pytest.mark.points(2, task=3)
def test_beyond_the_last_entry(index_with):
    """An offset above the last entry"""
    index = index_with(STORED, room_for=10)
    found = tuple(index.lookup(10_000))
    assert found == (9, 900), f"the last entry is the nearest: (9, 900), not {found}"
    index._put_entry(12, 1200)
    found = tuple(index.lookup(10_000))
    assert found == (12, 1200), (
        f"entry 12 at 1200 has been added since the last lookup: it is now the nearest, not {found}"
    )


@pytest.mark.points(2, task=3)
def test_the_last_offset(index_with, new_index):
    """last_offset, with and without entries"""
    last = index_with(STORED, base_offset=100).last_offset
    assert last == 109, f"the last entry is stored as 9, base offset 100: last_offset is 109, not {last}"
    none = new_index(40).last_offset
    assert none == 40, f"without entries last_offset is the base offset, 40, not {none}"


@pytest.mark.points(1, task=3)
def test_a_roll_during_a_lookup(must_lock):
    """Lookups take the lock"""
    must_lock("lookup", lambda index: index.lookup(104))
    must_lock("last_offset", lambda index: index.last_offset)
