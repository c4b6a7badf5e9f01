"""The bounds of `make bench-check`, and what is said of a figure that is beyond its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from rich.console import Console

from bench import check
from bench.__main__ import parse_options, plan_of
from bench.brokers import kafka_lite
from bench.check import BOUNDS, Bound, bounds_of, main, ratios_of, table_of

SHIPPED = bounds_of(BOUNDS.read_text(encoding="utf-8"))
RATE = Bound("Requests", "ApiVersions", "requests/s", at_least=True, ratio=0.9)
CPU = Bound("Requests", "ApiVersions", "broker CPU, µs each", at_least=False, ratio=0.5)


def document(rate: float, cpu: float) -> dict[str, Any]:
    figures = [
        {"workload": "ApiVersions", "figure": name, "goal": None, "samples": {"kafka_lite": [ours], "Kafka": [10.0]}}
        for name, ours in (("requests/s", rate), ("broker CPU, µs each", cpu))
    ]
    return {"sections": [{"name": "Requests", "columns": ["kafka_lite", "Kafka"], "reference": "Kafka",
                          "figures": figures, "skipped": []}]}  # fmt: skip


def test_some_thirty_figures_have_bounds_and_each_once() -> None:
    assert 30 <= len(SHIPPED) <= 40
    assert len({(each.name, each.figure) for each in SHIPPED}) == len(SHIPPED)


def test_every_bound_names_a_workload() -> None:
    plan = plan_of(parse_options([]), [kafka_lite({})])
    known = {f"{part.name}: {each.name}" for part in (*plan.sections, *plan.contests) for each in part.workloads}
    known |= {f"{study.name}: {workload}" for study in plan.studies for workload in study.workloads}
    assert {each.name for each in SHIPPED} <= known


@pytest.mark.parametrize(
    ("bound", "found", "holds"),
    [(RATE, 0.9, True), (RATE, 0.89, False), (CPU, 0.5, True), (CPU, 0.51, False), (RATE, None, False)],
)
def test_a_bound_holds_up_to_its_ratio(bound: Bound, found: float | None, holds: bool) -> None:
    assert bound.holds(found) is holds


def test_ratios_are_those_of_the_document() -> None:
    missing = Bound("Requests", "Fetch", "requests/s", at_least=True, ratio=1)
    assert ratios_of([RATE, CPU, missing], document(12, 4)) == {RATE: 1.2, CPU: 0.4, missing: None}


def test_a_row_says_what_has_slipped() -> None:
    console = Console(width=120, record=True)
    console.print(table_of({RATE: 1.2, CPU: None}))
    text = console.export_text()
    assert "1.20" in text
    assert "≥ 0.9" in text
    assert "slipped" in text


@pytest.mark.parametrize(
    ("runs", "code", "asked"),
    [
        ([(12, 4)], 0, [2]),
        ([(8, 4), (12, 4)], 0, [2, 1]),  # a busy moment
        ([(8, 9), (12, 9)], 1, [2, 2]),
    ],
)
def test_what_is_beyond_its_bound_is_measured_once_more(
    monkeypatch: pytest.MonkeyPatch, runs: list[tuple[float, float]], code: int, asked: list[int]
) -> None:
    measured: list[int] = []

    def measure(bounds: Sequence[Bound], _console: Console, _arguments: Sequence[str]) -> dict[Bound, float | None]:
        measured.append(len(bounds))
        return ratios_of(bounds, document(*runs[len(measured) - 1]))

    monkeypatch.setattr(check, "measured", measure)
    monkeypatch.setattr(check, "busy_note", lambda: "")
    monkeypatch.setattr(check, "bounds_of", lambda _text: [RATE, CPU])
    assert main() == code
    assert measured == asked
