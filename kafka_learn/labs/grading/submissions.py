"""The submissions of a class: a folder or a git bundle for each student, with working folders of labs in it.

Nothing of it is executed here. Links are not followed: a submission could point to the shipped code, or to another one.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kafka_learn.labs.lab import Lab, working_file
from kafka_learn.labs.workspace import PROGRESS_FILE, WORK

BUNDLE = ".bundle"
LARGEST_BYTES = 1_000_000
CLONE_LIMIT_S = 120.0
_SAFE_GIT = ("-c", "core.symlinks=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.ext.allow=never")


@dataclass(frozen=True)
class Record:
    """The notes of the student's own checks: the student could have changed it, so it never counts as points."""

    checks: int = 0
    hints: dict[str, int] = field(default_factory=dict)
    solution_seen_at: int = -1
    best: int = 0
    is_there: bool = False


@dataclass(frozen=True)
class Answer:
    """A student's files of a lab, by module; ``problem`` says why they cannot be checked, empty if they can."""

    lab: Lab
    sources: dict[str, str]
    record: Record
    problem: str = ""


@dataclass(frozen=True)
class Submission:
    """All answers of a student."""

    student: str
    answers: tuple[Answer, ...]
    problem: str = ""


def read_submissions(folder: Path, labs: Sequence[Lab], scratch: Path) -> Iterator[Submission]:
    """The submissions of a folder, by name; bundles are cloned into ``scratch``. Raises FileNotFoundError."""
    for entry in sorted(folder.iterdir()):
        if entry.is_dir() and not entry.name.startswith("."):
            yield Submission(entry.name, answers_in(entry, labs))
        elif entry.suffix == BUNDLE and entry.is_file():
            yield _of_bundle(entry, labs, scratch)


def _of_bundle(bundle: Path, labs: Sequence[Lab], scratch: Path) -> Submission:
    clone = scratch / bundle.stem
    command = ["git", *_SAFE_GIT, "clone", "--quiet", "--no-recurse-submodules", str(bundle), str(clone)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=CLONE_LIMIT_S)
    except subprocess.TimeoutExpired:
        return Submission(bundle.stem, (), f"git needs more than {CLONE_LIMIT_S:g} s for the bundle")
    if done.returncode != 0:
        return Submission(bundle.stem, (), f"not a git bundle: {done.stderr.strip().splitlines()[-1:]}")
    return Submission(bundle.stem, answers_in(clone, labs))


def answers_in(folder: Path, labs: Sequence[Lab]) -> tuple[Answer, ...]:
    """The answers to labs of which at least one file is in a folder of the lab's name, perhaps in labs-work."""
    return tuple(answer for lab in labs if (answer := _answer(folder, lab)) is not None)


def _answer(folder: Path, lab: Lab) -> Answer | None:
    names = {module: working_file(module) for module in lab.modules}
    places = [folder / WORK / lab.name, folder / lab.name, folder]
    place = next((place for place in places if any((place / name).is_file() for name in names.values())), None)
    if place is None:
        return None
    try:
        sources = {module: _text(folder, place / name) for module, name in names.items()}
    except (OSError, ValueError) as error:
        return Answer(lab, {}, record_in(folder, place), str(error))
    return Answer(lab, sources, record_in(folder, place))


def _text(root: Path, path: Path) -> str:
    """A file of the submission itself. Raises OSError, ValueError."""
    inside = [path, *(parent for parent in path.parents if parent.is_relative_to(root) and parent != root)]
    if any(each.is_symlink() for each in inside):
        raise ValueError(f"{path.relative_to(root)} is a link: hand in the file itself")
    if not path.is_file():
        raise FileNotFoundError(f"{path.relative_to(root)} is missing")
    if path.stat().st_size > LARGEST_BYTES:
        raise ValueError(f"{path.relative_to(root)} has more than {LARGEST_BYTES:,} bytes")
    return path.read_text(encoding="utf-8")


def record_in(root: Path, place: Path) -> Record:
    """The record of the student's checks; without one, or with one that cannot be read, an empty one."""
    with contextlib.suppress(OSError, ValueError, TypeError, AttributeError):
        noted: dict[str, Any] = json.loads(_text(root, place / PROGRESS_FILE))
        hints = {str(task): int(count) for task, count in noted.get("hints", {}).items()}
        counts = [int(noted.get(name, default)) for name, default in _COUNTS]
        return Record(counts[0], hints, counts[1], counts[2], is_there=True)
    return Record()


_COUNTS = (("checks", 0), ("solution_seen_at", -1), ("best", 0))
