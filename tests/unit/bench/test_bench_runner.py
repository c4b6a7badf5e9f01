"""The benchmark continues after a failure, and reports it."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path

from rich.console import Console

from bench.brokers import Candidate
from bench.measure import SECONDS, Sample, Study, value_at_most
from bench.report import Results
from bench.runner import Plan, Runner


def no_broker(*_: object) -> None:
    raise AssertionError("nobody asked for a broker")


CANDIDATES = [Candidate("kafka_lite", no_broker), Candidate("Kafka 3.9.1", no_broker)]  # type: ignore[arg-type]


def run(plan: Plan) -> tuple[Results, str]:
    results = Results({}, {"rounds": plan.rounds})
    console = Console(file=io.StringIO(), width=160)
    Runner(CANDIDATES, "Kafka 3.9.1", results, console).run(plan)
    assert isinstance(console.file, io.StringIO)
    return results, console.file.getvalue()


def test_a_failed_workload_is_reported_and_the_others_run() -> None:
    told: list[str] = []

    def study(candidate: Candidate, folder: Path, tell: Callable[[str], None]) -> Mapping[str, Sample]:
        tell("starting")
        told.append(f"{candidate.name} {folder.is_dir()}")
        if candidate.name == "kafka_lite" and len(told) == 1:
            raise RuntimeError("the disk is full\nand much more")
        return {"start": {SECONDS: float(len(told))}}

    results, shown = run(Plan([], [Study("Start", {"start": {SECONDS: value_at_most(5)}}, study, rounds=2)], 0, 2))
    assert told == ["kafka_lite True", "Kafka 3.9.1 True"] * 2
    (section,) = results.document()["sections"]
    assert section["figures"][0]["samples"] == {"Kafka 3.9.1": [2.0, 4.0], "kafka_lite": [3.0]}
    assert section["skipped"] == [
        {"workload": "Start", "column": "kafka_lite", "reason": "failed: RuntimeError: the disk is full"}
    ]
    assert results.failures == 1
    assert "the disk is full" in shown
    assert "met" in shown


def test_the_timer_section_needs_no_broker() -> None:
    results, shown = run(Plan([], [], 1000, 3))
    (section,) = results.document()["sections"]
    assert section["columns"] == ["SystemTimer", "heapq"]
    assert not results.failures
    assert "ratio to heapq" in shown
