"""The order of the labs, from the key ``after`` of each ``lab.toml``, and the labs of each chapter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from kafka_learn.labs.lab import Lab


class LabOrderError(ValueError):
    """A lab comes after one that does not exist, or after itself by way of others."""


def in_order(labs: Iterable[Lab]) -> list[Lab]:
    """The labs, each after all those that come before it; as far as that leaves a choice, in the order of the book.

    Raises LabOrderError.
    """
    left = sorted(labs, key=lambda lab: (lab.chapter, lab.section, lab.name))
    names = {lab.name for lab in left}
    if unknown := [f"{lab.name} after {before}" for lab in left for before in lab.after if before not in names]:
        raise LabOrderError(f"there is no such lab: {', '.join(unknown)}")
    ordered: list[Lab] = []
    while left:
        passed = {lab.name for lab in ordered}
        ready = next((lab for lab in left if passed.issuperset(lab.after)), None)
        if ready is None:
            raise LabOrderError(f"these labs wait for each other: {', '.join(lab.name for lab in left)}")
        left.remove(ready)
        ordered.append(ready)
    return ordered


def by_chapter(labs: Iterable[Lab]) -> list[tuple[str, list[Lab]]]:
    """Each chapter (``ch06``, ``spark``) with its labs by name."""
    ordered = sorted(labs, key=lambda lab: lab.name)
    return [(chapter, list(found)) for chapter, found in groupby(ordered, key=lambda lab: lab.chapter)]


def following(lab: Lab, labs: Sequence[Lab]) -> list[Lab]:
    """The labs that come right after one."""
    return [other for other in labs if lab.name in other.after]


def hours(minutes: int, language: str) -> str:
    """A time in words: ``45 min``, ``7 h 45 min``."""
    whole, rest = divmod(minutes, 60)
    hour, minute = (" h", " min") if language == "en" else (" 小时", " 分钟")
    parts = [f"{whole}{hour}"] * bool(whole) + [f"{rest}{minute}"] * bool(rest or not whole)
    return " ".join(parts)
