"""Every lab works: its starter fails and says what to do, its solution passes, wrong answers get an explanation."""

import ast
import io
import os
import re
import subprocess
import sys
from dataclasses import replace

import psutil
import pytest
from rich.console import Console

from kafka_learn.labs.broker import LabBroker
from kafka_learn.labs.grader import CheckResult, TestOutcome, check, jvm_for_checks_of
from kafka_learn.labs.lab import SPARK, all_labs, find_lab
from kafka_learn.labs.spark_jvm import PORT
from kafka_learn.labs.starter import starter
from kafka_learn.labs.way.check_report import printed_by_first_failed, score_table, verdict
from kafka_learn.labs.workspace import LabWorkspace
from kafka_learn.source import find_symbol, module_path
from tests.support.checked_labs import (
    LABS,
    SPARK_AS_A_LEARNER,
    WRONG,
    is_checked,
    is_checked_with_broker,
    marks_with_broker,
    shipped,
    shipped_function,
)
from tests.support.eventually import eventually
from tests.support.patience import patient_s

by_name = pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
by_name_in_turns = pytest.mark.parametrize(
    "lab", [pytest.param(lab, id=lab.name, marks=marks_with_broker(lab)) for lab in LABS if is_checked(lab)]
)
by_name_with_broker = pytest.mark.parametrize(
    "lab",
    [pytest.param(lab, id=lab.name, marks=marks_with_broker(lab)) for lab in LABS if is_checked_with_broker(lab)],
)


def why_not(result):
    """Why a check did not pass, in one line: all that the summary of a run has room for."""
    failed = [f"{o.test}: {o.message or 'did not end'}" for o in result.outcomes if not (o.passed or o.skipped)]
    return " | ".join([*filter(None, [result.failure]), *failed]).replace("\n", " ")


def shown(*parts):
    console = Console(file=io.StringIO(), width=160)
    console.print(*parts)
    return console.file.getvalue()


@by_name_in_turns
def test_the_untouched_starter_fails_and_says_that_this_is_expected(lab, tmp_path, forks):
    workspace = LabWorkspace(lab, tmp_path / "work")
    workspace.start()
    result = check(lab, workspace.files(), run=None if lab.extra == SPARK else forks.run)
    assert not result.passed
    assert not result.failure
    assert result.score == 0
    assert all("your task" in o.message for o in result.outcomes if not o.skipped), [o.message for o in result.outcomes]
    tested = {outcome.task for outcome in result.outcomes if not outcome.broker}
    assert tested >= {task.number for task in lab.tasks if task.functions}, "a task fails before it is written"
    words = shown(score_table(lab, result), verdict(workspace, result))
    assert "This failure is expected" in words
    assert f"Your task: 1, {lab.tasks[0].title}" in words


@by_name_with_broker
@pytest.mark.slow
def test_the_shipped_code_passes_with_the_broker_and_leaves_nothing_running(lab, tmp_path, request):
    if lab.extra == SPARK:
        request.getfixturevalue("no_jvm" if lab.name == SPARK_AS_A_LEARNER else "jvm")
    workspace = LabWorkspace(lab, tmp_path / "work")
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    result = check(lab, shipped(lab))
    assert result.passed, why_not(result)
    assert result.score == result.total == 100
    assert sum(outcome.broker for outcome in result.outcomes) >= 3
    workspace.start()
    assert "a real broker ran with your code" in shown(verdict(workspace, result))

    def left():
        return {child.pid for child in psutil.Process().children(recursive=True)} - before

    eventually(lambda: not left())  # a shared JVM ends its Python workers after the session


def test_the_broker_runs_with_the_learners_module(tmp_path):
    mine = tmp_path / "offset_index.py"
    source = module_path("kafka_lite.log.offset_index").read_text()
    mine.write_text(source + "\nimport sys\n\nsys.stderr.write('the learner was here\\n')\n")
    broker = LabBroker(tmp_path, {"kafka_lite.log.offset_index": mine}, {})
    broker.start()
    assert broker.stop() == 0
    assert "the learner was here" in (tmp_path / "broker.log").read_text()


