"""``labs`` alone and ``labs next``, in both languages."""

import argparse
from pathlib import Path

import pytest

from kafka_learn.labs.command import add_arguments, run
from kafka_learn.labs.lab import all_labs, find_lab
from kafka_learn.labs.way.lab_order import in_order
from kafka_learn.labs.workspace import LabWorkspace, Progress


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """The learner's folders are not the developer's."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("KAFKA_LITE_LABS_WORK", str(tmp_path / "work"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def labs(capsys):
    """``labs("next")``: the output of the command."""

    def call(*arguments):
        parser = argparse.ArgumentParser(prog="labs")
        add_arguments(parser)
        assert run(parser.parse_args(arguments)) == 0
        return capsys.readouterr().out

    return call


FIRST = in_order(all_labs())[0]


def test_before_the_first_lab_the_first_one_is_shown(labs):
    for shown in (labs(), labs("next")):
        assert "No lab was begun yet" in shown
        assert FIRST.goal.split(",")[0] in shown
        assert f"labs start {FIRST.name}" in shown
    chinese = labs("--zh")
    assert "还没有开始任何实验" in chinese
    assert FIRST.title_zh in chinese
    assert FIRST.title_zh in labs("next", "--zh")


def test_alone_it_continues_where_the_learner_was(labs):
    lab = find_lab("ch06-offset-index")
    workspace = LabWorkspace(lab)
    workspace.start()
    points = {"1": [10, 10], "2": [12, 20]}
    workspace.remember(Progress(checks=2, best=22, total=100, tasks_passed=[1], task_points=points, at_hand=2))
    shown = labs()
    assert "22/100 points" in shown
    assert "✓ 1 Read an entry" in shown
    assert "◐ 2 Search" in shown
    assert "12/20" in shown
    assert "Your task: 2, Search: write " in shown
    assert f"labs check {lab.name}" in shown
    chinese = labs("--zh")
    assert "22/100 分" in chinese
    assert f"✓ 1 {lab.tasks[0].title_in('zh')}" in chinese
    assert lab.tasks[0].title_in("zh") != lab.tasks[0].title


def test_after_a_lab_with_all_points_comes_the_one_that_follows(labs):
    LabWorkspace(find_lab("ch02-selector")).start()
    lab = find_lab("ch06-offset-index")
    workspace = LabWorkspace(lab)
    workspace.start()
    numbers = [task.number for task in lab.tasks]
    workspace.remember(Progress(checks=1, best=100, total=100, tasks_passed=numbers))
    shown = labs()
    assert f"labs solution {lab.name}" in shown
    assert "labs start ch06-log-segment" in shown
    assert "ch06-offset-index ✓" in shown
    assert "Or: spark-log-files" in shown
    assert "Also begun: ch02-selector (–)" in shown


def test_when_every_lab_was_begun_none_is_next(labs, monkeypatch):
    monkeypatch.setattr("kafka_learn.labs.way.way_command.next_labs", lambda *_: [])
    assert f"All {len(all_labs())} labs" in labs("next")


def test_work_of_another_folder_is_pointed_out(labs, tmp_path):
    folder = tmp_path / "labs-work/ch06-offset-index"
    folder.mkdir(parents=True)
    assert "move its folders" not in labs()
    (folder / ".progress.json").write_text("{}")
    assert f"move its folders to {tmp_path / 'work'}" in " ".join(labs().split())
    assert Path("labs-work").is_dir()
