"""The input that all systems count, and the right counts. Book 9.3."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable

SMALL = [
    "To be or not to be that is the question",
    "Whether tis nobler in the mind to suffer",
    "The slings and arrows of outrageous fortune",
    "Or to take arms against a sea of troubles",
    "And by opposing end them To die to sleep",
]
"""For reading: the same word at the begin, in the middle and in several lines, in capitals and not."""

WORDS = 1_000
WORDS_IN_A_LINE = 5


def many_lines(count: int, seed: int = 9) -> list[str]:
    """For measuring: of a thousand words, a few are frequent and most are rare, as in any language."""
    chosen = random.Random(seed)
    words = [f"w{number}" for number in range(WORDS)]
    weights = [1 / (rank + 1) for rank in range(WORDS)]
    return [" ".join(chosen.choices(words, weights, k=WORDS_IN_A_LINE)) for _ in range(count)]


def counted(lines: Iterable[str]) -> dict[str, int]:
    """The counts that every system must find."""
    return dict(Counter(word for line in lines for word in line.lower().split()))
