"""The offset map compared with a dict, when it is nearly full and when it is full."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.log.cleaning.skimpy_offset_map import SkimpyOffsetMap


def new_map(slots: int) -> SkimpyOffsetMap:
    return SkimpyOffsetMap(slots * 24)


@given(st.lists(st.tuples(st.binary(max_size=3), st.integers(0, 2**62)), max_size=60))
def test_behaves_like_a_dict(puts: list[tuple[bytes, int]]) -> None:
    offset_map, model = new_map(61), {}
    for key, offset in puts:
        offset_map.put(key, offset)
        model[key] = offset
        assert offset_map.latest_offset == offset
    assert offset_map.size == len(model)
    assert {key: offset_map.get(key) for key in model} == model
    assert offset_map.get(b"never put") == -1


@pytest.mark.parametrize("slots", [1, 2, 7, 1000])
def test_every_slot_can_be_used(slots: int) -> None:
    offset_map = new_map(slots)
    for number in range(slots):
        assert offset_map.get(b"%d" % number) == -1
        offset_map.put(b"%d" % number, number)
    assert [offset_map.get(b"%d" % number) for number in range(slots)] == list(range(slots))
    assert offset_map.utilization == 1
    # No empty slot ends the search for a missing key; it must end nevertheless.
    assert offset_map.get(b"not there") == -1
    with pytest.raises(ValueError, match="full"):
        offset_map.put(b"0", 1)


def test_offset_zero_and_the_empty_key_are_stored() -> None:
    offset_map = new_map(10)
    offset_map.put(b"", 0)
    assert (offset_map.get(b""), offset_map.size) == (0, 1)


def test_clear_removes_all_entries() -> None:
    offset_map = new_map(10)
    offset_map.put(b"a", 5)
    offset_map.clear()
    assert (offset_map.get(b"a"), offset_map.size, offset_map.latest_offset, offset_map.utilization) == (-1, 0, -1, 0)
    offset_map.put(b"b", 6)
    assert offset_map.get(b"b") == 6


def test_latest_offset_may_exceed_the_offsets_of_the_map() -> None:
    offset_map = new_map(10)
    offset_map.put(b"a", 5)
    offset_map.update_latest_offset(9)
    assert (offset_map.latest_offset, offset_map.get(b"a")) == (9, 5)


def test_slots_are_computed_from_the_memory() -> None:
    assert SkimpyOffsetMap(24 * 10 + 23).slots == 10
    with pytest.raises(ValueError, match="cannot hold a slot"):
        SkimpyOffsetMap(23)


def test_a_key_takes_one_slot_whatever_its_length() -> None:
    offset_map = new_map(2)
    offset_map.put(b"k" * 1_000_000, 1)
    offset_map.put(memoryview(b"k" * 1_000_001), 2)
    assert (offset_map.get(b"k" * 1_000_000), offset_map.get(b"k" * 1_000_001)) == (1, 2)


def test_first_probe_is_the_first_four_bytes_of_the_hash() -> None:
    offset_map = new_map(1000)
    offset_map.put(b"key", 77)
    digest = hashlib.md5(b"key").digest()
    slot = int.from_bytes(digest[:4], "big") % 1000
    memory = offset_map._memory[slot * 24 : slot * 24 + 24]
    assert memory == digest + (77).to_bytes(8, "big")


def test_there_are_few_collisions_at_the_default_load_factor() -> None:
    offset_map = new_map(10_000)
    for number in range(9_000):
        offset_map.put(b"%d" % number, number)
    for number in range(9_000):
        assert offset_map.get(b"%d" % number) == number
    assert offset_map.collision_rate < 3
