"""The results of a run: collected, shown in the terminal, and written as JSON and Markdown."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil
from confluent_kafka import libversion
from rich.table import Table

from bench.brokers import cpu_count
from bench.measure import Goal, Sample
from kafka_learn.site.bench_results import as_markdown, section_table

BUSY_LOAD, BUSY_PROCESSORS = 0.5, 0.3
"""Load average per processor, and busy processors, above which the figures are not reliable."""

WIDE_COLUMNS = 150


@dataclass
class SectionResults:
    """The results of one section of the report so far; ``columns`` are the brokers, the judged one first."""

    name: str
    columns: Sequence[str]
    reference: str
    goals: Mapping[str, Mapping[str, Goal]]
    samples: dict[str, dict[str, list[Sample]]] = field(default_factory=dict)
    """Workload -> column -> one sample per round."""
    skipped: dict[tuple[str, str], str] = field(default_factory=dict)
    """(workload, column) -> reason."""
    failures: int = 0

    def add(self, workload: str, column: str, sample: Sample) -> None:
        """Add the sample of one round."""
        self.samples.setdefault(workload, {}).setdefault(column, []).append(sample)

    def skip(self, workload: str, column: str, reason: str) -> None:
        """Record why there is no sample."""
        self.skipped[workload, column] = reason

    def fail(self, workload: str, column: str, error: Exception) -> None:
        """Record the first line of an error, which may be followed by a log."""
        first_line = str(error).partition("\n")[0]
        self.skipped[workload, column] = f"failed: {type(error).__name__}: {first_line}"
        self.failures += 1

    def document(self) -> dict[str, Any]:
        """The content of the JSON file."""
        return {
            "name": self.name,
            "columns": list(self.columns),
            "reference": self.reference,
            "figures": [
                self._figure(workload, figure)
                for workload, by_column in self.samples.items()
                for figure in dict.fromkeys(name for rounds in by_column.values() for each in rounds for name in each)
            ],
            "skipped": [
                {"workload": workload, "column": column, "reason": reason}
                for (workload, column), reason in self.skipped.items()
            ],
        }

    def _figure(self, workload: str, figure: str) -> dict[str, Any]:
        goal = self.goals.get(workload, {}).get(figure)
        samples = {
            column: [sample[figure] for sample in rounds if figure in sample]
            for column, rounds in self.samples[workload].items()
        }
        return {"workload": workload, "figure": figure, "goal": asdict(goal) if goal else None, "samples": samples}


@dataclass
class Results:
    """One run of the bench."""

    environment: Mapping[str, Any]
    options: Mapping[str, Any]
    notes: list[str] = field(default_factory=list)
    sections: list[SectionResults] = field(default_factory=list)

    @property
    def failures(self) -> int:
        """Number of failed workload runs."""
        return sum(section.failures for section in self.sections)

    def document(self) -> dict[str, Any]:
        """The content of the JSON file."""
        return {
            "measured": datetime.now(UTC).isoformat(timespec="seconds"),
            "environment": dict(self.environment),
            "options": dict(self.options),
            "notes": self.notes,
            "sections": [section.document() for section in self.sections],
        }


def environment() -> dict[str, Any]:
    """The machine and software versions, and the load before the run."""
    facts = {
        "processors": cpu_count(),
        "CPU": cpu_model(),
        "memory GB": round(psutil.virtual_memory().total / 1e9),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "Python": f"{platform.python_version()} of {platform.python_compiler()}",
        "Java": java_version(),
        "confluent-kafka": version("confluent-kafka"),
        "librdkafka": libversion()[0],
        "aiokafka": version("aiokafka"),
        "kafka-python": version("kafka-python"),
        "load average before": round(os.getloadavg()[0], 2),
    }
    return {name: value for name, value in facts.items() if value}


def busy_note() -> str:
    """A warning if the machine is busy with other work; empty otherwise."""
    load, busy = os.getloadavg()[0], psutil.cpu_percent(interval=2.0) / 100 * (psutil.cpu_count() or 1)
    if load < BUSY_LOAD * cpu_count() and busy < BUSY_PROCESSORS:
        return ""
    return (
        f"The machine was busy before the start: load average {load:.1f}, {busy:.1f} processors in use. "
        "Throughputs and latencies are not to be trusted; ratios and processor times are better."
    )


def cpu_model() -> str:
    """The CPU model from /proc, or else from Python."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def java_version() -> str:
    """The version of the brokers' Java; empty if there is none."""
    try:
        said = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False).stderr
    except OSError:
        return ""
    return said.partition('"')[2].partition('"')[0]


def rich_table(section: SectionResults, width: int) -> Table:
    """One section as a table for the terminal; includes the range of the rounds if there is room."""
    table = section_table(section.document(), ranges=width >= WIDE_COLUMNS)
    shown = Table(title=table.title, title_justify="left", caption="\n".join(table.remarks), caption_justify="left")
    for number, name in enumerate(table.head):
        shown.add_column(name, justify="left" if number < 2 else "right")
    colours = {"met": "green", "compiled": "yellow", "plain": "yellow", "not met": "red"}
    before = ""
    for workload, *cells, last in table.rows:
        shown.add_row(
            "" if workload == before else workload, *cells, f"[{colours[last]}]{last}[/]" if last in colours else last
        )
        before = workload
    return shown


def write(results: Results, directory: Path, name: str) -> tuple[Path, Path]:
    """Write ``name``.json and ``name``.md to ``directory``."""
    directory.mkdir(parents=True, exist_ok=True)
    as_json, markdown = directory / f"{name}.json", directory / f"{name}.md"
    document = results.document()
    as_json.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    markdown.write_text(f"# kafka_lite beside Kafka\n\n{as_markdown(document)}\n", encoding="utf-8")
    return as_json, markdown
