"""The results: a table in the terminal, JSON to compute with, Markdown to read."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.brokers import cpu_count
from bench.workloads import Sample


@dataclass(frozen=True)
class Footprint:
    """What a broker costs before it does anything, and at its most."""

    start_up_s: float
    resident_idle_mb: float
    resident_peak_mb: float


@dataclass(frozen=True)
class Results:
    """One run of the whole bench. The first broker is the one that the ratios are of, the second what they are to."""

    brokers: Sequence[str]
    samples: Mapping[str, Mapping[str, Sequence[Sample]]]
    """By workload, then broker: one per round."""
    footprints: Mapping[str, Footprint]
    rounds: int
    scale: float
    note: str

    def rows(self, field: str) -> list[list[str]]:
        """A line per workload: the median of a field over the rounds for each broker, and their ratio."""
        return [[workload, *self._cells(by_broker, field)] for workload, by_broker in self.samples.items()]

    def latency_rows(self) -> list[list[str]]:
        """A line per workload that has latencies: p50 and p99 of each broker, ms."""
        rows = []
        for workload, by_broker in self.samples.items():
            medians = [(median(by_broker[name], "p50_ms"), median(by_broker[name], "p99_ms")) for name in self.brokers]
            if all(p50 is not None for p50, _ in medians):
                rows.append([workload, *(f"{p50:.2f} / {p99:.2f}" for p50, p99 in medians)])
        return rows

    def footprint_rows(self) -> list[list[str]]:
        """Start and memory, a line each."""
        prints = [self.footprints[name] for name in self.brokers]
        return [
            ["start to first answer, s", *(f"{each.start_up_s:.2f}" for each in prints)],
            ["resident memory idle, MB", *(f"{each.resident_idle_mb:.0f}" for each in prints)],
            ["resident memory at most, MB", *(f"{each.resident_peak_mb:.0f}" for each in prints)],
        ]

    def _cells(self, by_broker: Mapping[str, Sequence[Sample]], field: str) -> list[str]:
        medians = [median(by_broker[name], field) or 0.0 for name in self.brokers]
        cells = [f"{value:,.0f}" if field == "messages_per_s" else f"{value:.2f}" for value in medians]
        if len(medians) == 2:
            cells.append(f"{medians[0] / medians[1]:.2f}" if medians[1] else "-")
        return cells


def median(samples: Sequence[Sample], field: str) -> float | None:
    """Of one field over the rounds; None where the workload does not have it."""
    values = [getattr(sample, field) for sample in samples]
    return None if None in values else statistics.median(values)


def machine() -> str:
    """Where the numbers come from."""
    where = f"{cpu_count()} processors, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    return f"{where}, load average at the end {os.getloadavg()[0]:.1f}"  # above 3 or so others were at work, too


def show(results: Results) -> None:
    """The tables, in the terminal."""
    console = Console()
    for header, rows in _tables(results):
        table = Table()
        table.add_column(header[0], no_wrap=True)
        for name in header[1:]:
            table.add_column(name, justify="right")
        for row in rows:
            table.add_row(*row)
        console.print(table)
    console.print(_explanation(results))


def write(results: Results, directory: Path, name: str) -> tuple[Path, Path]:
    """``name``.json and ``name``.md in ``directory``."""
    directory.mkdir(parents=True, exist_ok=True)
    as_json, as_markdown = directory / f"{name}.json", directory / f"{name}.md"
    when = datetime.now(UTC).isoformat(timespec="seconds")
    document = {"measured": when, "machine": machine(), **asdict(results)}
    as_json.write_text(json.dumps(document, indent=1) + "\n")
    lines = ["# kafka_lite beside Kafka", "", f"Measured {when[:10]}: {machine()}. {_explanation(results)}", ""]
    for header, rows in _tables(results):
        lines += [_line(header), _line(["---"] + ["--:"] * (len(header) - 1)), *map(_line, rows), ""]
    as_markdown.write_text("\n".join(lines))
    return as_json, as_markdown


def _tables(results: Results) -> list[tuple[list[str], list[list[str]]]]:
    columns = [*results.brokers, "ratio"] if len(results.brokers) == 2 else [*results.brokers]
    tables = [
        (["messages/s", *columns], results.rows("messages_per_s")),
        (["broker CPU, s per million", *columns], results.rows("broker_cpu_s_per_million")),
    ]
    if results.latency_rows():
        tables.append((["p50 / p99, ms", *results.brokers], results.latency_rows()))
    tables.append((["footprint", *results.brokers], results.footprint_rows()))
    return tables


def _explanation(results: Results) -> str:
    text = (
        f"confluent-kafka {version('confluent-kafka')} on the same machine, loopback, one partition; medians of "
        f"{results.rounds} rounds that alternate between the brokers. Broker CPU: the processor seconds that the "
        "broker spends on a million messages (less is better)."
    )
    return f"{text} {results.note}".strip()


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
