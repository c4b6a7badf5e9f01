"""Where a learner is, and which lab is next."""

import os
from dataclasses import replace

import pytest

from kafka_learn.labs.lab import find_lab
from kafka_learn.labs.way.standing import Standing, last_touched, next_labs
from kafka_learn.labs.workspace import LabWorkspace, Progress

INDEX = find_lab("ch06-offset-index")


@pytest.fixture(autouse=True)
def own_key(tmp_path, monkeypatch):
    """The key of the grader is made for the test, not for the user."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def standing(tmp_path):
    """``standing("ch06-a", "ch06-b", best=…)``: a lab after others; begun if there is progress or ``begun``."""

    def make(name, *after, begun=False, at=0, **progress):
        workspace = LabWorkspace(replace(INDEX, name=name, after=after), tmp_path / name)
        if begun or progress:
            for file in [*workspace.start(), tmp_path / name / ".progress.json"]:
                workspace.remember(Progress(**progress))
                os.utime(file, ns=(at, at))
        return Standing.of(workspace)

    return make


def test_a_task_is_done_half_done_or_open(standing):
    first, second, third, *_ = INDEX.tasks
    found = standing("ch06-a", checks=1, tasks_passed=[1], task_points={"1": [10, 10], "2": [12, 20], "3": [0, 5]})
    assert [found.mark(task) for task in (first, second, third)] == ["✓", "◐", "·"]
    assert [found.half_of(task) for task in (first, second, third)] == ["", "12/20", ""]
    assert found.open_task() is second
    assert standing("ch06-b", checks=1, tasks_passed=[1], at_hand=3).open_task() is third
    everything = [task.number for task in INDEX.tasks]
    assert standing("ch06-c", checks=1, tasks_passed=everything).open_task() is None


def test_a_lab_is_done_with_all_points_of_a_check_with_the_broker(standing):
    seen = [standing(f"ch06-{best}{total}", best=best, total=total) for best, total in ((0, 0), (85, 100), (100, 100))]
    assert [(each.is_done, each.points) for each in seen] == [(False, "–"), (False, "85/100"), (True, "100/100")]


def test_the_last_lab_is_the_one_whose_files_changed_last(standing):
    never, early, late = standing("ch06-a"), standing("ch06-b", begun=True, at=5), standing("ch06-c", begun=True, at=7)
    assert last_touched([late, early, never]) is late
    assert last_touched([never]) is None


def names(labs):
    return [lab.name for lab in labs]


def test_the_next_lab_comes_right_after_the_last_then_from_its_chapter(standing):
    done = standing("ch06-done", best=100, total=100)
    others = [
        standing("ch02-first"),
        standing("ch06-same"),
        standing("ch07-after", "ch06-done"),
        standing("ch07-later", "ch07-after"),
    ]
    assert names(next_labs([done, *others], done)) == ["ch07-after", "ch06-same", "ch02-first"]
    assert names(next_labs(others, None)) == ["ch02-first", "ch06-same"]


def test_if_all_that_is_left_waits_that_is_next(standing):
    begun, waits = standing("ch06-begun", begun=True), standing("ch06-waits", "ch06-begun")
    assert names(next_labs([begun, waits], begun)) == ["ch06-waits"]
    assert next_labs([begun], begun) == []
