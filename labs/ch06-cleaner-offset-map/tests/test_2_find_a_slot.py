"""Task 2: the slot of a key, or the one where it belongs."""

import pytest


def slot_of_probe(offset_map, key_hash, attempt):
    return offset_map._position_of(key_hash, attempt) // 24


def must_find(offset_map, key_hash, slot, why):
    found = offset_map._find(key_hash)
    assert found == slot * 24, f"{why}: slot {slot} at byte {slot * 24}, you found byte {found}"


@pytest.mark.points(4, task=2)
def test_in_an_empty_map(new_map, hash_of):
    """In an empty map, the first probe finds the slot"""
    offset_map, key_hash = new_map(), hash_of(b"key")
    must_find(offset_map, key_hash, slot_of_probe(offset_map, key_hash, 0), "the first slot that is probed is empty")


@pytest.mark.points(6, task=2)
def test_an_existing_key(new_map, hash_of):
    """An existing key, behind others"""
    offset_map, key_hash = new_map(), hash_of(b"key")
    slots = [slot_of_probe(offset_map, key_hash, attempt) for attempt in range(3)]
    assert len(set(slots)) == 3, "task 1 is not right yet: the first three probes of this hash lead to different slots"
    offset_map.write(slots[0], b"another", 1)
    offset_map.write(slots[1], b"and another", 2)
    must_find(offset_map, key_hash, slots[2], "the first two probes meet other keys, the third an empty slot")
    offset_map.write(slots[2], b"key", 3)
    must_find(offset_map, key_hash, slots[2], "the first two probes meet other keys, the third one this very key")


@pytest.mark.points(7, task=2)
def test_the_last_free_slot(new_map, hash_of):
    """The last free slot is found, wherever it is"""
    for free in range(20):
        offset_map = new_map(20)
        for slot in range(20):
            if slot != free:
                offset_map.write(slot, b"other %d" % slot, slot)
        must_find(offset_map, hash_of(b"key"), free, "all slots but one are taken")


@pytest.mark.points(7, task=2)
def test_a_full_map_without_the_key(new_map, hash_of):
    """A full map, and a key that is not in it"""
    for slots in (1, 5, 40):
        offset_map = new_map(slots)
        for slot in range(slots):
            offset_map.write(slot, b"other %d" % slot, slot)
        found = offset_map._find(hash_of(b"key"))
        assert found == -1, f"all {slots} slots are taken by other keys: -1, not {found}"
        must_find(offset_map, hash_of(b"other 0"), 0, "full, but this key is there")


@pytest.mark.points(1, task=2)
def test_almost_the_same_hash(new_map):
    """A hash that differs in its last byte"""
    offset_map, one, other = new_map(1), b"\1" * 15 + b"\1", b"\1" * 15 + b"\2"
    offset_map.SLOT.pack_into(offset_map._memory, 0, one, 7)
    found = offset_map._find(other)
    assert found == -1, f"the slot has {one.hex()}, not {other.hex()}: compare all 16 bytes; -1, not {found}"
