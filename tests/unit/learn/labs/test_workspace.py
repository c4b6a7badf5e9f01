"""A workspace keeps the answers and the progress of a reader."""

import json
import time

import pytest

from kafka_learn.labs.lab import find_lab
from kafka_learn.labs.workspace import AlreadyStartedError, LabWorkspace, NotStartedError, Progress
from kafka_learn.project import PROJECT_ROOT

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


@pytest.fixture(autouse=True)
def own_key(tmp_path_factory, monkeypatch):
    """The key of the grader is made for the test, not for the user."""
    state = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    return state / "kafka-lite" / "labs.key"


def test_points_that_no_check_has_given_do_not_count(tmp_path, own_key):
    workspace = LabWorkspace(LAB, tmp_path)
    workspace.start()
    workspace.remember(Progress(best=30, total=100, checks=2, hints={"1": 2}))
    assert own_key.stat().st_mode & 0o077 == 0
    file = tmp_path / ".progress.json"
    stored = json.loads(file.read_text())
    for forged in (stored | {"best": 100}, {key: value for key, value in stored.items() if key != "proof"}):
        file.write_text(json.dumps(forged))
        progress = workspace.progress()
        assert (progress.best, progress.total) == (0, 0)
        assert progress.hints == {"1": 2}
    other = LabWorkspace(find_lab("ch06-timing-wheel"), tmp_path)
    file.write_text(json.dumps(stored))
    assert workspace.progress().best == 30
    assert other.progress().best == 0, "the points of one lab are not those of another"


def test_without_a_home_points_are_kept_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/nowhere")
    workspace = LabWorkspace(LAB, tmp_path)
    workspace.start()
    workspace.remember(Progress(best=30, total=100))
    assert workspace.progress().best == 30


def test_work_belongs_to_the_clone_or_to_a_folder_that_is_named(tmp_path, monkeypatch):
    monkeypatch.delenv("KAFKA_LITE_LABS_WORK", raising=False)
    monkeypatch.chdir(tmp_path)
    assert LabWorkspace(LAB).folder == PROJECT_ROOT / "labs-work" / LAB.name
    monkeypatch.setenv("KAFKA_LITE_LABS_WORK", str(tmp_path / "mine"))
    assert LabWorkspace(LAB).folder == tmp_path / "mine" / LAB.name


def test_it_stays_known_that_the_solution_was_seen(tmp_path):
    workspace = LabWorkspace(LAB, tmp_path / "work")
    workspace.remember(Progress(best=30, total=100, solution_seen_at=30))
    assert not workspace.started, "the progress alone is no work"
    workspace.start()
    workspace.reset()
    assert workspace.progress().solution_seen_at == 30
    assert workspace.progress().best == 0
    workspace.remember(Progress(best=100, total=100, solution_seen_at=30))
    file = tmp_path / "work/.progress.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"solution_seen_at": -1}))
    assert workspace.progress().best == 0, "points count with the solution that was seen"


def test_progress_is_saved_and_a_damaged_file_is_ignored(tmp_path):
    workspace = LabWorkspace(LAB, tmp_path)
    workspace.start()
    workspace.remember(Progress(best=30, total=100, checks=2, hints={"1": 2}, tasks_passed=[1]))
    assert LabWorkspace(LAB, tmp_path).progress().best == 30
    (tmp_path / ".progress.json").write_text("{not json")
    assert workspace.progress() == Progress()
