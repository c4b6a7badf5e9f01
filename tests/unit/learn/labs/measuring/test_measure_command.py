"""The verb ``labs measure``: what it refuses, and what it shows."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafka_learn.labs.command import add_arguments, run
from kafka_learn.labs.grader import CheckResult, TestOutcome
from kafka_learn.labs.lab import find_lab
from kafka_learn.labs.measuring import measure_command
from kafka_learn.labs.measuring.measuring import Comparison, Figures, RefusedError
from kafka_learn.labs.measuring.tries import tries
from kafka_learn.labs.workspace import LabWorkspace

NAME = "ch06-offset-index"
FASTER = Comparison(Figures(1.0, 800.0), Figures(2.0, 1000.0))
Labs = Callable[..., tuple[int, str]]


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("KAFKA_LITE_LABS_WORK", str(tmp_path / "work"))
    monkeypatch.setenv("COLUMNS", "120")


@pytest.fixture
def labs(capsys: pytest.CaptureFixture[str]) -> Labs:
    """``labs("measure", …)``: the result of the command, and its output."""

    def call(*arguments: str) -> tuple[int, str]:
        parser = argparse.ArgumentParser(prog="labs")
        add_arguments(parser)
        result = run(parser.parse_args(arguments))
        captured = capsys.readouterr()
        return result, captured.out + captured.err

    return call


def checked(monkeypatch: pytest.MonkeyPatch, *, passed: bool) -> None:
    outcome = TestOutcome("t", "Two entries", 1, 100, False, passed, False, False, "" if passed else "wrong")

    def check(*_: object, broker: bool) -> CheckResult:
        assert not broker, "the broker takes long, and proves nothing more about the functions"
        return CheckResult((outcome,))

    monkeypatch.setattr(measure_command, "check", check)


def measured(monkeypatch: pytest.MonkeyPatch, found: Comparison | RefusedError) -> list[dict[str, Any]]:
    """What is measured; returns the options of each measurement."""
    asked = list[dict[str, Any]]()

    def measure(*_: object, step: Callable[[int], None], **options: Any) -> Comparison:
        asked.append(options)
        step(1)
        step(0)
        if isinstance(found, RefusedError):
            raise found
        return found

    monkeypatch.setattr(measure_command, "measure", measure)
    return asked


def test_a_faster_answer_is_shown_and_kept(labs: Labs, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = LabWorkspace(find_lab(NAME))
    workspace.start()
    checked(monkeypatch, passed=True)
    asked = measured(monkeypatch, FASTER)
    monkeypatch.setattr(measure_command, "can_count", lambda: True)
    code, text = labs("measure", NAME, "--alternations", "3")
    assert code == 0
    assert "look up 400 offsets in an index of 20,000 entries" in text
    assert "Faster than the reference: 20.0 % less instructions." in text
    assert asked == [{"count": True, "alternations": 3}]
    assert [each.ratio for each in tries(workspace.folder)] == [0.8]
    code, text = labs("measure", NAME, "--table", "--zh")
    assert code == 0
    assert "查找 400 个偏移量" in text
    assert "比项目代码快：指令少 20.0%。" in text
    assert len(asked) == 1


def test_without_valgrind_times_are_measured_and_it_says_so(labs: Labs, monkeypatch: pytest.MonkeyPatch) -> None:
    LabWorkspace(find_lab(NAME)).start()
    checked(monkeypatch, passed=True)
    asked = measured(monkeypatch, Comparison(Figures(3.0), Figures(2.0)))
    monkeypatch.setattr(measure_command, "can_count", lambda: False)
    _, text = labs("measure", NAME)
    assert not asked[0]["count"]
    assert "50.0 % more processor time than the reference." in text
    assert "apt install valgrind" in text
    _, text = labs("measure", NAME, "--no-instructions")
    assert "valgrind" not in text


def test_an_answer_that_is_not_green_is_not_measured(labs: Labs, monkeypatch: pytest.MonkeyPatch) -> None:
    LabWorkspace(find_lab(NAME)).start()
    checked(monkeypatch, passed=False)
    asked = measured(monkeypatch, FASTER)
    code, text = labs("measure", NAME)
    assert code == 1
    assert "Only an answer whose tasks are green is measured. Task 1, Read an entry" in text
    assert f"labs check {NAME}" in text
    assert asked == []
    assert "还没有通过" in labs("measure", NAME, "--zh")[1]


def test_a_wrong_result_is_said(labs: Labs, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = LabWorkspace(find_lab(NAME))
    workspace.start()
    checked(monkeypatch, passed=True)
    measured(monkeypatch, RefusedError("measured wrong", number=7, yours="[1]", shipped="[2]"))
    code, text = labs("measure", NAME)
    assert code == 1
    assert "round 7 has a wrong result." in text
    assert "yours:     [1]" in text
    assert "should be: [2]" in text
    assert tries(workspace.folder) == []


def test_a_lab_without_a_measured_task_names_those_that_have_one(labs: Labs) -> None:
    code, text = labs("measure", "ch07-reassignment")
    assert code == 2
    assert NAME in text.replace("\n", " ")
    assert "No try yet." in labs("measure", NAME, "--table")[1]
    assert labs("measure", NAME)[0] == 2, "begin with labs start"
