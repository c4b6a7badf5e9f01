"""The drawing of a seed that breaks a promise: a lane for each thread, the statements in their order.

::

    1 fetches_of_2   2 fetches_of_3
    ● │   partition.py 333   if candidate is None or candidate.message_offset <= …
    ──┘
    │ ●   partition.py 335   leader.high_watermark = candidate
"""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from kafka_learn.labs.hunting.hunt_world import Step

SHOWN = 40
COLOURS = ("cyan", "magenta", "yellow", "green", "blue", "red")


def lanes(steps: Sequence[Step], shown: int = SHOWN) -> Text:
    """The last steps of a run."""
    last = list(steps)[-shown:]
    threads = list(dict.fromkeys(step.thread for step in last))
    text = Text()
    for number, thread in enumerate(threads):
        text.append(f"{number + 1} {thread}   ", style=_colour(number))
    before = ""
    for step in last:
        lane = threads.index(step.thread)
        text.append("\n")
        if before and before != step.thread:
            text.append(_switch(threads.index(before), lane, len(threads)) + "\n", style="dim")
        before = step.thread
        for number in range(len(threads)):
            text.append("● " if number == lane else "│ ", style=_colour(number) if number == lane else "dim")
        text.append(f"  {Path(step.file).name} {step.line}  ", style="dim")
        text.append(linecache.getline(step.file, step.line).strip(), style=_colour(lane))
    return text


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _switch(source: int, target: int, count: int) -> str:
    """A line from one lane to another: the processor goes to another thread."""
    first, last = sorted((source, target))
    cells = []
    for number in range(count):
        corner = ("╰" if number == source else "╭") if number == first else "╯" if number == source else "╮"
        inside = first < number < last
        cells.append(corner if number in (first, last) else "─" if inside else "│")
        cells.append("─" if first <= number < last else " ")
    return "".join(cells).rstrip()
