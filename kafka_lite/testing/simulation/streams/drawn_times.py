"""Timestamps that are out of order.

Not in Kafka.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Final

WEIGHTS: Final[Mapping[str, int]] = {"later": 55, "equal": 15, "late": 22, "too late": 6, "much later": 2}
STEP_MS: Final = 4_000
"""From one record to the next, on average, if it is later."""
LATE_MS: Final = 30_000
"""How late records are, on average, that may still find their windows."""
TOO_LATE_MS: Final = (200_000, 400_000)
"""How late the records are whose windows have expired."""
JUMP_MS: Final = 300_000
"""How far time jumps now and then: far enough for all windows to expire."""


class DrawnTimes:
    """The times of records, of which most are a bit later than all before, and others equal, late, or too late."""

    def __init__(self, random: Random, start_ms: int, *, are_distinct: bool = False) -> None:
        """``are_distinct``: no two records have the same time; what would is a bit later."""
        self._random = random
        self._latest_ms = start_ms
        self._are_distinct = are_distinct
        self._drawn: set[int] = set()

    def draw(self) -> int:
        """The next record's timestamp in ms."""
        drawn_ms = self._draw()
        while self._are_distinct and drawn_ms in self._drawn:
            drawn_ms += 1
        self._drawn.add(drawn_ms)
        self._latest_ms = max(self._latest_ms, drawn_ms)
        return drawn_ms

    def _draw(self) -> int:
        random = self._random
        kind = random.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        if kind == "late":
            return self._latest_ms - int(random.expovariate(1 / LATE_MS))
        if kind == "too late":
            return self._latest_ms - random.randint(*TOO_LATE_MS)
        self._latest_ms += {"later": int(random.expovariate(1 / STEP_MS)), "equal": 0, "much later": JUMP_MS}[kind]
        return self._latest_ms
