"""Work of a page comes into the clone; files that no page has written do no harm."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from kafka_learn.labs import command
from kafka_learn.labs.in_page import importing
from kafka_learn.labs.in_page.importing import FORMAT, ImportLabsError, exported_labs, take_over
from kafka_learn.labs.lab import find_lab
from kafka_learn.labs.workspace import LabWorkspace
from kafka_learn.project import PROJECT_ROOT

LAB = find_lab("ch07-leader-selectors")
(MODULE,) = LAB.modules
ROW: dict[str, Any] = {
    "files": {MODULE: "# mine\n", "os": "# not of this lab\n"},
    "tasks": [
        {"number": 1, "mark": "✓", "earned": 45, "total": 45},
        {"number": 2, "mark": "◐", "earned": 20, "total": 40},
        {"number": 99, "mark": "✓"},
    ],
    "hints": {"1": 2, "2": 1000, "99": 1},
    "checks": 7,
    "solution": 45,
    "at_hand": 2,
    "best": 85,
    "total": 85,
}


@pytest.fixture(autouse=True)
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_LITE_LABS_WORK", str(tmp_path / "work"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def file(folder: Path, content: object) -> Path:
    path = folder / "kafka-lite-labs.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def run(path: Path, *more: str) -> int:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return command.run(parser.parse_args(["import", str(path), *more]))


def test_the_command_takes_files_and_progress_but_no_points(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(file(tmp_path, {"format": FORMAT, "labs": {LAB.name: ROW, "ch99-none": ROW}})) == 0
    printed = capsys.readouterr()
    assert f"{LAB.name}: your files of the page are in" in printed.out
    assert f"labs check {LAB.name}" in printed.out
    assert "unknown lab 'ch99-none'" in printed.err
    workspace = LabWorkspace(LAB)
    assert [path.read_text() for path in workspace.files().values()] == ["# mine\n"]
    progress = workspace.progress()
    assert (progress.tasks_passed, progress.at_hand, progress.checks) == ([1], 2, 7)
    assert progress.solution_seen_at == 45
    assert progress.task_points == {"1": [45, 45], "2": [20, 40]}
    assert progress.hints == {"1": 2, "2": len(LAB.tasks[1].hints)}
    assert (progress.best, progress.total) == (0, 0)


def test_work_of_the_clone_is_moved_aside_unless_it_is_the_same(tmp_path: Path) -> None:
    workspace = LabWorkspace(LAB)
    (path,) = workspace.start()
    path.write_text("# older work\n", encoding="utf-8")
    kept = take_over(workspace, ROW)
    assert kept is not None
    assert (kept / path.name).read_text() == "# older work\n"
    assert path.read_text() == "# mine\n"
    assert take_over(workspace, ROW) is None


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "is not JSON"),
        ([], "was not exported by a lab's page"),
        ({"format": "another", "labs": {}}, "was not exported by a lab's page"),
        ({"format": FORMAT, "labs": []}, "was not exported by a lab's page"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_another_file_is_refused_with_a_sentence(
    tmp_path: Path, content: object, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(file(tmp_path, content)) == 2
    assert words in capsys.readouterr().err


def test_a_file_that_is_missing_or_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(tmp_path / "none.json") == 2
    monkeypatch.setattr(importing, "MOST_BYTES", 10)
    with pytest.raises(ImportLabsError, match="too large"):
        exported_labs(file(tmp_path, {"format": FORMAT, "labs": {}}))


def test_what_makes_no_sense_is_left_out(tmp_path: Path) -> None:
    labs = exported_labs(
        file(tmp_path, {"format": FORMAT, "labs": {"a": 1, "b": {"files": 3}, "c": {"files": {"m": 4}}}})
    )
    assert labs == {}
    odd = {"files": {MODULE: "x = 1\n"}, "tasks": 3, "hints": [1], "checks": -5, "at_hand": True, "solution": True}
    workspace = LabWorkspace(LAB)
    take_over(workspace, odd)
    progress = workspace.progress()
    assert (progress.tasks_passed, progress.hints, progress.checks, progress.at_hand) == ([], {}, 0, 0)
    assert progress.solution_seen_at == -1


def test_the_page_writes_the_format_that_is_read() -> None:
    script = (PROJECT_ROOT / "docs" / "assets" / "labs" / "store.mjs").read_text(encoding="utf-8")
    assert f'FORMAT = "{FORMAT}"' in script
