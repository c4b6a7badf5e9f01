"""A workspace keeps the answers and the progress of a reader."""

import time

import pytest

from kafka_learn.labs.lab import find_lab
from kafka_learn.labs.workspace import AlreadyStartedError, LabWorkspace, NotStartedError, Progress

LAB = find_lab("ch06-offset-index")


def test_a_workspace_is_started_once_and_reset_keeps_the_old_answer(tmp_path):
    workspace = LabWorkspace(LAB, tmp_path)
    with pytest.raises(NotStartedError):
        workspace.files()
    path = workspace.start()[0]
    assert workspace.untouched()
    with pytest.raises(AlreadyStartedError):
        workspace.start()
    path.write_text("my work")
    assert not workspace.untouched()
    kept = workspace.reset()
    assert (kept / path.name).read_text() == "my work"
    assert workspace.untouched()


def test_two_resets_within_a_second_keep_both_answers(tmp_path, monkeypatch):
    monkeypatch.setattr(time, "strftime", lambda _format: "before-reset-20260101-120000")
    workspace = LabWorkspace(LAB, tmp_path)
    path = workspace.start()[0]
    kept = []
    for work in ("first", "second"):
        path.write_text(work)
        kept.append(workspace.reset() / path.name)
    assert [file.read_text() for file in kept] == ["first", "second"]


def test_progress_is_saved_and_a_damaged_file_is_ignored(tmp_path):
    workspace = LabWorkspace(LAB, tmp_path)
    workspace.start()
    workspace.remember(Progress(best=30, total=100, checks=2, hints={"1": 2}, tasks_passed=[1]))
    assert LabWorkspace(LAB, tmp_path).progress().best == 30
    (tmp_path / ".progress.json").write_text("{not json")
    assert workspace.progress() == Progress()
