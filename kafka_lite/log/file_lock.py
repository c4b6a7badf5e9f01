"""A lock between processes: one broker per log directory.

Kafka 0.10.2: core/.../utils/FileLock.scala · book 6.1.5
"""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path
from typing import ClassVar


class FileLock:
    """An exclusive lock on a file, of the kind that Java's FileLock takes: a real Kafka broker respects it too.

    The kernel gives it back when the process ends, however it ends. It is a lock of the process, not of this object:
    a second one in the same process would get it as well, hence the set of files that this process has locked.
    """

    _held: ClassVar[set[str]] = set()
    _held_lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, file: Path) -> None:
        self.file = file
        self._fd = -1

    def try_lock(self) -> bool:
        """Take the lock; false when somebody else has it. Raises OSError when the file cannot be opened."""
        path = os.path.realpath(self.file)
        with self._held_lock:
            if path in self._held:
                return False
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except (BlockingIOError, PermissionError):  # what EAGAIN and EACCES become; both mean that it is locked
                os.close(fd)
                return False
            self._fd = fd
            self._held.add(path)
            return True

    def unlock(self) -> None:
        """Give the lock back, if it was taken."""
        with self._held_lock:
            if self._fd >= 0:
                os.close(self._fd)
                self._fd = -1
                self._held.discard(os.path.realpath(self.file))
