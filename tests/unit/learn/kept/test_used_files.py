"""A result is kept until a file changes that a process of it has read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_learn.kept.used_files import UsedFiles, digest, is_current

PROGRAM = """
import sys, subprocess
import used.first
open("data.toml").read()
if sys.argv[1:]:
    subprocess.run([sys.executable, "-c", "import used.of_child"], check=True)
open("written", "w").write("x")
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project in which a program reads some files and others not."""
    files = {
        "program.py": PROGRAM, "data.toml": "a = 1", "other.toml": "", "used/__init__.py": "",
        "used/first.py": "from used import second", "used/second.py": "", "used/of_child.py": "", "used/other.py": "",
        "uv.lock": "",
    }  # fmt: skip
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        os.utime(path, (1_000_000_000, 1_000_000_000))
    return tmp_path


def made(root: Path, *arguments: str) -> Path:
    """The result of the program."""
    result = root / ".build" / "result"
    result.parent.mkdir(exist_ok=True)
    with UsedFiles(root) as used:
        subprocess.run(
            [sys.executable, "program.py", *arguments], cwd=root, env=used.environment(dict(os.environ)), check=True
        )
        result.write_text("made", encoding="utf-8")
        used.note(result)
    return result


READ = ("program.py", "data.toml", "used/first.py", "used/second.py", "uv.lock")


@pytest.mark.parametrize("changed", READ)
def test_a_change_of_what_was_read_counts(root: Path, changed: str) -> None:
    result = made(root)
    assert is_current(result, root)
    (root / changed).write_text("1\n", encoding="utf-8")
    assert not is_current(result, root)


@pytest.mark.parametrize("changed", ["other.toml", "used/other.py", "used/of_child.py", "written"])
def test_a_change_of_another_file_does_not_count(root: Path, changed: str) -> None:
    result = made(root)
    (root / changed).write_text("1\n", encoding="utf-8")
    assert is_current(result, root)


def test_what_a_child_has_read_counts_even_from_compiled_modules(root: Path) -> None:
    made(root, "with a child")
    result = made(root, "with a child")
    (root / "used" / "of_child.py").write_text("1\n", encoding="utf-8")
    assert not is_current(result, root)


def test_what_is_gone_has_changed_and_a_result_without_notes_is_not_current(root: Path) -> None:
    result = made(root)
    (root / "data.toml").unlink()
    assert not is_current(result, root)
    assert not is_current(root / "program.py", root)


def test_a_result_that_is_gone_is_not_current(root: Path) -> None:
    result = made(root)
    result.unlink()
    assert not is_current(result, root)


def test_a_file_that_changes_meanwhile_makes_a_result_of_no_one_state(root: Path) -> None:
    (root / "program.py").write_text(PROGRAM + "open('data.toml', 'a').write(' ')\n", encoding="utf-8")
    os.utime(root / "program.py", (1_000_000_000, 1_000_000_000))
    result = made(root)
    assert result.exists()
    assert not is_current(result, root)


def test_the_environment_keeps_what_is_there(root: Path) -> None:
    with UsedFiles(root) as used:
        environment = used.environment({"PYTHONPATH": "here", "HOME": "/home"})
    assert environment["PYTHONPATH"].endswith(os.pathsep + "here")
    assert environment["HOME"] == "/home"
    assert not Path(environment["PYTHONPATH"].partition(os.pathsep)[0]).exists()


def test_a_digest_follows_the_content(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("a", encoding="utf-8")
    before = digest(path)
    path.write_text("ab", encoding="utf-8")
    assert digest(path) != before
