"""Task 4: one entry after the last, or an error that changes nothing."""

import pytest

from kafka_learn.labs.locks import touched_only_with
from kafka_lite.log.abstract_index import InvalidOffsetError


def stored(index):
    """The content of the file, as hex."""
    index.flush()
    return index.file.read_bytes()[: index.size_in_bytes].hex(" ", 4)


@pytest.mark.points(4, task=4)
def test_the_bytes_are_kafkas(new_index):
    """The bytes that Kafka would write"""
    index = new_index(base_offset=20)
    index.append(22, 204)
    got = stored(index)
    assert got != "00000016 000000cc", f"the file has {got}: offset 22 was stored as it is, not relative to 20"
    index.append(24, 408)
    got, want = stored(index), "00000002 000000cc 00000004 00000198"
    assert got == want, f"offsets 22 and 24 at 204 and 408 are stored as {want}; your file has {got}"


def must_refuse(index, offset, error, why):
    """An append that raises and changes nothing."""
    before = (index.entries, stored(index))
    try:
        index.append(offset, 9999)
    except error:
        pass
    except Exception as other:  # noqa: BLE001 - whatever it is, it is not what the docstring promises
        pytest.fail(f"{why}; it raised {type(other).__name__}: {other}")
    else:
        pytest.fail(why)
    assert (index.entries, stored(index)) == before, f"{why}; it was rejected, but the index has changed: check first"


@pytest.mark.points(5, task=4)
def test_offsets_increase(new_index):
    """Offsets that do not increase"""
    index = new_index()
    with touched_only_with(index, "_lock", state=["_entries", "_mmap", "is_full", "last_offset"], within=["append"]):
        index.append(5, 500)
    must_refuse(index, 5, InvalidOffsetError, "offset 5 twice must raise InvalidOffsetError: binary search needs order")
    must_refuse(index, 4, InvalidOffsetError, "offset 4 after 5 must raise InvalidOffsetError: nothing else checks")
    index.append(6, 600)
    assert index.entries == 2, f"6 after 5 is valid and makes two entries, but you have {index.entries}"


@pytest.mark.points(3, task=4)
def test_no_entry_for_the_base_offset_itself(new_index):
    """The relative offset 0"""
    why = "an entry 0 → … looks like unused space: reject the base offset itself (last_offset of an empty index)"
    must_refuse(new_index(base_offset=20), 20, InvalidOffsetError, why)


@pytest.mark.points(4, task=4)
def test_a_full_index(new_index):
    """A full index"""
    index = new_index(room_for=3)
    for n in (1, 2, 3):
        index.append(n, n * 100)
    must_refuse(index, 4, IndexError, "the file has room for three entries: the fourth must raise IndexError (is_full)")


@pytest.mark.points(3, task=4)
def test_an_offset_that_is_too_large(new_index):
    """An offset that does not fit into 31 bits"""
    index = new_index(base_offset=1000)
    must_refuse(index, 1000 + 2**31, OverflowError, "2**31 beyond the base offset must raise OverflowError")
    index.append(1000 + 2**31 - 1, 1)
    assert index.last_offset == 1000 + 2**31 - 1, "2**31 - 1 above the base offset still fits"


@pytest.mark.points(1, task=4)
def test_a_lookup_during_an_append(must_lock):
    """Appends take the lock"""
    must_lock("append", lambda index: index.append(109, 900))
