"""The list has sums, a lab says what is around it, and the solution comes after a try."""

import argparse
import io
import sys

import pytest

from kafka_learn.labs.command import add_arguments, run
from kafka_learn.labs.lab import all_labs, find_lab
from kafka_learn.labs.way.lab_order import by_chapter
from kafka_learn.labs.workspace import LabWorkspace, Progress

NAME = "ch06-offset-index"


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    """The learner's folders are not the developer's."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("KAFKA_LITE_LABS_WORK", str(tmp_path / "work"))
    monkeypatch.setenv("COLUMNS", "120")


@pytest.fixture
def labs(capsys):
    """``labs("list")``: the result of the command, and its output."""

    def call(*arguments):
        parser = argparse.ArgumentParser(prog="labs")
        add_arguments(parser)
        result = run(parser.parse_args(arguments))
        captured = capsys.readouterr()
        return result, captured.out + captured.err

    return call


@pytest.fixture
def begun():
    """A lab with two tasks done."""
    workspace = LabWorkspace(find_lab(NAME))
    workspace.start()
    workspace.remember(Progress(checks=3, best=30, total=100, tasks_passed=[1, 2], hints={"3": 1}))
    return workspace


class Terminal(io.StringIO):
    """What a learner types."""

    def isatty(self):
        return True


def test_the_list_has_the_sums_of_each_chapter(labs, begun):
    _, shown = labs("list")
    rows = dict(by_chapter(all_labs()))
    count = len(rows["ch06"])
    (sums,) = [line for line in shown.splitlines() if line.split()[-1] == f"30/{100 * count}"]
    hours = round(sum(lab.minutes for lab in rows["ch06"]) / 60)
    assert f"{count} labs, 0 done" in sums
    assert f" {hours} h " in sums
    assert f"{count} 个实验，完成 0 个" in labs("list", "--zh")[1]


def test_a_lab_says_what_comes_before_and_after_it(labs, begun):
    _, shown = labs("show", "ch06-log-segment")
    assert f"comes after  {NAME}\n" in "\n".join(line.rstrip() for line in shown.splitlines())
    assert "then         ch06-" in shown
    assert "labs start ch06-log-segment" in shown
    _, shown = labs("show", NAME)
    assert "✓ 2 Search" in shown
    assert f"labs check {NAME}" in shown
    begun.remember(Progress(checks=4, best=100, total=100, solution_seen_at=30))
    assert f"{NAME} ✓" in labs("show", "ch06-log-segment")[1]
    assert "seen at 30 points" in labs("show", NAME)[1]
    chinese = labs("show", NAME, "--zh")[1]
    assert "得 30 分时看过" in chinese
    assert "README.zh.md" in chinese
    assert f"· 3 {begun.lab.task(3).title_in('zh')}" in chinese
    assert begun.lab.task(3).title_in("zh") in labs("hint", NAME, "3", "--zh")[1]


def test_the_solution_comes_after_a_try(labs):
    result, shown = labs("solution", NAME)
    assert result == 2
    assert f"labs check {NAME}" in shown
    assert "class OffsetIndex" not in shown
    result, shown = labs("solution", NAME, "--yes")
    assert result == 0
    assert "class OffsetIndex" in shown
    assert LabWorkspace(find_lab(NAME)).progress().solution_seen_at == 0


@pytest.mark.parametrize(("typed", "is_shown"), [("y\n", True), ("n\n", False), ("\n", False)])
def test_the_solution_asks_and_notes_the_points(labs, begun, monkeypatch, typed, is_shown):
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    result, shown = labs("solution", NAME)
    hints = sum(len(task.hints) for task in begun.lab.tasks) - 1
    assert f"Tasks that are open: 3, 4, 5, 6, 7. Hints that you have not seen: {hints}." in shown
    assert (result, "--- yours" in shown) == ((0, True) if is_shown else (2, False))
    assert begun.progress().solution_seen_at == (30 if is_shown else -1)


def test_without_a_terminal_nobody_can_be_asked(labs, begun, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    result, shown = labs("solution", NAME)
    assert result == 2
    assert "--yes" in shown


def test_a_learner_with_all_points_is_not_asked(labs, begun):
    begun.remember(Progress(checks=4, best=100, total=100))
    assert labs("solution", NAME)[0] == 0
    assert begun.progress().solution_seen_at == 100


def test_each_verb_answers_in_chinese(labs, begun):
    _, shown = labs("reset", NAME, "--zh")
    assert "新的起点在" in shown
    assert "原来的文件在" in shown
    assert "先检查一次再看答案" in labs("solution", NAME, "--zh")[1]
    for _ in range(4):
        _, shown = labs("hint", NAME, "--zh")
    assert "提示到此为止。下一步：" in shown
    _, shown = labs("start", "ch06-purgatory", "--zh")
    assert find_lab("ch06-purgatory").title_zh in shown
    assert "下面是你的文件" in shown
    assert "README.zh.md" in shown
    assert "（写好代码之前不会通过）" in shown
    _, shown = labs("check", "ch06-purgatory", "--no-broker", "--zh")
    assert "现在不通过是正常的" in shown
