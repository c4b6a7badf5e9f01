"""A lock between processes, so that a log directory has only one broker.

Kafka 0.10.2: core/.../utils/FileLock.scala · book 6.1.5
"""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path
from typing import ClassVar


class FileLock:
    """An exclusive lock on a file, of the same kind as Java's FileLock, so a real Kafka broker respects it too.

    The kernel releases it when the process ends, however it ends. The lock belongs to the process, not to this object:
    another object in the same process could acquire it too, so this class keeps a set of the files it has locked.
    """

    _held: ClassVar[set[str]] = set()
    _held_lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, file: Path) -> None:
        self.file = file
        self._fd = -1

    def try_lock(self) -> bool:
        """Try to acquire the lock. Returns False if it is taken. Raises OSError if the file cannot be opened."""
        path = os.path.realpath(self.file)
        with self._held_lock:
            if path in self._held:
                return False
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except (BlockingIOError, PermissionError):  # EAGAIN and EACCES; both mean that it is locked
                os.close(fd)
                return False
            self._fd = fd
            self._held.add(path)
            return True

    def unlock(self) -> None:
        """Release the lock if it is held."""
        with self._held_lock:
            if self._fd >= 0:
                os.close(self._fd)
                self._fd = -1
                self._held.discard(os.path.realpath(self.file))
