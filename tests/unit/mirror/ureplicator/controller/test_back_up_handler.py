"""Backups in a directory, and in a repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kafka_lite.mirror.ureplicator.controller.back_up_handler import FileBackUpHandler, GitBackUpHandler
from kafka_lite.mirror.ureplicator.controller.controller_errors import ControllerError


def test_files_are_replaced(tmp_path: Path) -> None:
    handler = FileBackUpHandler(tmp_path / "new" / "directory")
    handler.write({"a": "1", "b": "2"})
    handler.write({"a": "3"})
    found = {path.name: path.read_text() for path in (tmp_path / "new" / "directory").iterdir()}
    assert found == {"a": "3", "b": "2"}


def git(*arguments: str, place: Path) -> str:
    return subprocess.run(["git", "-C", place, *arguments], capture_output=True, text=True, check=True).stdout


def test_a_backup_is_a_commit_unless_nothing_has_changed(tmp_path: Path) -> None:
    remote = tmp_path / "remote.git"
    subprocess.run(["git", "init", "--quiet", "--bare", remote], check=True)
    handler = GitBackUpHandler(str(remote), tmp_path / "clone")
    for text in ("one", "one"):
        handler.write({"idealState-backup-env": text})
    assert git("show", "HEAD:idealState-backup-env", place=remote) == "one"
    assert git("log", "--format=%s", place=remote) == "Taking backup\n"


def test_a_directory_that_is_no_clone_of_a_backup_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(ControllerError, match="is not a clone that a backup made"):
        GitBackUpHandler("nowhere", tmp_path).write({"a": "1"})
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_a_repository_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ControllerError, match="git clone failed: "):
        GitBackUpHandler(str(tmp_path / "none"), tmp_path / "clone").write({"a": "1"})
