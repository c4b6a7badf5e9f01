"""Task 3: the newest offset of a key."""

import pytest


@pytest.mark.points(5, task=3)
def test_the_bytes_are_kafkas(new_map, hash_of):
    """The bytes of a slot"""
    offset_map = new_map()
    offset_map.put(b"key", 513)
    (slot,) = offset_map.occupied() or [None]
    assert slot is not None, "nothing was written: all slots are still empty"
    got = offset_map._memory[slot * 24 : slot * 24 + 24].hex(" ", 8)
    want = (hash_of(b"key") + (513).to_bytes(8, "big")).hex(" ", 8)
    assert got == want, f"key → 513 is stored as {want}; the slot has {got}"


@pytest.mark.points(5, task=3)
def test_a_key_that_is_put_again(new_map):
    """A key that is put several times"""
    offset_map = new_map()
    for offset in (3, 7, 9):
        offset_map.put(b"key", offset)
    used = len(offset_map.occupied())
    assert used == 1, f"one key takes one slot, however often it is put; here it took {used}"
    assert offset_map.size == 1, f"one key was put three times: size is 1, yours is {offset_map.size}"
    stored = int.from_bytes(offset_map._memory[offset_map.occupied()[0] * 24 + 16 :][:8], "big")
    assert stored == 9, f"offsets 3, 7 and 9 were put: the newest, 9, is kept; the slot has {stored}"


@pytest.mark.points(3, task=3)
def test_the_latest_offset(new_map):
    """The latest offset"""
    offset_map = new_map()
    for key, offset in ((b"a", 4), (b"b", 5), (b"a", 6)):
        offset_map.put(key, offset)
        got = offset_map.latest_offset
        assert got == offset, f"offset {offset} was put last: latest_offset must return it, but returns {got}"


@pytest.mark.points(4, task=3)
def test_a_full_map(new_map):
    """A full map"""
    offset_map = new_map(3)
    for offset, key in enumerate((b"a", b"b", b"c")):
        offset_map.put(key, offset)
    before = offset_map._memory[:]
    try:
        offset_map.put(b"d", 3)
    except ValueError:
        pass
    except Exception as other:  # noqa: BLE001 - whatever it is, it is not what the docstring promises
        pytest.fail(f"a fourth key in three slots must raise ValueError; it raised {type(other).__name__}: {other}")
    else:
        pytest.fail("a fourth key in three slots must raise ValueError")
    state = (offset_map.size, offset_map.latest_offset, offset_map._memory[:] == before)
    assert state == (3, 2, True), "the key was rejected, but the map has changed: check first"


@pytest.mark.points(1, task=3)
def test_a_full_map_refuses_its_own_keys_too(new_map):
    """A full map, and a key that has a slot"""
    offset_map = new_map(1)
    offset_map.put(b"key", 3)
    try:
        offset_map.put(b"key", 7)
    except ValueError:
        pass
    else:
        pytest.fail("all slots are taken: ValueError even for a key that has one of them; ask before you search")
    assert (offset_map.get(b"key"), offset_map.latest_offset) == (3, 3), "the put was refused, but the map has changed"


@pytest.mark.points(1, task=3)
def test_what_was_put_last_counts(new_map):
    """An offset below the one before"""
    offset_map = new_map()
    offset_map.put(b"key", 7)
    offset_map.put(b"key", 3)
    state = (offset_map.get(b"key"), offset_map.latest_offset)
    assert state == (3, 3), (
        f"3 was put last, after 7: (offset, latest_offset) is (3, 3), a map does not choose; {state}"
    )


@pytest.mark.points(1, task=3)
def test_keys_of_any_buffer(new_map):
    """A key in a buffer that is not copied"""
    offset_map = new_map()
    try:
        offset_map.put(memoryview(b"a key in a batch")[2:5], 3)
        found = offset_map.get(b"key")
    except TypeError as error:
        pytest.fail(f"a key is any buffer, here a memoryview: pass it to self._hash as it is ({error})")
    assert found == 3, f"the memoryview has the bytes of 'key', which has offset 3, not {found}"
