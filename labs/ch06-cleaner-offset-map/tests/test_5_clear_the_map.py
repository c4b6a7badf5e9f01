"""Task 5: as empty as a new map."""

import pytest


@pytest.mark.points(3, task=5)
def test_nothing_is_left(new_map):
    """Nothing is left"""
    offset_map = new_map(10)
    for number in range(10):
        offset_map.put(b"%d" % number, number)
    offset_map.clear()
    got = offset_map.get(b"3")
    assert got == -1, f"the map was cleared, but it still finds key 3 at {got}: its slots have not changed"
    state = {"size": offset_map.size, "latest_offset": offset_map.latest_offset}
    assert state == {"size": 0, "latest_offset": -1}, f"a cleared map is empty, but this one has {state}"
    for number in range(10):
        offset_map.put(b"other %d" % number, number)
    assert offset_map.get(b"other 9") == 9, "a cleared map can be filled again"


@pytest.mark.points(1, task=5)
def test_the_memory_is_returned(new_map):
    """The kernel gets the memory back"""
    offset_map = new_map()
    before = offset_map._memory
    offset_map.put(b"key", 1)
    offset_map.clear()
    assert offset_map._memory is not before, (
        "a map of 128 MB that was used once would keep them until the broker ends: self._new_memory()"
    )
    assert before.closed, "the old mapping is still open: close it, or its memory stays as long as anybody knows it"


@pytest.mark.points(1, task=5)
def test_the_collisions_are_counted_anew(new_map):
    """The statistics of the next cleaning"""
    offset_map = new_map(3)
    for number in range(3):
        offset_map.put(b"%d" % number, number)
    offset_map.get(b"another")
    assert offset_map.collision_rate > 0
    offset_map.clear()
    rate = offset_map.collision_rate
    assert rate == 0, f"nobody has looked anything up in the cleared map, but its collision rate is {rate:.1f}"
