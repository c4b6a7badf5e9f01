"""The process that hunts: its report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_learn.labs.hunting import hunt_run
from kafka_learn.labs.hunting.hunt_run import found_of, main
from kafka_learn.labs.hunting.hunt_world import Found, Step
from kafka_learn.labs.hunting.hunts import HUNTS


def test_the_report_has_what_was_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[tuple[object, ...]]()

    def hunt(*arguments: object) -> Found | None:
        asked.append(arguments)
        return Found(5, "it moved back", (Step("a", "x.py", 3),)) if len(asked) == 1 else None

    monkeypatch.setattr(hunt_run, "hunt", hunt)
    report = tmp_path / "report.json"
    assert main(["ch06-purgatory", "3", "4", str(report), "m=/x.py"]) == 1
    assert asked[0] == (HUNTS["ch06-purgatory"].program, {"m": Path("/x.py")}, range(3, 7))
    assert found_of(report.read_text()) == Found(5, "it moved back", (Step("a", "x.py", 3),))
    assert json.loads(report.read_text())["seed"] == 5
    assert main(["ch06-purgatory", "3", "4", str(report)]) == 0
    assert report.read_text() == ""


def test_every_hunt_says_what_it_looks_for_in_both_languages() -> None:
    for lab, hunt in HUNTS.items():
        assert hunt.lab == lab
        assert hunt.promise_in("en").isascii()
        assert hunt.promise_in("zh") == hunt.promise_zh
