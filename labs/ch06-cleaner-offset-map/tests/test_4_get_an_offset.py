"""Task 4: look a key up."""

import random

import pytest


@pytest.mark.points(3, task=4)
def test_a_missing_key(new_map):
    """A missing key"""
    offset_map = new_map(5)
    got = offset_map.get(b"key")
    assert got == -1, f"the map is empty: -1, not {got}; at 0 there may be a message of this key"
    for number in range(5):
        offset_map.put(b"%d" % number, number)
    got = offset_map.get(b"key")
    assert got == -1, f"the map is full of other keys: -1, not {got}"


@pytest.mark.points(2, task=4)
def test_offset_zero(new_map):
    """Offset 0 is an offset"""
    offset_map = new_map()
    offset_map.put(b"key", 0)
    got = offset_map.get(b"key")
    assert got == 0, f"offset 0 was put: 0, not {got}"


@pytest.mark.points(5, task=4)
def test_like_a_dict(new_map):
    """Ten thousand puts and gets compared with a dict, at the default load factor"""
    rng = random.Random(6)
    offset_map, model = new_map(1_000), {}
    for offset in range(10_000):
        key = b"key %d" % rng.randrange(900)
        offset_map.put(key, offset)
        model[key] = offset
    wrong = [key for key, offset in model.items() if offset_map.get(key) != offset]
    assert not wrong, f"{wrong[0]!r} has offset {model[wrong[0]]}, but the map returns {offset_map.get(wrong[0])}"
    assert offset_map.size == len(model), f"{len(model)} keys were put, size is {offset_map.size}"
    rate = offset_map.collision_rate
    assert 0 < rate < 4, f"{rate:.1f} probes too many per look-up: are all 13 windows used, every probe counted?"
