"""The table of a learner's tries at being faster than the reference, beside the progress of the lab."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Group
from rich.table import Table
from rich.text import Text

from kafka_learn.labs.measuring.measuring import Comparison
from kafka_learn.labs.way.way_words import word

FILE = ".tries.json"
KEPT, SHOWN = 200, 12
BAR, FULL = 20, 2.0
"""A bar of so many characters is a ratio of so much; in its middle is the shipped code."""
EVEN, EVEN_IN_TIME = 0.002, 0.03
"""Ratios that differ less from 1 count as equal: counts hardly vary, and even the best of several times does."""


@dataclass(frozen=True)
class Try:
    """One measurement: when (seconds since the epoch), ms and instructions per round, and their ratios."""

    at_s: int
    ms: float
    time_ratio: float
    instructions: float | None = None
    instructions_ratio: float | None = None

    @classmethod
    def of(cls, found: Comparison, at_s: int) -> Try:
        """A measurement as it is kept."""
        yours = found.yours
        return cls(at_s, yours.ms, found.time_ratio, yours.instructions, found.instructions_ratio)

    @property
    def ratio(self) -> float:
        """The ratio that counts: that of the instructions, if they were counted."""
        return self.time_ratio if self.instructions_ratio is None else self.instructions_ratio

    @property
    def compared(self) -> int:
        """-1: faster than the shipped code, 0: as fast, 1: slower."""
        even = EVEN_IN_TIME if self.instructions_ratio is None else EVEN
        return (self.ratio > 1 + even) - (self.ratio < 1 - even)


def tries(folder: Path) -> list[Try]:
    """The tries that are kept in a working folder; none if the file is missing or cannot be read."""
    try:
        return [Try(**row) for row in json.loads((folder / FILE).read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError):
        return []


def remember(folder: Path, new: Try) -> list[Try]:
    """Add a try; returns all, of which the last ``KEPT`` are kept."""
    every = [*tries(folder), new][-KEPT:]
    (folder / FILE).write_text(json.dumps([asdict(each) for each in every]), encoding="utf-8")
    return every


def bar(each: Try) -> Text:
    """The ratio as a bar, green if it ends before the line of the shipped code, red if it ends behind it."""
    filled = min(BAR, max(1, round(each.ratio / FULL * BAR)))
    style = {-1: "green", 0: "yellow", 1: "red"}[each.compared]
    cells = "█" * filled + " " * (BAR - filled)
    middle = BAR // 2
    return Text.assemble((cells[:middle], style), ("│", "bold"), (cells[middle:], style))


def try_table(every: list[Try], language: str) -> Group:
    """The last tries, the newest at the bottom, with a mark at the best one of all."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("try", "when", "ms a round", "ratio", "instructions", "ratio"):
        table.add_column(word(name, language), justify="left" if name == "when" else "right", no_wrap=True)
    table.add_column(" " * (BAR // 2) + word("shipped line", language), no_wrap=True)
    best = min(every, key=lambda each: each.ratio)
    first = max(0, len(every) - SHOWN)
    for number, each in enumerate(every[first:], first + 1):
        when = time.strftime("%m-%d %H:%M", time.localtime(each.at_s))
        counted = "–" if each.instructions is None else f"{each.instructions / 1000:,.0f}"
        ratio = "–" if each.instructions_ratio is None else f"{each.instructions_ratio:.3f}"
        mark = "★ " if each is best else ""
        table.add_row(f"{mark}{number}", when, f"{each.ms:.3f}", f"{each.time_ratio:.2f}", counted, ratio, bar(each))
    return Group(table, Text(_verdict(every[-1], language)))


def _verdict(last: Try, language: str) -> str:
    what = word("of instructions" if last.instructions_ratio is not None else "of time", language)
    percent = f"{abs(last.ratio - 1) * 100:.1f}"
    return word({-1: "faster", 0: "as fast", 1: "slower"}[last.compared], language, what=what, percent=percent)
