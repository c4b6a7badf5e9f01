"""Gives the objects of a world other addresses, as a busy machine or another interpreter would.

Not in Kafka. A seed must have the same events wherever the interpreter puts its objects. Two runs in a row of one
program put them at nearly the same places, so they would not show a set that is ordered by addresses. A disturbed run
does.
"""

from __future__ import annotations

from random import Random
from typing import Final

KEPT: Final = 20_000
"""Blocks of memory that are held at most."""
LARGEST_BYTES: Final = 512
"""The interpreter's allocator has pools for blocks up to this size."""


class Disturbance:
    """Takes memory, and gives some of it back, at each event of a world."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._kept: list[bytes] = []
        for _ in range(random.randrange(KEPT)):
            self._take()

    def event(self, line: str) -> None:
        """An event of the world; to be given as its ``trace``."""
        del line
        if self._random.random() < 0.1:
            self._take()

    def _take(self) -> None:
        block = bytes(self._random.randrange(1, LARGEST_BYTES))
        if len(self._kept) < KEPT:
            self._kept.append(block)
        else:
            self._kept[self._random.randrange(KEPT)] = block

    def folder_suffix(self) -> str:
        """A suffix for the name of the world's folder, which changes the lengths and hashes of all paths."""
        return "x" * self._random.randrange(1, 30)