@by_name
def test_wrong_answers_match_the_shipped_functions(lab):
    for answer in (row for other, row in WRONG if other is lab):
        occurrences = shipped_function(answer).count(answer["replace"])
        assert occurrences == 1, f"{answer['name']}: the function has changed: update the wrong answer"


@by_name
def test_a_lab_has_three_wrong_answers_and_hints_for_every_task(lab):
    assert sum(other.name == lab.name for other, _ in WRONG) >= 3
    assert all(task.hints for task in lab.tasks)
    assert [task.title for task in lab.tasks if len(task.hints_zh) != len(task.hints)] == [], "hints_zh"
    assert len({hint for task in lab.tasks for hint in task.hints}) == sum(len(task.hints) for task in lab.tasks)


@by_name
def test_a_lab_on_spark_says_what_it_takes_and_gives_hints_in_three_steps(lab):
    if lab.extra == SPARK:
        assert [task.title for task in lab.tasks if task.functions and len(task.hints) != 3] == []
        for name, words in (("README.md", "about {} minutes"), ("README.zh.md", "约 {} 分钟")):
            text = " ".join((lab.folder / name).read_text(encoding="utf-8").split())
            assert words.format(lab.minutes) in text


@by_name
def test_every_function_to_write_has_a_docstring(lab):
    functions = [function for task in lab.tasks for function in task.functions]
    assert [function for function in functions if not ast.get_docstring(find_symbol(function).node)] == []


@by_name
def test_the_tasks_are_described_in_both_languages(lab):
    for name in ("README.md", "README.zh.md"):
        text = (lab.folder / name).read_text(encoding="utf-8")
        functions = (re.split("[.:]", function)[-1] for task in lab.tasks for function in task.functions)
        assert [function for function in functions if function not in text] == [], name


