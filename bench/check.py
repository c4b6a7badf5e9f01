"""``make bench-check``: whether a change has made anything slower, in ten minutes.

``bounds.toml`` has some thirty figures, each with the least or the largest ratio to Kafka 3.9.1 in the same run that
is still as it was. A processor time varies less than a rate, so its bound is narrower. What is beyond its bound is
measured again, alone: a busy moment of the machine is not a slower broker.
"""

from __future__ import annotations

import signal
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.__main__ import candidates_of, duration, parse_options, plan_of
from bench.report import Results, busy_note
from bench.runner import Runner
from kafka_learn.site.bench_results import PLAIN, ratio
from kafka_lite.common.process.open_files import raise_open_files_limit

BOUNDS = Path(__file__).parent / "bounds.toml"
OPTIONS = ("--kafka", "3.9.1", "--rounds", "3", "--scale", "0.4")


@dataclass(frozen=True)
class Bound:
    """The least or the largest ratio of a figure to Kafka's."""

    section: str
    workload: str
    figure: str
    at_least: bool
    ratio: float

    @property
    def name(self) -> str:
        """As ``--only`` takes it."""
        return f"{self.section}: {self.workload}"

    @property
    def words(self) -> str:
        """Such as ``≥ 0.9``."""
        return f"{'≥' if self.at_least else '≤'} {self.ratio:g}"

    def holds(self, found: float | None) -> bool:
        """Whether a ratio is within the bound; what was not measured is not."""
        if found is None:
            return False
        return found >= self.ratio if self.at_least else found <= self.ratio


def bounds_of(text: str) -> list[Bound]:
    """The bounds of a TOML file."""
    return [
        Bound(
            row["section"], row["workload"], row["figure"], "at_least" in row, row.get("at_least", row.get("at_most"))
        )
        for row in tomllib.loads(text)["bound"]
    ]


def main(arguments: Sequence[str] = ()) -> int:
    """Measure, and again what is beyond its bound; returns 1 if it still is. ``arguments`` are those of the bench."""
    console = Console(width=max(Console().width, 110))
    if note := busy_note():
        console.print(f"[yellow]{note}[/]")
    raise_open_files_limit()
    bounds = bounds_of(BOUNDS.read_text(encoding="utf-8"))
    found = measured(bounds, console, arguments)
    beyond = [bound for bound in bounds if not bound.holds(found[bound])]
    if beyond:
        console.print(f"{len(beyond)} of {len(bounds)} figures are beyond their bounds: once more")
        found |= measured(beyond, console, arguments)
    console.print(table_of(found))
    return 0 if all(bound.holds(ratio_found) for bound, ratio_found in found.items()) else 1


def measured(bounds: Sequence[Bound], console: Console, arguments: Sequence[str]) -> dict[Bound, float | None]:
    """The ratios of one run."""
    names = dict.fromkeys(bound.name for bound in bounds)
    options = parse_options([*OPTIONS, *(part for name in names for part in ("--only", name)), *arguments])
    results = Results({}, {"rounds": options.rounds})
    candidates = [each for each in candidates_of(options, results, console) if each.name != "kafka_lite, compiled"]
    plan = plan_of(options, candidates)
    console.print(duration(plan.steps(len(candidates)), options.scale))
    Runner(candidates, f"Kafka {options.kafka[0]}", results, console).run(plan)
    return ratios_of(bounds, results.document())


def ratios_of(bounds: Iterable[Bound], document: Mapping[str, Any]) -> dict[Bound, float | None]:
    """The ratio that a document of results has for each bound; None if it was not measured."""
    figures = {
        (section["name"], figure["workload"], figure["figure"]): ratio(
            figure, PLAIN if PLAIN in section["columns"] else section["columns"][0], section["reference"]
        )
        for section in document["sections"]
        for figure in section["figures"]
    }
    return {bound: figures.get((bound.section, bound.workload, bound.figure)) for bound in bounds}


def table_of(found: Mapping[Bound, float | None]) -> Table:
    """One row for each bound."""
    table = Table("section", "workload", "figure", "ratio", "bound", "")
    for bound, ratio_found in found.items():
        shown = "–" if ratio_found is None else f"{ratio_found:.2f}"
        mark = "[green]✓[/]" if bound.holds(ratio_found) else "[red]slipped[/]"
        table.add_row(bound.section, bound.workload, bound.figure, shown, bound.words, mark)
    return table


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # unwinds, which stops the brokers
    raise SystemExit(main(sys.argv[1:]))
