"""A sequence is an interleaving of others, or the first place is found at which it is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.testing.simulation.streams.interleaving import Difference, difference


@pytest.mark.parametrize("found", ["abxy", "xyab", "axby", "xaby"])
def test_parts_may_alternate(found: str) -> None:
    assert difference(found, ["ab", "xy"]) is None


def test_nothing_is_an_interleaving_of_nothing() -> None:
    assert difference("", []) is None
    assert difference("", ["", ""]) is None


def test_an_element_may_come_from_any_part_that_has_it_next() -> None:
    assert difference("aaba", ["aba", "a"]) is None
    assert difference("abaa", ["a", "aba"]) is None


@pytest.mark.parametrize(
    ("found", "place", "due"),
    [
        ("axy", 3, ["b"]),  # lost at the end
        ("bxy", 0, ["x", "a"]),  # lost at the beginning
        ("axxby", 2, ["b", "y"]),  # a duplicate
        ("bxay", 0, ["x", "a"]),  # swapped
        ("axbyc", 4, []),  # one that nobody has sent
    ],
)
def test_the_first_difference_is_found(found: str, place: int, due: list[str]) -> None:
    result = difference(found, ["ab", "xy"])
    assert result is not None
    assert (result.place, sorted(map(str, result.due))) == (place, sorted(due))


def test_what_is_due_is_that_of_all_ways() -> None:
    """``a`` may have come from either part."""
    assert difference("ac", ["ab", "ax"]) == Difference(1, ["a", "x", "b"])


@given(st.lists(st.text("ab", max_size=4), max_size=3), st.randoms(use_true_random=False))
def test_every_interleaving_is_one(parts: list[str], random: object) -> None:
    left, found = [*parts], ""
    while any(left):
        number = random.choice([number for number, part in enumerate(left) if part])  # type: ignore[attr-defined]
        found += left[number][0]
        left[number] = left[number][1:]
    assert difference(found, parts) is None
