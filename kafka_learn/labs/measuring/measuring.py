"""Measures a learner's modules beside the shipped ones.

::

    yours    ▇▇▇         ▇▇▇▇        ▇▇▇         each a process of its own, which says how much processor time
    shipped       ▇▇▇▇         ▇▇▇        ▇▇▇    its rounds took: the best of each side counts

    valgrind   n rounds, 2 n rounds     the difference is n rounds, without the start of Python

Times vary with what else the machine does, even the best of several. The number of instructions does not; those of the
kernel are not among them. Every process must have the results of the shipped modules, round by round.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kafka_learn.labs import overlay
from kafka_learn.labs.grader import Runner, run_bounded
from kafka_learn.labs.lab import Lab
from kafka_learn.labs.measuring.workload import Workload
from kafka_learn.source import module_path

PROGRAM = "kafka_learn.labs.measuring.measured_run"
ALTERNATIONS = 5
LIMIT_S = 120.0
"""Of one process: the shipped modules need less than a second, under valgrind less than half a minute."""
COUNTED_PART = 10
"""Under valgrind a process does one or two tenths of the rounds."""
SHOWN_CHARACTERS = 160
_VALGRIND = (
    *("env", "PYTHONHASHSEED=0"),  # else sets and dicts of strings differ from run to run
    *("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"),
)
_COUNT = re.compile(r"I\s+refs:\s+([\d,]+)")


class RefusedError(Exception):
    """The answer cannot be measured: ``name`` and ``values`` are words of ``way_words``."""

    def __init__(self, name: str, **values: object) -> None:
        super().__init__(name, values)
        self.name = name
        self.values = values


@dataclass(frozen=True)
class Figures:
    """The cost of one round: ms of processor time and, if they were counted, instructions."""

    ms: float
    instructions: float | None = None


@dataclass(frozen=True)
class Comparison:
    """A learner's figures and those of the shipped modules."""

    yours: Figures
    shipped: Figures

    @property
    def time_ratio(self) -> float:
        """How much of the shipped modules' time the learner's take: below 1 they are faster."""
        return self.yours.ms / self.shipped.ms

    @property
    def instructions_ratio(self) -> float | None:
        """The same of the instructions; None if they were not counted."""
        if self.yours.instructions is None or not self.shipped.instructions:
            return None
        return self.yours.instructions / self.shipped.instructions


def can_count() -> bool:
    """Whether valgrind is there."""
    return shutil.which("valgrind") is not None


@dataclass(frozen=True)
class _Side:
    """The processes over one set of modules."""

    workload: Workload
    files: Mapping[str, Path]
    scratch: Path
    run: Runner

    def timed(self) -> dict[str, Any]:
        """The report of one process that does all rounds. Raises RefusedError."""
        with tempfile.TemporaryDirectory(dir=self.scratch) as folder:
            report = Path(folder) / "report.json"
            self._process((), self.workload.rounds, Path(folder), report)
            found: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
        if found["raised"]:
            raise RefusedError("measured raised", number=len(found["results"]), error=found["raised"])
        return found

    def instructions(self) -> float:
        """Instructions per round. Raises RefusedError."""
        rounds = max(2, self.workload.rounds // COUNTED_PART)
        fewer, more = (self._counted(count) for count in (rounds, 2 * rounds))
        return (more - fewer) / rounds

    def _counted(self, rounds: int) -> int:
        with tempfile.TemporaryDirectory(dir=self.scratch) as folder:
            output = self._process(_VALGRIND, rounds, Path(folder))
        count = _COUNT.search(output)
        if count is None:
            raise RefusedError("measured ended", output=output[-SHOWN_CHARACTERS:].strip())
        return int(count[1].replace(",", ""))

    def _process(self, prefix: tuple[str, ...], rounds: int, folder: Path, *report: Path) -> str:
        arguments = [str(self.workload.file), str(rounds), str(folder), *map(str, report)]
        code, output = self.run([*prefix, *overlay.command(dict(self.files), PROGRAM, *arguments)], LIMIT_S)
        if code is None:
            raise RefusedError("measured too long", seconds=LIMIT_S)
        if code and not any(path.exists() for path in report):
            raise RefusedError("measured ended", output=output.strip()[-SHOWN_CHARACTERS:])
        return output


def measure(
    lab: Lab,
    workload: Workload,
    files: Mapping[str, Path],
    *,
    count: bool,
    alternations: int = ALTERNATIONS,
    run: Runner = run_bounded,
    step: Callable[[int], None] = lambda _number: None,
) -> Comparison:
    """Measure; ``count``: the instructions, too; ``step`` is told the number of each alternation, 0 for the counting.

    Raises RefusedError if the learner's modules raise, end, take too long or return something else.
    """
    with tempfile.TemporaryDirectory(prefix="kafka-lite-lab-") as scratch:
        shipped_files = {module: module_path(module) for module in lab.modules}
        yours = _Side(workload, files, Path(scratch), run)
        shipped = _Side(workload, shipped_files, Path(scratch), run)
        times_of_yours, times_of_shipped = list[float](), list[float]()
        for number in range(1, alternations + 1):
            step(number)
            expected, found = shipped.timed(), yours.timed()
            must_be_equal(found["results"], expected["results"])
            times_of_shipped.append(expected["seconds"])
            times_of_yours.append(found["seconds"])
        counts: tuple[float | None, float | None] = (None, None)
        if count:
            step(0)
            counts = (yours.instructions(), shipped.instructions())
    best = (min(times) * 1000 / workload.rounds for times in (times_of_yours, times_of_shipped))
    return Comparison(*(Figures(ms, instructions) for ms, instructions in zip(best, counts, strict=True)))


def must_be_equal(found: list[str], expected: list[str]) -> None:
    """Raises RefusedError that names the first round whose result is not that of the shipped modules."""
    for number, (mine, theirs) in enumerate(zip(found, expected, strict=True)):
        if mine != theirs:
            yours, shipped = _around_the_difference(mine, theirs)
            raise RefusedError("measured wrong", number=number, yours=yours, shipped=shipped)


def _around_the_difference(mine: str, theirs: str) -> tuple[str, str]:
    """Both results, from a little before the first character that differs."""
    same = next((at for at, (one, other) in enumerate(zip(mine, theirs, strict=False)) if one != other), len(mine))
    start = max(0, same - SHOWN_CHARACTERS // 2) if max(len(mine), len(theirs)) > SHOWN_CHARACTERS else 0
    return _cut(mine, start), _cut(theirs, start)


def _cut(text: str, start: int) -> str:
    end = start + SHOWN_CHARACTERS
    return ("…" if start else "") + text[start:end] + ("…" if len(text) > end else "")
