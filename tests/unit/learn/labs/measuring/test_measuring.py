"""Figures of both sides, alternately, and answers that are refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_learn.labs.grader import run_bounded
from kafka_learn.labs.lab import Lab, find_lab
from kafka_learn.labs.measuring import measuring
from kafka_learn.labs.measuring.measuring import Comparison, Figures, RefusedError, can_count, measure, must_be_equal
from kafka_learn.labs.measuring.workload import Workload, workload_of
from kafka_learn.source import module_path

NAME = "ch06-cleaner-offset-map"
MODULE = "kafka_lite.log.cleaning.skimpy_offset_map"
Answer = Callable[[bool, int], dict[str, object]]


@pytest.fixture
def lab() -> Lab:
    return find_lab(NAME)


@pytest.fixture
def workload(lab: Lab) -> Workload:
    return workload_of(lab)


class Processes:
    """In place of ``run_bounded``: what the processes would report."""

    def __init__(self, answer: Answer, code: int | None = 0, refs: Callable[[bool, int], str] | None = None) -> None:
        self._answer, self._code, self._refs = answer, code, refs
        self.sides: list[str] = []

    def __call__(self, command: list[str], limit_s: float) -> tuple[int | None, str]:
        assert limit_s == measuring.LIMIT_S
        is_mine = any("mine" in word for word in command)
        self.sides.append("yours" if is_mine else "shipped")
        at = command.index(measuring.PROGRAM)
        rounds, *report = int(command[at + 2]), *command[at + 4 :]
        if command[0] == "env":
            assert "valgrind" in command
            assert not report, "what is written would be counted, too"
            return 0, self._refs(is_mine, rounds) if self._refs else ""
        if self._code is not None and self._code >= 0:
            found = {"seconds": 1.0, "results": ["1"] * rounds, "raised": "", **self._answer(is_mine, rounds)}
            Path(report[0]).write_text(json.dumps(found))
        return self._code, "its last words"


def mine(tmp_path: Path) -> dict[str, Path]:
    return {MODULE: tmp_path / "mine.py"}


def test_the_best_of_each_side_counts_and_the_sides_alternate(lab: Lab, workload: Workload, tmp_path: Path) -> None:
    times = iter([4.0, 3.0, 2.0, 6.0])  # shipped, yours, shipped, yours
    processes = Processes(lambda _mine, _rounds: {"seconds": next(times)})
    steps = list[int]()
    found = measure(lab, workload, mine(tmp_path), count=False, alternations=2, run=processes, step=steps.append)
    assert processes.sides == ["shipped", "yours", "shipped", "yours"]
    assert found.time_ratio == 1.5
    assert found.yours.ms == pytest.approx(3000 / workload.rounds)
    assert found.instructions_ratio is None
    assert steps == [1, 2]


def test_instructions_are_the_difference_of_two_runs(lab: Lab, workload: Workload, tmp_path: Path) -> None:
    def refs(is_mine: bool, rounds: int) -> str:
        return f"==7== I   refs:      {500_000_000 + rounds * (3000 if is_mine else 4000):,}\n"

    found = measure(lab, workload, mine(tmp_path), count=True, alternations=1, run=Processes(lambda *_: {}, refs=refs))
    assert found.yours.instructions == 3000
    assert found.shipped.instructions == 4000
    assert found.instructions_ratio == 0.75


def refused(lab: Lab, workload: Workload, tmp_path: Path, processes: Processes, *, count: bool = False) -> RefusedError:
    with pytest.raises(RefusedError) as raised:
        measure(lab, workload, mine(tmp_path), count=count, alternations=1, run=processes)
    return raised.value


def test_a_wrong_result_is_refused(lab: Lab, workload: Workload, tmp_path: Path) -> None:
    wrong = Processes(lambda is_mine, rounds: {"results": ["1"] * (rounds - 1) + ["2" if is_mine else "1"]})
    found = refused(lab, workload, tmp_path, wrong)
    assert found.name == "measured wrong"
    assert found.values == {"number": workload.rounds - 1, "yours": "2", "shipped": "1"}


def test_an_answer_that_raises_ends_or_hangs_is_refused(lab: Lab, workload: Workload, tmp_path: Path) -> None:
    raising = Processes(lambda is_mine, _: {"raised": "KeyError: 7", "results": ["1"]} if is_mine else {})
    found = refused(lab, workload, tmp_path, raising)
    assert (found.name, found.values) == ("measured raised", {"number": 1, "error": "KeyError: 7"})
    found = refused(lab, workload, tmp_path, Processes(lambda *_: {}, code=-9))
    assert (found.name, found.values) == ("measured ended", {"output": "its last words"})
    assert refused(lab, workload, tmp_path, Processes(lambda *_: {}, code=None)).name == "measured too long"
    uncounted = Processes(lambda *_: {}, refs=lambda *_: "valgrind: no such tool")
    assert refused(lab, workload, tmp_path, uncounted, count=True).values == {"output": "valgrind: no such tool"}


def test_long_results_are_shown_where_they_differ() -> None:
    with pytest.raises(RefusedError) as raised:
        must_be_equal(["same", "a" * 900 + "x" + "b" * 900], ["same", "a" * 900 + "y" + "b" * 900])
    values = raised.value.values
    assert values["number"] == 1
    assert str(values["yours"]).startswith("…aaa")
    assert "x" in str(values["yours"])
    assert "y" in str(values["shipped"])
    assert str(values["yours"]).endswith("b…")
    assert len(str(values["yours"])) == measuring.SHOWN_CHARACTERS + 2


def test_ratios_without_counts() -> None:
    assert Comparison(Figures(2.0), Figures(4.0, 7.0)).instructions_ratio is None
    assert Comparison(Figures(2.0), Figures(4.0)).time_ratio == 0.5


def test_a_slower_answer_and_a_wrong_one_in_real_processes(lab: Lab, workload: Workload, tmp_path: Path) -> None:
    shipped = module_path(MODULE).read_text(encoding="utf-8")
    slower = tmp_path / "skimpy_offset_map.py"
    wasted = "        self._lookups += 1\n"
    assert wasted in shipped
    slower.write_text(shipped.replace(wasted, f"{wasted}        sum(range(2000))\n"), encoding="utf-8")
    few = Workload(workload.file, workload.shown, workload.shown_zh, rounds=6)
    assert measure(lab, few, {MODULE: slower}, count=False, alternations=1).time_ratio > 1.5
    slower.write_text(shipped.replace("return self._latest_offset", "return self._latest_offset + 1"), encoding="utf-8")
    assert slower.read_text(encoding="utf-8") != shipped
    with pytest.raises(RefusedError) as raised:
        measure(lab, few, {MODULE: slower}, count=False, alternations=1)
    assert raised.value.name == "measured wrong"


@pytest.mark.soak  # half a minute
def test_valgrind_counts_the_same_each_time(tmp_path: Path) -> None:
    task = tmp_path / "measured.py"
    task.write_text("def prepare(_folder):\n    return lambda _number: sum(range(100_000))\n")

    side = measuring._Side(Workload(task, "", "", rounds=40), {}, tmp_path, run_bounded)
    assert len(side.timed()["results"]) == 40, "afterwards everything is compiled"
    if not can_count():
        with pytest.raises(RefusedError):
            side.instructions()
        return
    first = side.instructions()
    assert first > 100_000
    assert side.instructions() == pytest.approx(first, rel=0.002)
