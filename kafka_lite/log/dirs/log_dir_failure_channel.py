"""Collects the failures of log directories.

Kafka 1.0 and later: core/.../server/LogDirFailureChannel (KIP-112) · book 6.1.5
"""

from __future__ import annotations

import errno
import logging
import math
import queue
import threading
from pathlib import Path

from kafka_lite.common.time import SYSTEM_TIME, Time

logger = logging.getLogger(__name__)

_NOT_A_FAILURE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EMFILE, errno.ENFILE, errno.ENOMEM})
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
REPEAT_MS = 60_000
"""Minimum interval between log messages about a directory that has no room, in ms."""


class LogDirFailureChannel:
    """The log directories that have failed, and a queue of those not handled yet.

    Code that meets an I/O error reports the directory; from then on all of its logs raise KAFKA_STORAGE_ERROR. A thread
    of the broker takes directories from the queue and drops their partitions.

    A full disk, an exceeded quota, too many open files or too little memory do not take a directory offline: the write
    has been undone and failed with an error, reads continue, and retention can free space. Such errors are logged at
    most once a minute, because every request of every client may cause one. A directory without room is among the
    ``full_log_dirs`` until somebody finds room there: other brokers should lead its partitions.
    """

    def __init__(self, time: Time = SYSTEM_TIME) -> None:
        self._time = time
        self._offline: set[Path] = set()
        self._full: frozenset[Path] = frozenset()
        self._logged_ms: dict[tuple[Path, int], float] = {}
        """When an errno that is not a disk failure was last logged for a directory."""
        self._queue: queue.SimpleQueue[Path | None] = queue.SimpleQueue()
        self._lock = threading.Lock()

    def maybe_add_offline_log_dir(self, log_dir: Path, message: str, error: OSError) -> bool:
        """Record that ``log_dir`` has failed. Returns False if it already had, or if ``error`` is no disk failure."""
        if error.errno in _NOT_A_FAILURE:
            self._log_at_times(log_dir, message, error)
            if error.errno in _NO_ROOM and log_dir not in self._full:
                with self._lock:
                    self._full |= {log_dir}
                self.wake_up()
            return False
        with self._lock:
            if log_dir in self._offline:
                return False
            self._offline.add(log_dir)
            self._full -= {log_dir}
        logger.error("%s: %s; log directory %s goes offline", message, error, log_dir)
        self._queue.put(log_dir)
        return True

    def _log_at_times(self, log_dir: Path, message: str, error: OSError) -> None:
        now_ms, key = self._time.hi_res_ms(), (log_dir, error.errno or 0)
        with self._lock:
            if now_ms - self._logged_ms.get(key, -math.inf) < REPEAT_MS:
                return
            self._logged_ms[key] = now_ms
        logger.error("%s: %s; similar errors are not logged for %d ms", message, error, REPEAT_MS)

    def has_offline_log_dir(self, log_dir: Path) -> bool:
        """Whether the directory is offline."""
        return bool(self._offline) and log_dir in self._offline

    @property
    def full_log_dirs(self) -> frozenset[Path]:
        """The directories where a write has failed for lack of room, until ``has_room_again`` is called for them."""
        return self._full

    def has_room_again(self, log_dir: Path) -> None:
        """Take a directory off the full ones, until another write fails there."""
        with self._lock:
            self._full -= {log_dir}

    def take_next_offline_log_dir(self, timeout_ms: float) -> Path | None:
        """Return the next failed directory, or None after ``timeout_ms`` or a ``wake_up``."""
        try:
            return self._queue.get(timeout=timeout_ms / 1000)
        except queue.Empty:
            return None

    def wake_up(self) -> None:
        """Make a waiting ``take_next_offline_log_dir`` return None, so that its thread can stop or look for room."""
        self._queue.put(None)
