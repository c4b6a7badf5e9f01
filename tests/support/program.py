"""A program in a process of its own, and what it has printed."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Self

from tests.support.eventually import eventually

TIMEOUT_S = 120
ROOT = Path(__file__).parents[2]


class Program:
    """Runs while the block does, in the repository's folder, and prints to the file ``log``."""

    def __init__(self, command: list[str], log: Path) -> None:
        self._command, self._log = command, log
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        with self._log.open("wb") as output:
            self._process = subprocess.Popen(self._command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    @property
    def process(self) -> subprocess.Popen[bytes]:
        assert self._process is not None
        return self._process

    def printed(self) -> str:
        return self._log.read_text(encoding="utf-8")

    def await_text(self, part: str) -> None:
        """Wait until it has printed this. Raises AssertionError, with what it has printed, also if it ends before."""
        eventually(lambda: part in self.printed() or self.process.poll() is not None, self.printed, TIMEOUT_S)
        assert part in self.printed(), self.printed()
