"""The console of a live cluster: starts the reader's cells inside the world, and takes what they print.

Not in Kafka. The cells run in a process of the world (``console_program``), so that the time of the world passes while
one of them blocks. Processes of a world share Python's stdout and stderr with everything else: a stream that looks
which process runs gives the console what is its own.

Cells are not part of a link: a reader who opened it would run somebody else's code.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final, TextIO

from kafka_lite.testing.simulation.machine import Process
from kafka_lite.testing.simulation.world import World

PROGRAM: Final = "kafka_learn.live.console_program"
NAME: Final = "console"
RUNNING, DONE, FAILED = "running", "done", "failed"
MOST_OUTPUT: Final = 50_000
"""Characters of a cell's output that are kept."""
CUT: Final = "\n… (more output is left out)\n"


@dataclass
class CellState:
    """A cell, and what has become of it."""

    number: int
    source: str
    state: str = RUNNING
    output: str = ""

    def add(self, text: str) -> None:
        """It has printed something."""
        if len(self.output) <= MOST_OUTPUT:
            room = MOST_OUTPUT - len(self.output)
            self.output += text if len(text) <= room else text[:room] + CUT


class Console:
    """The cells of a reader. ``start`` starts the console's program with these arguments, from inside the world."""

    def __init__(self, world: World, start: Callable[..., Process]) -> None:
        self._world = world
        self._start = start
        self._process: Process | None = None
        self._cells: dict[int, CellState] = {}
        self._changed: set[int] = set()
        self._count = 0
        sys.stdout, sys.stderr = (RoutedStream(stream, self._take) for stream in (sys.stdout, sys.stderr))

    def run(self, source: str) -> None:
        """Run a cell, after those that have not ended yet."""
        self._count += 1
        cell = self._cells[self._count] = CellState(self._count, source)
        self._changed.add(cell.number)
        self._world.in_background(NAME, lambda: self._give(cell))

    def _give(self, cell: CellState) -> None:
        if self._process is None or not self._process.is_running:
            self._process = self._start("console", self, name=NAME)
        programs = self._process.module(PROGRAM)
        programs.cells.put(programs.Cell(cell.number, cell.source))

    def interrupt(self) -> None:
        """Kill the console's process, and with it the cells that have not ended and all names. No-op if it is idle."""
        running = [cell for cell in self._cells.values() if cell.state == RUNNING]
        if self._process is not None and running:
            self._process.kill()
        for cell in running:
            self.ended(cell.number, "interrupted")

    def ended(self, number: int, failure: str) -> None:
        """A cell has ended, with a traceback if it failed. Called by the console's program."""
        cell = self._cells[number]
        cell.state = FAILED if failure else DONE
        cell.output += failure
        self._changed.add(number)

    def _take(self, text: str) -> bool:
        """Take a text if the console's process prints it."""
        task = self._world.scheduler.current
        if task is None or self._process is None or task.owner is not self._process.owner:
            return False
        running = [cell for cell in self._cells.values() if cell.state == RUNNING]
        if running:
            running[0].add(text)
            self._changed.add(running[0].number)
        return True

    def news(self) -> list[dict[str, Any]]:
        """Cells that are new or have changed since the last call."""
        changed, self._changed = sorted(self._changed), set()
        return [asdict(self._cells[number]) for number in changed]


class RoutedStream(io.TextIOBase):
    """A stream of which ``take`` gets each text first; what it does not take goes to the former stream."""

    def __init__(self, former: TextIO, take: Callable[[str], bool]) -> None:
        self._former = former
        self._take = take

    def write(self, text: str) -> int:
        """Write a text."""
        if not self._take(text):
            self._former.write(text)
        return len(text)

    def writable(self) -> bool:
        """Whether it can be written to."""
        return True

    def flush(self) -> None:
        """Flush the former stream."""
        self._former.flush()
