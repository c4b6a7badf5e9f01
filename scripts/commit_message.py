"""A commit-msg hook: the subject has at most 72 columns, and all but trivial commits give their reason in a body.

    python -m scripts.commit_message --install     write the hook; `make setup` does
    python scripts/commit_message.py FILE          check the message in FILE, as git calls it

It needs nothing but Python's standard library, for it runs before each commit.
"""

from __future__ import annotations

import re
import subprocess
import sys
import unicodedata
from collections.abc import Sequence
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
SUBJECT_COLUMNS = 72
TRIVIAL_LINES = 10
"""A commit that changes no more lines than this explains itself."""
MARK = "scripts/commit_message.py"
OURS = "# Written by `make setup` of kafka_lite."
HOOK = f"""#!/bin/sh
{OURS} Remove this file to do without it until the next one.
top=$(git rev-parse --show-toplevel)
[ -x "$top/.venv/bin/python" ] && [ -f "$top/{MARK}" ] || exit 0
exec "$top/.venv/bin/python" "$top/{MARK}" "$1"
"""
_BY_GIT = re.compile(r"(Merge|Revert) |(fixup|squash|amend)! ")
_SCISSORS = re.compile(r"^# -+ >8 -+$.*", re.MULTILINE | re.DOTALL)
_TRAILER = re.compile(r"[A-Z][\w-]+: \S")


def problems(message: str, changed_lines: int) -> list[str]:
    """The faults of the message of a commit that changes so many lines, a sentence each; empty if it is fine."""
    subject, *rest = _text(message).split("\n")
    if not subject or _BY_GIT.match(subject):
        return []  # git itself refuses an empty message
    found = []
    if (columns := _columns(subject)) > SUBJECT_COLUMNS:
        found.append(f"The subject has {columns} columns, {SUBJECT_COLUMNS} at most: the rest belongs into the body.")
    if rest and rest[0]:
        found.append("The second line is not empty: git takes it for a part of the subject.")
    if changed_lines > TRIVIAL_LINES and not any(line and not _TRAILER.match(line) for line in rest):
        found.append("There is no body. Say below an empty line why the change is made; the diff shows what it is.")
    return found


def _text(message: str) -> str:
    """The message without git's comments."""
    lines = _SCISSORS.sub("", message).split("\n")
    return "\n".join(line.rstrip() for line in lines if not line.startswith("#")).strip("\n")


def _columns(text: str) -> int:
    """The width on a terminal, where Chinese characters take two columns."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def changed_lines() -> int:
    """The lines that the commit adds and removes; a binary file counts as one."""
    rows = _git("diff", "--cached", "--numstat").splitlines()
    counts = [count for row in rows for count in row.split("\t")[:2]]
    return sum(int(count) if count.isdecimal() else 1 for count in counts)


def check(path: Path) -> int:
    """Check the message in a file; returns the exit code, with which git ends the commit."""
    found = problems(path.read_text(encoding="utf-8"), changed_lines())
    for problem in found:
        sys.stderr.write(f"{problem}\n")
    if found:
        sys.stderr.write(f"The message is kept: git commit --edit --file={path}\n")
    return 1 if found else 0


def install(project: Path = PROJECT) -> str:
    """Write the hook, unless there is a hook of the user's; returns what to say about it, empty if there is nothing.

    A clone gets it in the folder that git takes its hooks from, whatever ``core.hooksPath`` says.
    """
    try:
        if Path(_git("rev-parse", "--show-toplevel", cwd=project)).resolve() != project.resolve():
            return ""  # unpacked somewhere inside another project
        if _git("rev-parse", "--git-dir", cwd=project) != _git("rev-parse", "--git-common-dir", cwd=project):
            return ""  # a linked work tree has the hooks of the clone that it belongs to
        hook = Path(project, _git("rev-parse", "--git-path", "hooks", cwd=project), "commit-msg")
    except (OSError, subprocess.CalledProcessError):
        return ""  # no git, or no work tree of it: an unpacked archive
    try:
        return _write(hook)
    except OSError as error:
        return f"The hook that checks commit messages cannot be written: {error}"


def _write(hook: Path) -> str:
    if hook.exists():
        written = hook.read_text(encoding="utf-8", errors="replace")
        if written == HOOK:
            return ""
        if OURS not in written:
            return f'{hook} is yours and stays. To check messages, too, let it run: .venv/bin/python {MARK} "$1"'
    hook.parent.mkdir(parents=True, exist_ok=True)
    hook.write_text(HOOK, encoding="utf-8")
    hook.chmod(0o755)
    return f"A hook checks commit messages from now on: {hook}"


def _git(*arguments: str, cwd: Path | None = None) -> str:
    """The output of git. Raises OSError if there is none, or CalledProcessError."""
    done = subprocess.run(["git", *arguments], cwd=cwd, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def main(arguments: Sequence[str]) -> int:
    """Install the hook, or be it; returns the exit code."""
    if list(arguments) != ["--install"]:
        return check(Path(arguments[0]))
    if said := install():
        print(said)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
