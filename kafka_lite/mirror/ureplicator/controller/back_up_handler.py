"""Where a backup goes: into a directory, or into a repository of git that is cloned for it, and pushed.

uReplicator kafka-0.10.2.1: uReplicator-Controller/.../mirrormaker/controller/core/BackUpHandler.java (BackUpHandler),
FileBackUpHandler.java (FileBackUpHandler), GitBackUpHandler.java (GitBackUpHandler) · book 8.2.2
"""

from __future__ import annotations

import os
import shutil
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path

from kafka_lite.mirror.ureplicator.controller.controller_errors import ControllerError

GIT_TIMEOUT_S = 120
CLONE_MARK = "uReplicator-backup"
"""A file in the .git of a clone that this program has made. A directory without it is never deleted."""


class BackUpHandler(ABC):
    """Writes the files of one backup."""

    @abstractmethod
    def write(self, files: Mapping[str, str]) -> None:
        """Keep the texts, by file name, in the place of older ones. Raises OSError, ControllerError."""


class FileBackUpHandler(BackUpHandler):
    """Files of a directory. Each is replaced as a whole: a crash leaves the old one or the new one."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def write(self, files: Mapping[str, str]) -> None:
        """The directory is created if it is not there."""
        self._directory.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            new = self._directory / f"{name}.new"
            new.write_text(text, encoding="utf-8")
            os.replace(new, self._directory / name)


class GitBackUpHandler(BackUpHandler):
    """A commit in a remote repository. The local clone is made afresh each time."""

    def __init__(self, remote: str, clone: Path) -> None:
        self._remote = remote
        self._clone = clone

    def write(self, files: Mapping[str, str]) -> None:
        """Clone, commit, push; nothing is committed if the files are as before."""
        self._remove_old_clone()
        self._git("clone", "--quiet", "--", self._remote, str(self._clone), inside=False)
        (self._clone / ".git" / CLONE_MARK).touch()
        FileBackUpHandler(self._clone).write(files)
        self._git("add", "--", *files)
        if self._git("status", "--porcelain"):
            self._git("commit", "--quiet", "-m", "Taking backup")
            self._git("push", "--quiet", "origin", "HEAD")

    def _remove_old_clone(self) -> None:
        """Raises ControllerError if the directory is anything else than a clone of an earlier backup."""
        if self._clone.exists() and any(self._clone.iterdir()):
            if not (self._clone / ".git" / CLONE_MARK).exists():
                raise ControllerError(f"{self._clone} is not a clone that a backup made; it is left as it is")
            shutil.rmtree(self._clone)

    def _git(self, *arguments: str, inside: bool = True) -> str:
        place = ["-C", str(self._clone)] if inside else []
        command = ["git", *place, "-c", "user.name=uReplicator", "-c", "user.email=ureplicator@localhost", *arguments]
        environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=GIT_TIMEOUT_S, env=environment
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ControllerError(f"git {arguments[0]} failed: {error}") from error
        if done.returncode:
            raise ControllerError(f"git {arguments[0]} failed: {done.stderr.strip()}")
        return done.stdout
