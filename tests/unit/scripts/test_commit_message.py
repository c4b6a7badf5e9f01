"""The hook that checks commit messages, and its installation by `make setup`, with a real git."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.commit_message import HOOK, MARK, OURS, PROJECT, install, problems

LONG = 1000
SHORT = 10


def git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    settings = ["-c", "user.name=A", "-c", "user.email=a@b", "-c", "core.commentChar=#"]
    return subprocess.run(["git", *settings, *arguments], cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(autouse=True)
def no_git_of_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook that runs these tests has the caller's repository in its environment."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository with the script, and with a Python where the hook looks for it."""
    git(tmp_path, "init", "--quiet")
    (tmp_path / MARK).parent.mkdir()
    (tmp_path / MARK).write_text((PROJECT / MARK).read_text(encoding="utf-8"), encoding="utf-8")
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    return tmp_path


def commit(clone: Path, message: str, lines: int) -> subprocess.CompletedProcess[str]:
    (clone / "file.txt").write_text("".join(f"{number} {message}\n" for number in range(lines)), encoding="utf-8")
    git(clone, "add", "file.txt")
    return git(clone, "commit", "--quiet", "-m", message)


@pytest.mark.parametrize(
    ("message", "lines"),
    [
        ("Refuse a negative offset\n\nClients took it for the end of the log.\n", LONG),
        ("Mend a word\n", SHORT),
        ("x" * 72 + "\n\nBecause.\n", LONG),
        ("Merge branch 'a-branch-with-a-name-that-is-longer-than-anybody-would-like-to-read-it' into main", LONG),
        ('Revert "Refuse a negative offset"', LONG),
        ("fixup! Refuse a negative offset", LONG),
        (
            "Subject\n\nReason.\n# Please enter it\n# ------ >8 ------\ndiff --git a/x b/x\n" + "y" * 99,
            LONG,
        ),
        ("# only comments: git itself refuses it\n", LONG),
        ("说明每个字段的含义，说明每个字段的含义，说明每个字段的含义，说明字段\n\n因为。\n", LONG),
    ],
)
def test_a_good_message_passes(message: str, lines: int) -> None:
    assert problems(message, lines) == []


@pytest.mark.parametrize(
    ("message", "lines", "problem"),
    [
        ("x" * 73 + "\n\nBecause.\n", LONG, "The subject has 73 columns, 72 at most"),
        ("说" * 37 + "\n\n因为。\n", LONG, "The subject has 74 columns"),
        ("Refuse a negative offset\nand more\n", SHORT, "The second line is not empty"),
        ("Refuse a negative offset\n", SHORT + 1, "There is no body"),
        ("Refuse a negative offset\n\nSigned-off-by: A <a@b>\n", LONG, "There is no body"),
        ("Refuse a negative offset\n\n# a comment\n", LONG, "There is no body"),
    ],
)
def test_a_bad_message_is_refused_with_the_reason(message: str, lines: int, problem: str) -> None:
    (found,) = problems(message, lines)
    assert found.startswith(problem)


def test_the_installed_hook_refuses_a_commit_and_keeps_its_message(clone: Path) -> None:
    assert install(clone).startswith("A hook checks commit messages from now on: ")
    refused = commit(clone, "Add a file", LONG)
    assert refused.returncode == 1
    assert "There is no body." in refused.stderr
    assert "git commit --edit --file=" in refused.stderr
    assert git(clone, "rev-parse", "HEAD").returncode != 0

    assert commit(clone, "Add a file\n\nTests need it.", LONG).returncode == 0
    (clone / "file.txt").write_text("0\n")
    assert git(clone, "commit", "--quiet", "-a", "-m", "Empty it").returncode == 1, "it removes a thousand lines"


def test_a_second_setup_says_nothing_and_an_older_hook_of_ours_is_replaced(clone: Path) -> None:
    install(clone)
    assert install(clone) == ""
    hook = clone / ".git" / "hooks" / "commit-msg"
    hook.write_text(f"#!/bin/sh\n{OURS}\nexit 1\n")
    assert install(clone).startswith("A hook checks")
    assert hook.read_text() == HOOK


def test_a_hook_of_the_user_stays(clone: Path) -> None:
    hook = clone / ".git" / "hooks" / "commit-msg"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 0\n")
    assert "is yours and stays" in install(clone)
    assert hook.read_text() == "#!/bin/sh\nexit 0\n"


def test_the_hook_goes_where_git_looks_for_it(clone: Path) -> None:
    git(clone, "config", "core.hooksPath", ".my-hooks")
    install(clone)
    assert os.access(clone / ".my-hooks" / "commit-msg", os.X_OK)
    assert commit(clone, "Add a file", LONG).returncode == 1


def test_a_work_tree_without_a_virtual_environment_may_commit(clone: Path, tmp_path: Path) -> None:
    install(clone)
    (clone / ".venv" / "bin" / "python").unlink()
    assert commit(clone, "Add a file", LONG).returncode == 0


def test_a_linked_work_tree_has_the_hook_of_its_clone_and_gets_none_of_its_own(clone: Path, tmp_path: Path) -> None:
    commit(clone, "Add a file", LONG)
    git(clone, "worktree", "add", "--quiet", "linked")
    assert install(clone / "linked") == ""
    assert not (clone / ".git" / "hooks" / "commit-msg").exists()
    install(clone)
    assert git(clone, "rev-parse", "--git-path", "hooks").stdout == ".git/hooks\n"
    assert Path(git(clone / "linked", "rev-parse", "--git-path", "hooks").stdout.strip()) == clone / ".git" / "hooks"


def test_a_folder_that_is_no_work_tree_of_its_own_gets_no_hook(tmp_path: Path) -> None:
    assert install(tmp_path) == ""
    git(tmp_path, "init", "--quiet")
    inside = tmp_path / "unpacked"
    inside.mkdir()
    assert install(inside) == ""
    assert not (tmp_path / ".git" / "hooks" / "commit-msg").exists()


def test_a_hook_that_cannot_be_written_is_reported(clone: Path) -> None:
    hooks = clone / ".git" / "hooks"
    git(clone, "config", "core.hooksPath", "taken")
    (clone / "taken").write_text("a file, not a folder")
    assert install(clone).startswith("The hook that checks commit messages cannot be written: ")
    assert not (hooks / "commit-msg").exists()
