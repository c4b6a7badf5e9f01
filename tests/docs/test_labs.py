"""Every lab is sound: its starter is red and says what to do, its solution is green, wrong answers are told why."""

import ast
import io
import re
import subprocess
import sys
import tomllib
from dataclasses import replace

import psutil
import pytest
from rich.console import Console

from kafka_learn.labs.broker import LabBroker
from kafka_learn.labs.command import score_table, verdict
from kafka_learn.labs.grader import check
from kafka_learn.labs.lab import all_labs, find_lab
from kafka_learn.labs.starter import starter
from kafka_learn.labs.workspace import LabWorkspace
from kafka_learn.source import find_symbol, module_path
from tests.support.eventually import eventually

LABS = all_labs()
WRONG = [(lab, row) for lab in LABS for row in tomllib.loads((lab.folder / "wrong.toml").read_text())["answer"]]
# A check takes half a second of processor time: `make test` tries one wrong answer of each lab, `make soak` the others.
WRONG_ANSWERS = [
    pytest.param(lab, row, id=f"{lab.name}: {row['name']}", marks=[pytest.mark.soak] if index else [])
    for lab in LABS
    for index, row in enumerate(row for other, row in WRONG if other is lab)
]
by_name = pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)


def shipped(lab):
    return {module: module_path(module) for module in lab.modules}


def shown(*parts):
    console = Console(file=io.StringIO(), width=160)
    console.print(*parts)
    return console.file.getvalue()


@by_name
def test_the_untouched_starter_is_red_and_says_that_this_is_expected(lab, tmp_path):
    workspace = LabWorkspace(lab, tmp_path / "work")
    workspace.start()
    result = check(lab, workspace.files())
    assert not result.passed
    assert not result.failure
    assert result.score == 0
    assert all("your task" in o.message for o in result.outcomes if not o.skipped), [o.message for o in result.outcomes]
    tested = {outcome.task for outcome in result.outcomes if not outcome.broker}
    assert tested >= {task.number for task in lab.tasks if task.functions}, "a task is red before it is written"
    words = shown(score_table(lab, result), verdict(workspace, result))
    assert "This failure is expected" in words
    assert f"Your task: 1, {lab.tasks[0].title}" in words


@by_name
@pytest.mark.slow
def test_the_shipped_code_passes_with_the_broker_and_leaves_nothing_running(lab, tmp_path):
    workspace = LabWorkspace(lab, tmp_path / "work")
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    result = check(lab, shipped(lab))
    assert result.passed, shown(score_table(lab, result), result.failure)
    assert result.score == result.total == 100
    assert sum(outcome.broker for outcome in result.outcomes) >= 3
    workspace.start()
    assert "a real broker ran with your code" in shown(verdict(workspace, result))
    assert not {child.pid for child in psutil.Process().children(recursive=True)} - before


def test_the_broker_really_runs_with_the_learners_module(tmp_path):
    mine = tmp_path / "offset_index.py"
    source = module_path("kafka_lite.log.offset_index").read_text()
    mine.write_text(source + "\nimport sys\n\nsys.stderr.write('the learner was here\\n')\n")
    broker = LabBroker(tmp_path, {"kafka_lite.log.offset_index": mine}, {})
    broker.start()
    assert broker.stop() == 0
    assert "the learner was here" in (tmp_path / "broker.log").read_text()


@by_name
def test_wrong_answers_are_those_of_the_shipped_functions(lab):
    for answer in (row for other, row in WRONG if other is lab):
        occurrences = shipped_function(answer).count(answer["replace"])
        assert occurrences == 1, f"{answer['name']}: the function has changed: bring the wrong answer up to date"


def shipped_function(answer):
    symbol = find_symbol(answer["function"])
    return "\n".join(symbol.lines[symbol.first_line - 1 : symbol.last_line])


@pytest.mark.parametrize(("lab", "answer"), WRONG_ANSWERS)
def test_a_wrong_answer_is_told_its_mistake(lab, answer, tmp_path):
    symbol = find_symbol(answer["function"])
    lines = list(symbol.lines)
    wrong = shipped_function(answer).replace(answer["replace"], answer["by"])
    source = "\n".join([*lines[: symbol.first_line - 1], wrong, *lines[symbol.last_line :]]) + "\n"
    mistaken = tmp_path / symbol.path.name
    mistaken.write_text(source)
    result = check(lab, shipped(lab) | {symbol.module: mistaken}, broker=False)
    assert not result.passed
    messages = [outcome.message for outcome in result.outcomes if not outcome.passed]
    assert any(answer["says"] in message for message in messages), messages


