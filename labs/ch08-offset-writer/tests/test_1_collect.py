"""Task 1: offsets are collected, and set aside as a whole."""

import pytest

from kafka_lite.connect.api.errors import ConnectError

A, B = {"file": "a"}, {"file": "b"}


def collected(writer):
    return sorted(offset["row"] for _, offset in writer._data.values())


@pytest.mark.points(6, task=1)
def test_the_newest_offset_counts(writer):
    """Three rows of one file"""
    for row in (1, 2, 3):
        writer.offset(A, {"row": row})
    assert collected(writer) == [3], f"the newest offset of a partition counts: row 3, not {collected(writer)}"
    writer.offset(B, {"row": 9})
    assert collected(writer) == [3, 9], f"each partition has its own: 3 and 9, not {collected(writer)}"


@pytest.mark.points(6, task=1)
def test_the_order_of_the_fields_does_not_matter(writer):
    """The same partition, written differently"""
    writer.offset({"host": "h", "file": "a"}, {"row": 1})
    writer.offset({"file": "a", "host": "h"}, {"row": 2})
    assert collected(writer) == [2], f"equal maps: they are one partition, whose offset is 2, not {collected(writer)}"


@pytest.mark.points(6, task=1)
def test_there_is_something_to_store_or_not(writer):
    """begin_flush with and without offsets"""
    assert writer.begin_flush() is False, "nothing was noted: there is nothing to store, so return False"
    writer.offset(A, {"row": 1})
    assert writer.begin_flush() is True, "row 1 was noted: return True"
    assert not writer._data, "what is set aside is not collected any more"


@pytest.mark.points(7, task=1)
def test_what_comes_during_a_flush_waits_for_the_next(writer):
    """The task reads on"""
    writer.offset(A, {"row": 1})
    writer.begin_flush()
    writer.offset(A, {"row": 2})
    writer.offset(B, {"row": 1})
    aside = sorted(offset["row"] for _, offset in writer._to_flush.values())
    assert aside == [1], f"offsets noted after begin_flush must not get into the flush: row 1, not {aside}"
    try:
        writer.begin_flush()
    except ConnectError:
        return
    pytest.fail("during a flush no other one may begin: raise ConnectError")
