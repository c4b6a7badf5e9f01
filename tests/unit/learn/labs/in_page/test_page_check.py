"""A check in a page says what a check in a terminal says, again and again in one process.

Each test is a process of its own: a check replaces modules, and takes away what a page does not have.
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from typing import Any

import pytest
from rich.console import Console

from kafka_learn.labs.grader import check
from kafka_learn.labs.lab import find_lab
from kafka_learn.labs.starter import starter
from kafka_learn.labs.way.check_report import verdict
from kafka_learn.labs.workspace import LabWorkspace
from kafka_learn.project import PROJECT_ROOT
from kafka_learn.source import module_path

LAB = "ch07-leader-selectors"
MODULE = "kafka_lite.controller.partition_leader_selector"
PROGRAM = """
import json, sys
from dataclasses import replace
from tests.support.page_host import restrict
restrict()
from greenlet import getcurrent, greenlet
from kafka_learn.labs.in_page.page_check import LabPage, prepare
asked = json.load(sys.stdin)
told = []
with prepare(greenlet, getcurrent):
    page = LabPage(asked["lab"], asked["language"])
    page.lab = replace(page.lab, test_limit_s=asked["limit_s"] or page.lab.test_limit_s)
    results = [json.loads(page.check(json.dumps(files), told.append)) for files in asked["tries"]]
json.dump({"results": results, "told": [json.loads(each) for each in told]}, sys.stdout)
"""


def checked(*tries: str, language: str = "en", limit_s: float | None = None) -> dict[str, Any]:
    """The results of these texts of the module, one after the other in one process.

    ``limit_s``: how long each test may run, in place of the lab's limit.
    """
    asked = {"lab": LAB, "language": language, "limit_s": limit_s, "tries": [{MODULE: text} for text in tries]}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=json.dumps(asked), cwd=PROJECT_ROOT, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@cache
def shipped() -> str:
    return module_path(MODULE).read_text(encoding="utf-8")


def beginning() -> str:
    return starter(find_lab(LAB), MODULE)


def wrong() -> str:
    """The dead stay in the ISR."""
    before = "isr = [member for member in current.isr if member in live_broker_ids]"
    assert before in shipped()
    return shipped().replace(before, "isr = list(current.isr)")


def test_a_learner_writes_errs_and_solves_in_one_process() -> None:
    begun, failed, solved, again = checked(beginning(), wrong(), shipped(), beginning())["results"]
    assert {row["state"] for row in begun["rows"]} == {"waits"}
    assert begun["verdict"].startswith("This failure is expected")
    assert begun["verdict"].endswith("Stuck? Press Hint.")
    assert begun["at_hand"] == 1
    assert any(row["state"] == "failed" and row["message"] for row in failed["rows"])
    assert 0 < failed["score"] < failed["total"]
    assert (solved["passed"], solved["score"]) == (True, solved["total"])
    assert "Now run the broker with your code: Export, and in a clone: " in solved["verdict"]
    assert solved["verdict"].endswith(f"labs check {LAB}")
    assert again == begun


def test_the_rows_are_those_of_a_check_in_a_terminal(tmp_path: Any) -> None:
    (found,) = checked(wrong())["results"]
    lab = find_lab(LAB)
    workspace = LabWorkspace(lab, tmp_path / "work")
    workspace.start()
    (tmp_path / "work" / module_path(MODULE).name).write_text(wrong(), encoding="utf-8")
    result = check(lab, workspace.files(), broker=False)
    messages = {row["test"]: row["message"] for row in found["rows"] if row["state"] == "failed"}
    assert messages == {row.test: row.message for row in result.outcomes if row.message and not row.skipped}
    console = Console(width=200)
    with console.capture() as captured:
        console.print(verdict(workspace, result))
    assert found["verdict"].splitlines()[0] == captured.get().splitlines()[0]


def test_half_done_tasks_show_their_half_and_chinese_answers_in_chinese() -> None:
    (found,) = checked(wrong(), language="zh")["results"]
    assert not [row["title"] for row in found["rows"] if row["title"].isascii()]
    assert "ISR 保留活着的成员，次序不变：[3, 2]，不是 [3, 1, 2]" in [row["message"] for row in found["rows"]]
    lab = find_lab(LAB)
    assert [task["title"] for task in found["tasks"]] == [task.title_zh for task in lab.tasks]
    assert [task["mark"] for task in found["tasks"] if 0 < task["earned"] < task["total"]] == [
        "◐" for task in found["tasks"] if 0 < task["earned"] < task["total"]
    ]
    assert "◐" in {task["mark"] for task in found["tasks"]}
    assert "没有思路？" in found["verdict"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def broken(:\n", "is not valid Python"),
        ("raise SystemExit(3)\n", "the tests could not be run"),
        ("import nothing_of_the_kind\n", "No module named 'nothing_of_the_kind'"),
    ],
)
def test_what_cannot_be_loaded_is_said_and_the_next_try_is_checked(text: str, words: str) -> None:
    failed, solved = checked(text, shipped())["results"]
    assert failed["failed"]
    assert words in failed["verdict"]
    assert solved["passed"]


@pytest.mark.soak  # which waits for the loop
def test_an_endless_loop_is_named_and_the_page_knows_what_to_say_if_it_must_end_the_worker() -> None:
    head, _, tail = beginning().partition("raise NotImplementedError(")
    answer = checked(f"{head}while True:\n        pass\n    raise NotImplementedError({tail}", limit_s=2)
    (found,) = answer["results"]
    slow = [row["message"] for row in found["rows"] if "still running after" in row["message"]]
    assert slow
    assert "does that loop make progress?" in slow[0]
    first = next(each for each in answer["told"] if any(row["state"] == "running" for row in each["rows"]))
    running = next(row["title"] for row in first["rows"] if row["state"] == "running")
    assert first["failed"]
    assert first["verdict"] == (
        f"The check was stopped during this test: {running}. Does a loop of your code make progress?"
    )
