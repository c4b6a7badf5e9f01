"""Checks that one sequence is an interleaving of others: each keeps its order, however they alternate.

Not in Kafka.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

T = TypeVar("T")
Positions = tuple[int, ...]
"""How far each of the parts was read."""


class Difference(NamedTuple):
    """The first place at which a sequence is no interleaving, and what could be there."""

    place: int
    due: list[object]


def difference(found: Sequence[T], parts: Sequence[Sequence[T]]) -> Difference | None:
    """Where ``found`` ceases to be an interleaving of all ``parts``; None if it is one.

    All ways to read it are followed at once: parts that have the same element next make more of them.
    """
    ways: set[Positions] = {(0,) * len(parts)}
    for index, element in enumerate(found):
        further = {after for way in ways for after in _steps(way, parts, element)}
        if not further:
            return Difference(index, _due(ways, parts))
        ways = further
    ends = tuple(map(len, parts))
    return None if ends in ways else Difference(len(found), _due(ways, parts))


def _steps(way: Positions, parts: Sequence[Sequence[T]], element: T) -> Iterable[Positions]:
    for number, (position, part) in enumerate(zip(way, parts, strict=True)):
        if position < len(part) and part[position] == element:
            yield (*way[:number], position + 1, *way[number + 1 :])


def _due(ways: Iterable[Positions], parts: Sequence[Sequence[T]]) -> list[object]:
    due: list[object] = []
    for way in sorted(ways):
        for position, part in zip(way, parts, strict=True):
            if position < len(part) and part[position] not in due:
                due.append(part[position])
    return due
