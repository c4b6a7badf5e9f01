"""What a learner has written in several labs, counted and merged."""

from __future__ import annotations

import io
from pathlib import Path
from typing import cast

import pytest
from rich.console import Console

from kafka_learn.labs.lab import find_lab
from kafka_learn.labs.own.own_command import house
from kafka_learn.labs.own.own_kafka import OwnKafka, own_kafka
from kafka_learn.labs.workspace import LabWorkspace, Progress
from kafka_learn.source import module_path

SEGMENT = "kafka_lite.log.log_segment"
LABS = [find_lab(name) for name in ("ch06-log-segment", "ch06-log-recovery", "spark-windows")]
ASKED = len({function for lab in LABS[:2] for task in lab.tasks for function in task.functions})


@pytest.fixture
def workspaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[LabWorkspace]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return [LabWorkspace(lab, tmp_path / lab.name) for lab in LABS]


def solve(workspace: LabWorkspace, *tasks: int) -> None:
    """The shipped code as a learner's, with these tasks green."""
    workspace.start()
    for module, path in workspace.files().items():
        path.write_text(module_path(module).read_text())
    workspace.remember(Progress(tasks_passed=list(tasks)))


def shown(own: OwnKafka, *, zh: bool = False) -> str:
    console = Console(width=100, file=io.StringIO())
    console.print(house(own, zh=zh))
    return cast(io.StringIO, console.file).getvalue()


def test_nothing_is_written_yet(workspaces: list[LabWorkspace]) -> None:
    own = own_kafka(workspaces)
    assert (own.written, own.asked, own.modules) == (0, ASKED, {})
    assert "This is the shipped broker" in shown(own)
    workspaces[0].start()
    assert own_kafka(workspaces).written == 0, "starters count for nothing"
    assert own_kafka(workspaces, unchecked=True).written == 0


def test_functions_count_when_their_tasks_are_green(workspaces: list[LabWorkspace]) -> None:
    segment, recovery, _ = workspaces
    solve(segment, 1)
    solve(recovery)
    own = own_kafka(workspaces)
    of_first_task = LABS[0].task(1).functions
    assert own.written == len(of_first_task)
    assert set(own.modules) == {function.partition(":")[0] for function in of_first_task}
    everything = own_kafka(workspaces, unchecked=True)
    assert everything.written == everything.asked == ASKED
    assert set(everything.modules[SEGMENT].functions.values()) == {"ch06-log-segment", "ch06-log-recovery"}
    assert everything.modules[SEGMENT].source == module_path(SEGMENT).read_text()
    assert f"{ASKED} of {ASKED} functions are yours" in shown(everything)


def test_the_modules_of_the_pipeline_are_none_of_a_brokers(workspaces: list[LabWorkspace]) -> None:
    solve(workspaces[2], 1, 2, 3)
    assert own_kafka(workspaces).written == 0


def test_a_file_with_a_mistake_is_left_out_and_said(workspaces: list[LabWorkspace]) -> None:
    solve(workspaces[0], 1)
    path = workspaces[0].files()[SEGMENT]
    path.write_text("def broken(:\n")
    own = own_kafka(workspaces)
    assert own.notes == (f"{path} is left out: line 1: invalid syntax",)
    assert str(path) in shown(own).replace("\n", "")


def test_the_merged_modules_replace_those_of_the_last_time(workspaces: list[LabWorkspace], tmp_path: Path) -> None:
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "kafka_lite.old.py").write_text("")
    solve(workspaces[0], 1)
    files = own_kafka(workspaces).write(tmp_path / "modules")
    assert sorted(files.values()) == sorted((tmp_path / "modules").iterdir())
    assert files[SEGMENT].read_text() == module_path(SEGMENT).read_text()
