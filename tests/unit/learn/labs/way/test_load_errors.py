"""A check that cannot load the code says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_learn.labs.grader import check
from kafka_learn.labs.lab import find_lab
from kafka_learn.source import module_path

LAB = find_lab("ch07-leader-selectors")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import nothing_of_the_kind\n", "ModuleNotFoundError: No module named 'nothing_of_the_kind'"),
        ("NUMBER = 1 // 0\n", "ZeroDivisionError: integer division or modulo by zero"),
        ("", "ImportError: cannot import name 'NoReplicaOnlineError' from"),
    ],
)
def test_the_error_is_the_last_word(tmp_path: Path, text: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")  # where pytest does not cut the lines of its summary
    (module,) = LAB.modules
    mine = tmp_path / module_path(module).name
    mine.write_text(text, encoding="utf-8")
    failure = check(LAB, {module: mine}, broker=False).failure
    assert failure.startswith("the tests could not be run")
    assert failure.count(words) == 1
