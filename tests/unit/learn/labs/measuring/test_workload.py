"""The measured tasks: what they say of themselves, and that a round is the same each time."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_learn.labs import overlay
from kafka_learn.labs.grader import run_bounded
from kafka_learn.labs.lab import find_lab
from kafka_learn.labs.measuring.workload import NoMeasuredTaskError, measured_labs, workload_of

LABS = [lab.name for lab in measured_labs()]
NEEDS = {"spark-log-files": "pyspark"}


def test_ten_labs_have_a_measured_task_and_say_what_it_is() -> None:
    assert len(LABS) >= 10
    for name in LABS:
        workload = workload_of(find_lab(name))
        assert workload.shown_in("en").isascii()
        assert not workload.shown_in("en").endswith(".")
        assert workload.shown_in("zh") == workload.shown_zh != workload.shown
        assert workload.rounds >= 20, "a tenth of them is counted, and at least two rounds"


def test_the_words_are_read_without_the_modules_that_are_measured() -> None:
    program = (
        "import sys; from kafka_learn.labs.lab import find_lab; from kafka_learn.labs.measuring.workload import *;"
        "print(workload_of(find_lab('ch06-offset-index')).rounds, 'kafka_lite.log.offset_index' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert found.split() == ["100", "False"]


def test_a_lab_without_a_measured_task_says_so() -> None:
    with pytest.raises(NoMeasuredTaskError, match="ch07-reassignment"):
        workload_of(find_lab("ch07-reassignment"))


@pytest.mark.parametrize("name", LABS)
def test_each_round_does_the_same_and_two_runs_agree(name: str, tmp_path: Path) -> None:
    if (package := NEEDS.get(name)) and importlib.util.find_spec(package) is None:
        return  # the extra spark is not installed: nothing of that lab runs
    workload, results = workload_of(find_lab(name)), []
    for run in ("first", "second"):
        folder = tmp_path / run
        folder.mkdir()
        report = folder / "report.json"
        words = [str(workload.file), "3", str(folder), str(report)]
        code, output = run_bounded(overlay.command({}, "kafka_learn.labs.measuring.measured_run", *words), 60)
        assert code == 0, output
        results.append(json.loads(report.read_text())["results"])
    assert results[0] == results[1]
    assert all(len(result) < 2000 for result in results[0]), "the results of all rounds are kept"
