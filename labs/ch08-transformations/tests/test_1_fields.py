"""Task 1: which fields, under which names."""

import pytest


@pytest.mark.points(10, task=1)
def test_wanted(replace_field):
    """Included, excluded, both, neither"""
    plain = replace_field(renames="a:b")
    assert plain._is_wanted("a"), "an empty list of included fields includes everything"
    some = replace_field(include="a,b", exclude="b")
    assert some._is_wanted("a"), "a is included"
    assert not some._is_wanted("b"), "b is included and excluded: excluding wins"
    assert not some._is_wanted("c"), "others are included, c is not"


@pytest.mark.points(10, task=1)
def test_renamed(replace_field):
    """A map of three fields"""
    found = replace_field(exclude="c", renames="a:c,b:x")._replaced({"a": 1, "b": 2, "c": 3})
    assert found == {"c": 1, "x": 2}, f"c is excluded by its old name, a is c now: c 1, x 2; yours: {found}"
    assert list(found) == ["c", "x"], f"in the order of the value; yours: {list(found)}"
