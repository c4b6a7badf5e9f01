"""The files of the project that something was made of, and whether they are still what they were.

A recorded run or an executed notebook is made by a process, which may start others: brokers, workers, Spark's Python.
All of them note what they read::

    with UsedFiles() as used:
        subprocess.run(…, env=used.environment())      # and whatever it starts
        used.note(path)                                # path.used: file -> digest

    is_current(path)                                   # until one of these files changes, or a package
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final, Self

from kafka_learn.kept import opened_files
from kafka_learn.project import PROJECT_ROOT

SUFFIX: Final = ".used"
ALWAYS: Final = ("uv.lock",)
"""Files on which everything depends: the versions of all packages."""


class UsedFiles:
    """Notes what processes read, while the block lasts."""

    def __init__(self, root: Path = PROJECT_ROOT) -> None:
        self._root = root

    def __enter__(self) -> Self:
        self._folder = tempfile.mkdtemp(prefix="kafka-lite-used-")
        self._notes = Path(self._folder, "notes")
        self._started_ns = time.time_ns()
        shutil.copyfile(str(opened_files.__file__), Path(self._folder, "sitecustomize.py"))
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def environment(self, given: Mapping[str, str] = os.environ) -> dict[str, str]:
        """The environment of the process whose files are noted."""
        path = os.pathsep.join(filter(None, [self._folder, given.get("PYTHONPATH")]))
        noted = {opened_files.NOTES: str(self._notes), opened_files.ROOT: str(self._root)}
        return {**given, **noted, "PYTHONPATH": path}

    def files(self) -> list[str]:
        """The paths, from the root, of what was read so far and is there, in order."""
        noted = self._notes.read_text(encoding="utf-8").splitlines() if self._notes.exists() else []
        return sorted(name for name in {*noted, *ALWAYS} if (self._root / name).is_file())

    def note(self, result: Path) -> None:
        """Keep the digests beside a result, unless a file was changed meanwhile: then the result is of no one state."""
        files = self.files()
        if all((self._root / name).stat().st_mtime_ns < self._started_ns for name in files):
            digests = {name: digest(self._root / name) for name in files}
            _beside(result).write_text(json.dumps(digests, indent=0), encoding="utf-8")
        else:
            _beside(result).unlink(missing_ok=True)


def is_current(result: Path, root: Path = PROJECT_ROOT) -> bool:
    """Whether a result is there, and each file that it was made of is what it was."""
    try:
        digests = json.loads(_beside(result).read_text(encoding="utf-8"))
        return result.exists() and all(digest(root / name) == known for name, known in digests.items())
    except OSError:
        return False


def digest(path: Path) -> str:
    """A digest of a file. Raises OSError if it cannot be read."""
    status = path.stat()
    return _digest(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=8192)
def _digest(path: Path, modified_ns: int, size: int) -> str:
    del modified_ns, size  # of the key
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def _beside(result: Path) -> Path:
    return result.with_name(result.name + SUFFIX)