@by_name
def test_a_lab_has_three_wrong_answers_and_hints_for_every_task(lab):
    assert sum(other.name == lab.name for other, _ in WRONG) >= 3
    assert all(task.hints for task in lab.tasks)
    assert len({hint for task in lab.tasks for hint in task.hints}) == sum(len(task.hints) for task in lab.tasks)


@by_name
def test_every_body_that_is_left_out_has_a_docstring_to_write_it_by(lab):
    functions = [function for task in lab.tasks for function in task.functions]
    assert [function for function in functions if not ast.get_docstring(find_symbol(function).node)] == []


@by_name
def test_the_tasks_are_described_in_both_languages(lab):
    for name in ("README.md", "README.zh.md"):
        text = (lab.folder / name).read_text(encoding="utf-8")
        functions = (re.split("[.:]", function)[-1] for task in lab.tasks for function in task.functions)
        assert [function for function in functions if function not in text] == [], name


def test_a_module_that_is_not_python_is_reported_not_run(tmp_path):
    lab = LABS[0]
    workspace = LabWorkspace(lab, tmp_path)
    broken = workspace.start()[0]
    broken.write_text(broken.read_text() + "\n    def lookup(:\n")
    result = check(lab, workspace.files())
    assert broken.name in result.failure
    assert "not Python yet" in result.failure


def test_a_module_that_ends_the_process_is_reported(tmp_path):
    lab = LABS[0]
    workspace = LabWorkspace(lab, tmp_path)
    first = workspace.start()[0]
    first.write_text(first.read_text() + "\nimport os\n\nos._exit(3)\n")
    assert "could not be run" in check(lab, workspace.files(), broker=False).failure


def test_a_check_ends_at_its_time_limit_with_all_its_processes(tmp_path):
    lab = replace(LABS[0], time_limit_s=3.0)
    workspace = LabWorkspace(lab, tmp_path)
    first = workspace.start()[0]
    marker = f"sleeper-{tmp_path.name}"
    command = f"[sys.executable, '-c', 'import time; time.sleep(60)', {marker!r}]"
    first.write_text(first.read_text() + f"\nimport subprocess, sys\n\nsubprocess.run({command})\n")
    result = check(lab, workspace.files(), broker=False)
    assert "ended after 3 s" in result.failure

    def left():
        return [process for process in psutil.process_iter(["cmdline"]) if marker in (process.info["cmdline"] or [])]

    eventually(lambda: not left())  # killed, but the kernel needs a moment


def hanging_answer(folder):
    """An offset index whose search is right, but never returns within the broker."""
    mine = folder / "offset_index.py"
    source = module_path("kafka_lite.log.offset_index").read_text()
    lookup = (
        "    def lookup(self, target_offset):\n"
        "        import sys, time\n"
        "        while 'pytest' not in sys.modules:\n"
        "            time.sleep(1)\n"
        "        return self._lookup(target_offset)\n\n"
    )
    mine.write_text(source.replace("    def lookup(", f"{lookup}    def _lookup("))
    return {"kafka_lite.log.offset_index": mine}


def test_a_broker_that_hangs_costs_its_test_and_not_the_report(tmp_path):
    lab = replace(find_lab("ch06-offset-index"), time_limit_s=25.0)
    result = check(lab, shipped(lab) | hanging_answer(tmp_path))
    assert not result.passed
    assert not result.failure
    assert all(outcome.passed for outcome in result.outcomes if not outcome.broker)
    hanging, *_ = [outcome for outcome in result.outcomes if "does the broker respond?" in outcome.message]
    assert hanging.broker
    assert result.total == 100
    assert result.score >= sum(outcome.points for outcome in result.outcomes if not outcome.broker)


HANGING_TESTS = """
import signal, time
import pytest

@pytest.mark.points(1, task=1)
def test_first():
    "Passes"

@pytest.mark.points(2, task=1)
def test_second():
    "Hangs for ever"
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    time.sleep(600)

@pytest.mark.points(4, task=2)
def test_third():
    "Is not reached"
"""


