import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.examples import VARIABLE, examples

PROJECT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(("count", "drawn"), [(600, 150), (100, 25), (20, 8), (8, 8), (5, 5)])
def test_a_usual_run_draws_a_part_and_never_too_few(count: int, drawn: int) -> None:
    assert examples(count, {}) == drawn
    assert examples(count, {VARIABLE: "few"}) == drawn


def test_a_run_of_the_night_draws_all() -> None:
    assert examples(600, {VARIABLE: "all"}) == 600


@pytest.mark.parametrize(("value", "drawn"), [("", 25), ("all", 100)])
def test_a_property_that_says_nothing_follows(value: str, drawn: int) -> None:
    """In a process of its own, as tests/conftest.py sets it once."""
    program = "import tests.conftest, hypothesis; print(hypothesis.settings().max_examples)"
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, cwd=PROJECT, env={VARIABLE: value}, capture_output=True, text=True, check=False)
    assert (run.stdout, run.stderr) == (f"{drawn}\n", "")


def test_the_run_of_the_night_has_every_property() -> None:
    makefile = (PROJECT / "Makefile").read_text()
    nightly = makefile[makefile.index("\nnightly:") : makefile.index("\nevery-python:")]
    assert f"{VARIABLE}=all $(LANE) --processes 2 examples tests/unit -- " in nightly
    assert "-m hypothesis" in nightly