def test_a_lab_on_spark_says_what_to_install(monkeypatch):
    """As on a machine without PySpark: its import fails."""
    lab = next(lab for lab in LABS if lab.extra == SPARK)
    for module in [name for name in sys.modules if name.split(".")[0] == "pyspark" or name == "kafka_lite.spark"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    result = check(lab, shipped(lab), broker=False)
    assert not result.passed
    assert result.failure.startswith("This lab runs in Spark. ")
    assert "Install kafka_lite's extra spark" in result.failure


@pytest.mark.spark
@pytest.mark.usefixtures("no_jvm")
def test_checks_of_a_lab_on_spark_can_share_a_jvm():
    def javas():
        return [child.pid for child in psutil.Process().children() if child.name() == "java"]

    before = javas()
    with jvm_for_checks_of(find_lab("spark-skew")):
        assert os.environ[PORT]
        assert len(javas()) == len(before) + 1
    assert PORT not in os.environ
    assert javas() == before
    with jvm_for_checks_of(find_lab("ch06-offset-index")):
        assert javas() == before


@pytest.mark.usefixtures("no_jvm")
def test_the_starter_of_a_lab_on_spark_is_red_before_a_session_starts(tmp_path, monkeypatch):
    lab = next(lab for lab in LABS if lab.extra == SPARK)
    workspace = LabWorkspace(lab, tmp_path / "work")
    workspace.start()
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")  # where no Java can be put
    result = check(lab, workspace.files())
    assert all("your task" in outcome.message for outcome in result.outcomes if not outcome.skipped)


def test_a_module_that_is_not_python_is_reported_and_not_run(tmp_path):
    lab = LABS[0]
    workspace = LabWorkspace(lab, tmp_path)
    broken = workspace.start()[0]
    broken.write_text(broken.read_text() + "\n    def lookup(:\n")
    result = check(lab, workspace.files())
    assert broken.name in result.failure
    assert "not valid Python" in result.failure


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
    assert "time limit of 3 s" in result.failure

    def left():
        return [process for process in psutil.process_iter(["cmdline"]) if marker in (process.info["cmdline"] or [])]

    eventually(lambda: not left())  # killed, but the kernel needs a moment


def hanging_answer(folder):
    """An offset index whose search is correct, but never returns within the broker."""
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


@pytest.mark.soak
def test_a_hanging_broker_fails_its_test_and_the_report_is_complete(tmp_path):
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


def test_a_check_that_is_killed_reports_passed_tests_and_the_one_that_hung(tmp_path):
    """The time limit of the test cannot end it: its signal is blocked, as in a C library that does not return."""
    limit_s = round(patient_s(6.0))
    lab = replace(LABS[0], folder=tmp_path / "lab", time_limit_s=limit_s)
    lab.tests.mkdir(parents=True)
    (lab.tests / "test_hang.py").write_text(HANGING_TESTS)
    result = check(lab, shipped(LABS[0]))
    assert result.failure == f"the check was stopped at its time limit of {limit_s} s, during this test: Hangs for ever"
    assert [(outcome.title, outcome.passed, outcome.running, outcome.skipped) for outcome in result.outcomes] == [
        ("Passes", True, False, False),
        ("Hangs for ever", False, True, False),
        ("Is not reached", False, False, True),
    ]
    assert (result.score, result.total) == (1, 7)
    words = shown(score_table(lab, result))
    assert "✓ Passes" in words
    assert "✗ Hangs for ever" in words
    assert "still running when the check ended" in words


def test_code_that_ends_python_is_told_so(tmp_path):
    lab = replace(LABS[0], folder=tmp_path / "lab")
    lab.tests.mkdir(parents=True)
    blocked = "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])\n    time.sleep(600)"
    (lab.tests / "test_end.py").write_text(HANGING_TESTS.replace(blocked, "import os\n    os._exit(3)"))
    result = check(lab, shipped(LABS[0]))
    words = shown(score_table(lab, result))
    assert "Python was ended here with exit code 3: does the code call os._exit?" in words
    assert (result.passed, result.score) == (False, 1)


def test_the_second_line_of_a_title_begins_below_its_first_word():
    lab = LABS[0]
    outcome = TestOutcome(
        "test_it", "word " * 40, 1, 5, broker=False, passed=True, skipped=False, running=False, message=""
    )
    console = Console(file=io.StringIO(), width=80)
    console.print(score_table(lab, CheckResult((outcome,))))
    cells = [line.split("│")[2] for line in console.file.getvalue().splitlines() if "word" in line]
    assert len(cells) > 1
    assert [cell[:6] for cell in cells] == [" ✓ wor", *["   wor"] * (len(cells) - 1)]


def test_your_task_is_the_first_unwritten_function(tmp_path):
    """A test of task 4 needs a function of task 5: once task 4 is written, task 5 is next."""
    lab = find_lab("ch06-purgatory")
    workspace = LabWorkspace(lab, tmp_path)
    workspace.start()
    write_tasks(lab, workspace, range(1, 5))
    result = check(lab, workspace.files(), broker=False)
    assert result.tasks_passed() == [1, 2, 3]
    words = shown(verdict(workspace, result))
    assert "Your task: 5, Something has happened: write DelayedOperationPurgatory.check_and_complete." in words


def test_a_failing_task_is_to_be_looked_at_again(tmp_path):
    lab = find_lab("ch06-offset-index")
    workspace = LabWorkspace(lab, tmp_path)
    path, *_ = workspace.start()
    body = 'raise NotImplementedError("your task 1: OffsetIndex._parse_entry")'
    path.write_text(path.read_text().replace(body, "return None"))
    words = shown(verdict(workspace, check(lab, workspace.files(), broker=False)))
    assert "Your task: 1, Read an entry: check OffsetIndex._parse_entry." in words


def test_what_the_code_prints_in_the_first_failed_test_is_shown(tmp_path):
    lab = find_lab("ch06-offset-index")
    workspace = LabWorkspace(lab, tmp_path)
    path, *_ = workspace.start()
    body = 'raise NotImplementedError("your task 1: OffsetIndex._parse_entry")'
    path.write_text(path.read_text().replace(body, "print('one\\n' * 30 + 'two'); return None"))
    words = printed_by_first_failed(check(lab, workspace.files(), broker=False)).plain.splitlines()
    assert words[0].startswith("What your code printed in this test: ")
    assert words[1:] == ["…", *["one"] * 19, "two"]


def test_a_value_that_the_test_cannot_use_leads_back_to_the_docstring(tmp_path):
    lab = find_lab("ch02-partitioner")
    workspace = LabWorkspace(lab, tmp_path)
    path, *_ = workspace.start()
    for returned, hint in (
        ("'7'", "does your function return what its docstring says?"),
        ("None", "the test got None."),
    ):
        body = 'raise NotImplementedError("your task 1: murmur2")'
        path.write_text(starter(lab, "kafka_lite.common.murmur2").replace(body, f"return {returned}"))
        first, *_ = check(lab, workspace.files(), broker=False).outcomes
        assert first.message.startswith("TypeError: ")
        assert hint in first.message


def test_nothing_is_shown_of_what_passing_tests_print():
    row = TestOutcome("t", "t", 1, 5, broker=False, passed=True, skipped=False, running=False, message="", printed="x")
    assert printed_by_first_failed(CheckResult((row,))) is None


def write_tasks(lab, workspace, numbers):
    """Write the shipped bodies of these tasks into the learner's files."""
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
        own = {"KAFKA_LITE_LABS_WORK": str(tmp_path / "labs-work"), "XDG_STATE_HOME": str(tmp_path / "state")}
        return subprocess.run(
            command,
            cwd=tmp_path,
            env=os.environ | own,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=patient_s(100),
            check=False,
        )

    return run


def test_watch_checks_until_all_tests_pass(labs, tmp_path):
    name = "ch06-offset-index"
    assert "labs start" in labs("watch", name).stderr
    labs("start", name)
    for module in find_lab(name).modules:
        path = module_path(module)
        (tmp_path / "labs-work" / name / path.name).write_text(path.read_text())
    watched = labs("watch", name, "--no-broker")
    assert watched.returncode == 0, watched.stderr
    assert "The tests pass" in watched.stdout


def test_the_list_shows_whole_names_in_a_narrow_terminal(labs, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = [line.split()[0] for line in labs("list").stdout.splitlines() if not line.startswith(" ")]
    assert shown == ["lab", *(lab.name for lab in all_labs())]


@pytest.mark.parametrize(
    ("columns", "options", "languages"), [("80", [], ["en"]), ("80", ["--zh"], ["zh"]), ("160", [], ["en", "zh"])]
)
def test_the_list_has_titles_in_one_language_where_there_is_no_room_for_two(
    labs, monkeypatch, columns, options, languages
):
    monkeypatch.setenv("COLUMNS", columns)
    words = labs("list", *options).stdout
    lab = find_lab("spark-lag")
    assert [name for name, title in (("en", lab.title), ("zh", lab.title_zh[:4])) if title in words] == languages
    assert len(words.splitlines()) < 2 * len(all_labs()), "most labs take a line"


def test_all_verbs_in_the_order_of_a_learner(labs, tmp_path):
    name = find_lab("ch06-offset").name
    row = r"ch06-offset-index .* (\S+) *"
    assert re.search(row, labs("list").stdout)[1] == "–"
    assert "labs start" in labs("check", "ch06-offset").stderr
    started = labs("start", "ch06-offset")
    assert started.returncode == 0, started.stderr
    work = tmp_path / "labs-work" / name
    assert "your task 4" in (work / "offset_index.py").read_text()
    assert "already contains work" in labs("start", "ch06-offset").stderr
    checked = labs("check", "ch06-offset", "--no-broker")
    assert checked.returncode == 1
    assert "This failure is expected" in checked.stdout
    assert re.search(row, labs("list").stdout)[1] == "–"  # points count with the broker only
    assert "1/3" in labs("hint", "ch06-offset").stdout
    assert "2/3" in labs("hint", "ch06-offset").stdout
    assert "has no task 99" in labs("hint", "ch06-offset", "99").stderr
    (work / "offset_index.py").write_text(module_path("kafka_lite.log.offset_index").read_text())
    partly = labs("check", "ch06-offset", "--no-broker")
    assert "Your task: 2, Search" in partly.stdout
    assert "Tasks" not in labs("solution", "ch06-offset").stdout
    assert "+" in labs("solution", "ch06-offset", "--yes").stdout
    assert labs("reset", "ch06-offset").returncode == 0
    assert "your task 4" in (work / "offset_index.py").read_text()
    assert list(work.glob("before-reset-*/offset_index.py"))
    assert "unknown lab 'ch99'" in labs("start", "ch99").stderr
