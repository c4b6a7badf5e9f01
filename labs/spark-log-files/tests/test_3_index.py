"""Task 3: 8 bytes per entry."""

import struct

import pytest

from pipeline.tables.log_files import parse_index


def stored(*entries):
    return b"".join(struct.pack(">ii", *entry) for entry in entries)


@pytest.mark.points(4, task=3)
def test_offsets_are_absolute():
    """Base offset 5000"""
    got = parse_index(stored((12, 4200), (25, 8500)), 5000)
    assert [tuple(entry) for entry in got] != [(12, 4200), (25, 8500)], "12 is relative: the entry is for offset 5012"
    assert [tuple(entry) for entry in got] == [(5012, 4200), (5025, 8500)], f"entries 5012 and 5025, you have {got}"


@pytest.mark.points(4, task=3)
def test_unused_room_is_no_entry():
    """The active segment's index"""
    got = parse_index(stored((12, 4200)) + bytes(800), 0)
    assert len(got) < 100, "the index is preallocated: 100 of your entries are zeros, room that is not used yet"
    assert [tuple(entry) for entry in got] == [(12, 4200)], f"one entry, (12, 4200), and zeros; you have {got}"


@pytest.mark.points(2, task=3)
def test_half_an_entry():
    """12 bytes"""
    got = [tuple(entry) for entry in parse_index(stored((12, 4200)) + b"\x00\x00\x00\x19", 0)]
    assert got == [(12, 4200)], f"an entry and a half are one entry, (12, 4200); you have {got}"