def test_a_check_that_is_ended_reports_what_has_passed_and_which_test_hung(tmp_path):
    """The time limit of the test cannot end it: its signal is blocked, as in a C library that does not return."""
    lab = replace(LABS[0], folder=tmp_path / "lab", time_limit_s=6.0)
    lab.tests.mkdir(parents=True)
    (lab.tests / "test_hang.py").write_text(HANGING_TESTS)
    result = check(lab, shipped(LABS[0]))
    assert result.failure == "the check was ended after 6 s, its time limit, while this test ran: Hangs for ever"
    assert [(outcome.title, outcome.passed, outcome.running, outcome.skipped) for outcome in result.outcomes] == [
        ("Passes", True, False, False),
        ("Hangs for ever", False, True, False),
        ("Is not reached", False, False, True),
    ]
    assert (result.score, result.total) == (1, 7)
    words = shown(score_table(lab, result))
    assert "✓ Passes" in words
    assert "✗ Hangs for ever" in words
    assert "still running when the check was ended" in words


def test_your_task_is_what_is_not_written_yet(tmp_path):
    """A test of task 4 needs a body of task 5: once task 4 is written, task 5 is what to go on with."""
    lab = find_lab("ch06-purgatory")
    workspace = LabWorkspace(lab, tmp_path)
    workspace.start()
    write_tasks(lab, workspace, range(1, 5))
    result = check(lab, workspace.files(), broker=False)
    assert result.tasks_passed() == [1, 2, 3]
    words = shown(verdict(workspace, result))
    assert "Your task: 5, Something has happened: write DelayedOperationPurgatory.check_and_complete." in words


def test_a_task_that_is_written_wrongly_is_to_be_looked_at_again(tmp_path):
    lab = find_lab("ch06-offset-index")
    workspace = LabWorkspace(lab, tmp_path)
    path, *_ = workspace.start()
    body = 'raise NotImplementedError("your task 1: OffsetIndex._parse_entry")'
    path.write_text(path.read_text().replace(body, "return None"))
    words = shown(verdict(workspace, check(lab, workspace.files(), broker=False)))
    assert "Your task: 1, Read an entry: look again at OffsetIndex._parse_entry." in words


def write_tasks(lab, workspace, numbers):
    """Put the shipped bodies of these tasks into the learner's files."""
    for module, path in workspace.files().items():
        later = tuple(task for task in lab.tasks if task.number not in numbers)
        path.write_text(starter(replace(lab, tasks=later), module))


@pytest.fixture
def labs(tmp_path):
    """``labs("start", …)`` runs the command as a learner does, in a folder of the learner's."""

    def run(*arguments):
        program = (
            "import argparse, sys\n"
            "from kafka_learn.labs.command import register, run\n"
            "parser = argparse.ArgumentParser(prog='kafka-lite')\n"
            "register(parser.add_subparsers(required=True))\n"
            "options = parser.parse_args()\n"
            "sys.exit(run(options))\n"
        )
        command = [sys.executable, "-c", program, "labs", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)

    return run


def test_the_verbs_one_after_the_other_as_a_learner_uses_them(labs, tmp_path):
    name = find_lab("ch06-offset").name
    assert "not begun" in labs("list").stdout
    assert "labs start" in labs("check", "ch06-offset").stderr
    started = labs("start", "ch06-offset")
    assert started.returncode == 0, started.stderr
    work = tmp_path / "labs-work" / name
    assert "your task 4" in (work / "offset_index.py").read_text()
    assert "there is work" in labs("start", "ch06-offset").stderr
    checked = labs("check", "ch06-offset", "--no-broker")
    assert checked.returncode == 1
    assert "This failure is expected" in checked.stdout
    assert "1/3" in labs("hint", "ch06-offset").stdout
    assert "2/3" in labs("hint", "ch06-offset").stdout
    assert "there is no task 99" in labs("hint", "ch06-offset", "99").stderr
    (work / "offset_index.py").write_text(module_path("kafka_lite.log.offset_index").read_text())
    partly = labs("check", "ch06-offset", "--no-broker")
    assert "Your task: 2, Search" in partly.stdout
    assert "+" in labs("solution", "ch06-offset").stdout
    assert labs("reset", "ch06-offset").returncode == 0
    assert "your task 4" in (work / "offset_index.py").read_text()
    assert list(work.glob("before-reset-*/offset_index.py"))
    assert "there is no lab 'ch99'" in labs("start", "ch99").stderr
