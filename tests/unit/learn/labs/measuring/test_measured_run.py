"""The process that does the rounds: its report, and how an error ends it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_learn.labs.measuring.measured_run import load, main, run_rounds

TASK = """
def prepare(folder):
    (folder / "log").write_text("x")
    def one_round(number):
        if number == 3:
            raise ValueError("no third round")
        return number * 10, (folder / "log").stat().st_size
    return one_round
"""


@pytest.fixture
def task(tmp_path: Path) -> Path:
    path = tmp_path / "measured.py"
    path.write_text(TASK)
    return path


def test_the_report_has_the_result_of_each_round(task: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    assert main([str(task), "3", str(tmp_path), str(report)]) == 0
    found = json.loads(report.read_text())
    assert found["results"] == ["(0, 1)", "(10, 1)", "(20, 1)"]
    assert found["raised"] == ""
    assert found["seconds"] >= 0


def test_an_error_ends_the_rounds_and_is_named_with_its_place(task: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    assert main([str(task), "9", str(tmp_path), str(report)]) == 1
    found = json.loads(report.read_text())
    assert len(found["results"]) == 3
    assert found["raised"] == "ValueError: no third round (measured.py, line 6)"


def test_without_a_report_nothing_is_written(task: Path, tmp_path: Path) -> None:
    assert main([str(task), "2", str(tmp_path)]) == 0
    assert {path.name for path in tmp_path.iterdir()} - {"__pycache__"} == {"measured.py", "log"}


def test_processor_time_is_measured_not_the_time_that_passes(task: Path, tmp_path: Path) -> None:
    assert load(task)(tmp_path)(1) == (10, 1)
    spun = run_rounds(lambda _number: sum(range(200_000)), 5)["seconds"]
    slept = run_rounds(lambda _number: __import__("time").sleep(0.02), 5)["seconds"]
    assert slept < 0.05
    assert spun > 0
