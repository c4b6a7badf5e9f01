"""Which kafka_lite this is: release, commit, plain or compiled."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from kafka_lite import __version__
from kafka_lite.common.process import app_info_parser
from kafka_lite.common.process.app_info_parser import app_info, commit_of, get_commit_id
from kafka_lite.tools.main import main


def git(folder: Path, *arguments: str) -> str:
    author = {
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b",
    }
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **author}
    done = subprocess.run(["git", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with one commit and a folder ``package``."""
    folder = tmp_path / "checkout"
    (folder / "package").mkdir(parents=True)
    (folder / "package" / "module.py").write_text("x = 1\n")
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "One")
    return folder


def test_a_checkout_has_the_commit_that_git_reports(checkout: Path) -> None:
    assert get_commit_id(checkout / "package") == git(checkout, "rev-parse", "--short", "HEAD")


def test_uncommitted_changes_are_marked(checkout: Path) -> None:
    (checkout / "package" / "module.py").write_text("x = 2\n")
    assert commit_of(checkout) == git(checkout, "rev-parse", "--short", "HEAD") + "-dirty"


def test_a_tag_does_not_hide_the_commit(checkout: Path) -> None:
    git(checkout, "tag", "-a", "v1", "-m", "One")
    assert commit_of(checkout) == git(checkout, "rev-parse", "--short", "HEAD")


def test_a_wheel_has_the_commit_that_it_was_built_from(checkout: Path) -> None:
    (checkout / "package" / app_info_parser.VERSION_FILE).write_text("commitId=0123abc\n")
    assert get_commit_id(checkout / "package") == "0123abc"


def test_an_installed_package_does_not_take_the_commit_of_a_surrounding_project(checkout: Path) -> None:
    installed = checkout / ".venv" / "lib" / "site-packages" / "kafka_lite"
    installed.mkdir(parents=True)
    assert get_commit_id(installed) == "unknown"


def test_without_git_the_commit_is_unknown(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(checkout))
    assert commit_of(checkout) == "unknown"


def test_environment_variables_of_git_do_not_select_another_repository(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert commit_of(checkout) == git(checkout, "rev-parse", "--short", "HEAD")


def test_an_unknown_commit_is_omitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_info_parser, "get_commit_id", lambda: "unknown")
    assert app_info() in (f"{__version__} (plain)", f"{__version__} (compiled)")


def test_the_command_prints_release_commit_and_build(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app_info_parser, "get_commit_id", lambda: "8a613ec")
    assert main(["--version"]) == 0
    assert re.fullmatch(
        rf"kafka-lite {re.escape(__version__)} \(commit 8a613ec, (plain|compiled)\)\n", capsys.readouterr().out
    )
