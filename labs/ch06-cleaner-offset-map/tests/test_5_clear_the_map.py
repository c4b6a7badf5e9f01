"""Task 5: as empty as a new map."""

import pytest


@pytest.mark.points(5, task=5)
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
