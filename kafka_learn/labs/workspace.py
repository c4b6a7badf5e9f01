"""The learner's working folder: the modules to write, and the learner's progress."""

from __future__ import annotations

import contextlib
import hmac
import itertools
import json
import os
import secrets
import shutil
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from kafka_learn.labs.lab import Lab, Task, working_file
from kafka_learn.labs.overlay import KEY_FILE
from kafka_learn.labs.starter import starter, unwritten
from kafka_learn.project import PROJECT_ROOT
from kafka_lite.tools.common.terminal import own_command

WORK = "labs-work"
WORK_VARIABLE = "KAFKA_LITE_LABS_WORK"
PROGRESS_FILE = ".progress.json"


def default_base() -> Path:
    """The folder of the working folders: ``labs-work`` in the clone, whatever the current folder is.

    The environment variable ``KAFKA_LITE_LABS_WORK`` names another one, for a clone that cannot be written.
    """
    return Path(os.environ.get(WORK_VARIABLE) or PROJECT_ROOT / WORK)


def grader_key() -> bytes:
    """The key of this user's grader, made when it is first needed; empty where the user has no home to keep it in."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state"
    path = Path(state) / "kafka-lite" / KEY_FILE
    with contextlib.suppress(OSError):
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(path, "xb", opener=_for_the_user_only) as file:
                file.write(secrets.token_bytes(32))
        return path.read_bytes()
    return b""


def _for_the_user_only(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


class NotStartedError(Exception):
    """The working folder does not exist yet, or one of its files is missing."""


class AlreadyStartedError(Exception):
    """The working folder contains work that a starter would overwrite."""


@dataclass
class Progress:
    """State kept between calls: best score, hints given by task number, the tasks that passed last, the points that
    each task had then (earned, of so many), and the task to continue with (0: the first)."""

    best: int = 0
    total: int = 0
    checks: int = 0
    hints: dict[str, int] = field(default_factory=dict)
    tasks_passed: list[int] = field(default_factory=list)
    task_points: dict[str, list[int]] = field(default_factory=dict)
    at_hand: int = 0
    solution_seen_at: int = -1
    """The best score when the solution was first shown; -1: it was not."""
    proof: str = ""
    """The grader's signature of the points: they do not count without it."""


class LabWorkspace:
    """One lab's working folder, by default ``labs-work/<lab>`` in the clone."""

    def __init__(self, lab: Lab, folder: Path | None = None) -> None:
        self.lab = lab
        self.folder = (folder or default_base() / lab.name).resolve()

    @property
    def started(self) -> bool:
        """Whether the folder contains a starter."""
        return any(file.exists() for file in self._paths().values())

    def start(self) -> list[Path]:
        """Write the starters. Raises AlreadyStartedError if there is already work."""
        if self.started:
            over = f"{own_command()} labs reset {self.lab.name}"
            raise AlreadyStartedError(f"{self.folder} already contains work: continue, or start over with {over}")
        self.folder.mkdir(parents=True, exist_ok=True)
        for module, path in self._paths().items():
            path.write_text(starter(self.lab, module), encoding="utf-8")
        return list(self._paths().values())

    def reset(self) -> Path | None:
        """Write the starters again; returns the folder to which existing work was moved, if any.

        Of the progress only that the solution was seen is left.
        """
        kept, seen_at = None, self.progress().solution_seen_at
        if self.started:
            kept = self._new_folder(time.strftime("before-reset-%Y%m%d-%H%M%S"))
            for path in self._paths().values():
                if path.exists():
                    shutil.move(path, kept / path.name)
        self._progress_path.unlink(missing_ok=True)
        self.start()
        if seen_at >= 0:
            self.remember(Progress(solution_seen_at=seen_at))
        return kept

    def _new_folder(self, name: str) -> Path:
        """Make a folder of that name, followed by a number if the name is taken."""
        names = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
        folder = next(folder for folder in map(self.folder.joinpath, names) if not folder.exists())
        folder.mkdir()
        return folder

    def files(self) -> dict[str, Path]:
        """The learner's file of each module. Raises NotStartedError if one is missing."""
        for path in self._paths().values():
            if not path.exists():
                raise NotStartedError(f"{path} is not there: begin with {own_command()} labs start {self.lab.name}")
        return self._paths()

    def existing_files(self) -> dict[str, Path]:
        """The learner's files that are there; none before the start."""
        return {module: path for module, path in self._paths().items() if path.exists()}

    def untouched(self) -> bool:
        """Whether the folder still contains the unchanged starter."""
        return all(path.read_text(encoding="utf-8") == starter(self.lab, m) for m, path in self.files().items())

    def unwritten(self, task: Task) -> list[str]:
        """The functions of a task that have no body yet, as ``Class.method``."""
        found = []
        for module, path in self.files().items():
            names = [name for name, of in self.lab.functions_of(module).items() if of is task]
            found += unwritten(path.read_text(encoding="utf-8"), names)
        return found

    def fingerprint(self) -> tuple[int, ...]:
        """The files' modification times, which change when the learner saves a file."""
        return tuple(path.stat().st_mtime_ns if path.exists() else 0 for path in self._paths().values())

    def touched_ns(self) -> int:
        """When the learner last saved a file or checked, as a modification time."""
        checked = self._progress_path.stat().st_mtime_ns if self._progress_path.exists() else 0
        return max(checked, *self.fingerprint())

    def progress(self) -> Progress:
        """The stored progress; empty if there is none or it cannot be read, without points that no check has given."""
        try:
            progress = Progress(**json.loads(self._progress_path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return Progress()
        if not hmac.compare_digest(progress.proof, self._proof_of(progress)):
            progress.best = progress.total = 0
        return progress

    def remember(self, progress: Progress) -> None:
        """Store the progress for the next call, signed."""
        progress.proof = self._proof_of(progress)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._progress_path.write_text(json.dumps(asdict(progress)), encoding="utf-8")

    def _proof_of(self, progress: Progress) -> str:
        points = f"{self.lab.name} {progress.best} {progress.total}"
        if progress.solution_seen_at >= 0:
            points += f" solution {progress.solution_seen_at}"
        return hmac.new(grader_key(), points.encode(), "sha256").hexdigest()

    @property
    def _progress_path(self) -> Path:
        return self.folder / PROGRESS_FILE

    def _paths(self) -> dict[str, Path]:
        return {module: self.folder / working_file(module) for module in self.lab.modules}
