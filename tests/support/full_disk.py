"""Full disks: a small file system where one may be mounted, and injected errors everywhere."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


class FullDisk:
    """Stands in for ``os.pwrite`` and ``os.open``: while the disk is full, no file grows and none is created.

    Each file is on the disk, unless it is filled as that of one directory, which needs Linux.
    """

    def __init__(self) -> None:
        self.is_full = False
        self._directory: Path | None = None
        self.errno = errno.ENOSPC
        self._pwrite, self._open = os.pwrite, os.open

    def fill(self, directory: Path | None = None) -> None:
        """From now on, no byte can be appended and no file created; with ``directory``: in there."""
        self._directory = directory
        self.is_full = True

    def make_room(self) -> None:
        """From now on, there is space."""
        self.is_full = False

    def pwrite(self, fd: int, data: memoryview, position: int) -> int:
        """``os.pwrite``, which needs no space within the file."""
        if self.is_full and self._has(f"/proc/self/fd/{fd}"):
            room = os.fstat(fd).st_size - position
            if room <= 0:
                self._check()
            data = memoryview(data)[:room]
        return self._pwrite(fd, data, position)

    def open(self, path: Any, flags: int, *arguments: Any, **named: Any) -> int:
        """``os.open``, which needs space only for a new file."""
        if flags & os.O_CREAT and not os.path.exists(path):
            self._check(path)
        return self._open(path, flags, *arguments, **named)

    def _check(self, path: Any = None) -> None:
        if self.is_full and (path is None or self._has(path)):
            raise OSError(self.errno, os.strerror(self.errno), path)

    def _has(self, path: Any) -> bool:
        return self._directory is None or Path(path).resolve().is_relative_to(self._directory.resolve())


class SmallDisk:
    """A tmpfs at ``directory``, with a file of zeros that takes up its space."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._ballast = directory / "ballast"

    def fill(self, leave_bytes: int = 0) -> None:
        """Take all space except ``leave_bytes``."""
        with self._ballast.open("ab", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(4096))
        if leave_bytes:
            with self._ballast.open("r+b") as file:
                file.truncate(max(0, self._ballast.stat().st_size - leave_bytes))

    def make_room(self) -> None:
        """Release what ``fill`` has taken."""
        self._ballast.unlink(missing_ok=True)


@contextlib.contextmanager
def mounted_tmpfs(directory: Path, options: str) -> Iterator[SmallDisk]:
    """Mount a tmpfs at ``directory``; skips the test if this user may not."""
    directory.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(directory)]
    try:
        mounted = subprocess.run(mount, capture_output=True, text=True, check=False)
    except OSError as error:
        pytest.skip(f"there is no mount(8): {error}")
    if mounted.returncode != 0:
        pytest.skip(f"a tmpfs may not be mounted here: {mounted.stderr.strip()}")
    try:
        yield SmallDisk(directory)
    finally:
        # Lazily: the file system is released when the last process of a test has ended.
        subprocess.run(["umount", "--lazy", str(directory)], check=True)
