"""Which opened files are noted, and that a note never disturbs the process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kafka_learn.kept.opened_files import OpenedFiles, appending_to, source_of

READS, WRITES = os.O_RDONLY | os.O_CLOEXEC, os.O_WRONLY | os.O_CREAT


@pytest.fixture
def noted() -> list[str]:
    return []


@pytest.fixture
def hook(noted: list[str]) -> OpenedFiles:
    return OpenedFiles("/project", noted.append)


def test_a_file_of_the_project_is_noted_once(hook: OpenedFiles, noted: list[str]) -> None:
    for _ in range(2):
        hook("open", ("/project/chapters/book.toml", "r", READS))
    assert noted == ["chapters/book.toml"]


def test_a_compiled_module_stands_for_its_source(hook: OpenedFiles, noted: list[str]) -> None:
    hook("open", ("/project/kafka_lite/log/__pycache__/log.cpython-313.pyc", "r", READS))
    assert noted == ["kafka_lite/log/log.py"]
    assert source_of("data/log.pyc") == "data/log.pyc"


@pytest.mark.parametrize(
    ("event", "arguments"),
    [
        ("open", ("/elsewhere/file", "r", READS)),
        ("open", ("/project-2/file", "r", READS)),
        ("open", ("/project/.build/runs/run.jsonl", "r", READS)),
        ("open", ("/project/.venv/lib/module.py", "r", READS)),
        ("open", ("/project/site/index.html", "r", READS)),
        ("open", ("/project/kafka_lite/__pycache__/a.pyc.1", None, WRITES)),
        ("open", (7, "r", READS)),
        ("open", (b"/project/file", "r", READS)),
        ("open", ("/project/file",)),
        ("os.listdir", ("/project/chapters",)),
    ],
)
def test_other_events_and_files_are_not_noted(
    hook: OpenedFiles, noted: list[str], event: str, arguments: tuple[object, ...]
) -> None:
    hook(event, arguments)
    assert noted == []


def test_a_path_may_be_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, noted: list[str]) -> None:
    monkeypatch.chdir(tmp_path)
    OpenedFiles(str(tmp_path), noted.append)("open", ("chapters/terms.toml", "r", READS))
    assert noted == ["chapters/terms.toml"]


def test_processes_append_to_one_file_of_notes(tmp_path: Path) -> None:
    for process in ("a", "b"):
        appending_to(str(tmp_path / "notes"))(f"{process}.py")
    assert (tmp_path / "notes").read_text(encoding="utf-8") == "a.py\nb.py\n"


def test_nothing_fails_if_the_notes_are_gone(tmp_path: Path) -> None:
    appending_to(str(tmp_path / "gone" / "notes"))("a.py")
    assert not (tmp_path / "gone").exists()
