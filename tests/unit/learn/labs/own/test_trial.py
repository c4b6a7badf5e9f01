"""How the trials of a broker end."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, cast

import pytest

from kafka_learn.labs.broker import BrokerDiedError, LabBroker
from kafka_learn.labs.own import trial
from kafka_learn.labs.own.own_command import trial_table
from kafka_learn.labs.own.trial import Outcome, Trial, run_trials


class FakeBroker:
    made: ClassVar[list[FakeBroker]] = []

    def __init__(self, _folder: Path, files: dict[str, Path], _overrides: dict[str, str]) -> None:
        self.starts_with = files
        self.stopped = False
        FakeBroker.made.append(self)

    def start(self) -> float:
        if "broken" in self.starts_with:
            raise BrokerDiedError("SyntaxError")
        return 1.0

    def stop(self) -> None:
        self.stopped = True

    def log_tail(self, _lines: int) -> str:
        return (
            "the end of a line\n[1] INFO fine (a)\n[2] ERROR broken (b)\nTraceback\n[3] INFO fine (c)\n[4] WARN odd (d)"
        )


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "LabBroker", FakeBroker)
    FakeBroker.made = []


def good(_broker: LabBroker) -> str:
    return "all there"


def bad(_broker: LabBroker) -> str:
    raise AssertionError("one is missing")


def outcomes(*trials: Trial, files: dict[str, Path] | None = None, zh: bool = False) -> list[Outcome]:
    named = [(each.__name__, f"试 {each.__name__}", each) for each in trials]
    return run_trials(files or {}, cast(Path, None), named, zh=zh)


def test_trials_end_with_the_first_failure_and_the_broker_is_stopped() -> None:
    assert outcomes(good, bad, good) == [
        Outcome("good", True, "all there"),
        Outcome("bad", False, "AssertionError: one is missing\n[2] ERROR broken (b)\nTraceback\n[4] WARN odd (d)"),
    ]
    assert FakeBroker.made[0].stopped


def test_a_broker_that_does_not_start_is_an_outcome() -> None:
    assert outcomes(good, files={"broken": Path("x")}) == [Outcome("start", False, "SyntaxError")]
    assert FakeBroker.made[0].stopped


def test_titles_are_in_the_readers_language() -> None:
    assert [outcome.title for outcome in outcomes(good, zh=True)] == ["试 good"]
    assert trial_table(outcomes(good, bad)).row_count == 2
