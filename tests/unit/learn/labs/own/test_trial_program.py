"""Trials in a process of their own: what becomes of what they print."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kafka_learn.labs.broker import LabBroker
from kafka_learn.labs.own import connect_trials, streams_trials, trial_program
from kafka_learn.labs.own.trial_program import OF_CONNECT, OF_STREAMS, main_of, trial_of

BROKER = cast(LabBroker, SimpleNamespace(folder=Path("/f"), files={"m": Path("/m.py")}, bootstrap_servers="h:1"))


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> Callable[[int | None, str], list[list[str]]]:
    """``ends(code, output)``: how the next processes end. Returns their commands."""

    def chosen(code: int | None, output: str) -> list[list[str]]:
        commands: list[list[str]] = []

        def run_bounded(command: list[str], _limit_s: float) -> tuple[int | None, str]:
            commands.append(command)
            return code, output

        monkeypatch.setattr(trial_program, "run_bounded", run_bounded)
        return commands

    return chosen


def test_what_was_found_stands_among_other_lines(ends: Any) -> None:
    commands = ends(0, "a warning\nfound: 7 words\nanother\n")
    assert trial_of("package.program", "count")(BROKER) == "7 words"
    assert commands[0][3:] == ["m=/m.py", "-m", "package.program", "count", "h:1", "/f/count"]


@pytest.mark.parametrize(
    ("code", "output", "says"),
    [
        (None, "", "not done after 240 s"),
        (1, "\n".join(map(str, range(20))), "8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19"),
        (-9, "", "ended with code -9 and printed nothing"),
        (0, "nothing", "said nothing of what it has found\nnothing"),
    ],
)
def test_a_process_that_fails_says_why(ends: Any, code: int | None, output: str, says: str) -> None:
    ends(code, output)
    with pytest.raises(AssertionError) as raised:
        trial_of("package.program", "count")(BROKER)
    assert str(raised.value) == says


def test_the_program_runs_what_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(_servers: str, _folder: Path) -> str:
        raise AssertionError("one is missing")

    trials = {"good": lambda servers, folder: f"{servers} {folder}", "bad": fail}
    monkeypatch.setattr(sys, "argv", ["program", "good", "h:1", "/f"])
    assert main_of(trials) == 0
    monkeypatch.setattr(sys, "argv", ["program", "bad", "h:1", "/f"])
    assert main_of(trials) == 1
    assert capsys.readouterr().out == "found: h:1 /f\none is missing\n"


def test_every_trial_is_run() -> None:
    assert len(OF_STREAMS) == len(streams_trials.TRIALS)
    assert len(OF_CONNECT) == len(connect_trials.TRIALS)
