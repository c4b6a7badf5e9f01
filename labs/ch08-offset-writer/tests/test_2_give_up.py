"""Task 2: a flush is given up, and nothing is lost."""

import pytest

A, B, C = {"file": "a"}, {"file": "b"}, {"file": "c"}


@pytest.mark.points(8, task=2)
def test_nothing_is_lost(writer):
    """Two buffers become one"""
    writer.offset(A, {"row": 5})
    writer.offset(B, {"row": 1})
    writer.begin_flush()
    writer.offset(A, {"row": 7})
    writer.offset(C, {"row": 2})
    writer.cancel_flush()
    found = {partition["file"]: offset["row"] for partition, offset in writer._data.values()}
    assert "b" in found, f"row 1 of b was set aside, and must be part of the next flush; there is {found}"
    assert found.get("a") == 7, f"5 was set aside, 7 noted since: the newer one wins; there is {found}"
    assert found == {"a": 7, "b": 1, "c": 2}, f"a 7, b 1, c 2; there is {found}"


@pytest.mark.points(7, task=2)
def test_the_flush_has_ended(writer):
    """Another one may begin; a second cancel does nothing"""
    writer.offset(A, {"row": 5})
    writer.begin_flush()
    writer.cancel_flush()
    number = writer._flush_id
    assert number == 1, "an outcome that comes now belongs to a flush that was given up: use its number up"
    writer.cancel_flush()
    assert writer._flush_id == number, "there is no flush: nothing to give up, no number to use up"
    assert writer.begin_flush() is True, "the flush was given up: another one may begin, with row 5"
