"""Where failures of disks are reported to.

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
REPEAT_MS = 60_000
"""How long a directory without room is not written of again, ms."""


class LogDirFailureChannel:
    """The log directories whose disks have failed, and a queue of those that nobody has dealt with yet.

    Whoever meets an I/O error reports the directory; every log in it answers KAFKA_STORAGE_ERROR from then on. A
    thread of the broker takes the directories from the queue and gives their partitions up.

    A full disk, an exceeded quota, too many open files or too little memory do not make a directory offline: the write
    that met it has been undone and answered with an error, reads go on, and retention can make room. They are logged
    once a minute, for every request of every client may meet them.
    """

    def __init__(self, time: Time = SYSTEM_TIME) -> None:
        self._time = time
        self._offline: set[Path] = set()
        self._logged_ms: dict[tuple[Path, int], float] = {}
        """When a directory was last written of for an errno that is no failure."""
        self._queue: queue.SimpleQueue[Path | None] = queue.SimpleQueue()
        self._lock = threading.Lock()

    def maybe_add_offline_log_dir(self, log_dir: Path, message: str, error: OSError) -> bool:
        """Note that ``log_dir`` has failed; true when that is news, false too when it is not a failure of the disk."""
        if error.errno in _NOT_A_FAILURE:
            self._log_at_times(log_dir, message, error)
            return False
        with self._lock:
            if log_dir in self._offline:
                return False
            self._offline.add(log_dir)
        logger.error("%s: %s; log directory %s goes offline", message, error, log_dir)
        self._queue.put(log_dir)
        return True

    def _log_at_times(self, log_dir: Path, message: str, error: OSError) -> None:
        now_ms, key = self._time.hi_res_ms(), (log_dir, error.errno or 0)
        with self._lock:
            if now_ms - self._logged_ms.get(key, -math.inf) < REPEAT_MS:
                return
            self._logged_ms[key] = now_ms
        logger.error("%s: %s; the like is not logged again for %d ms", message, error, REPEAT_MS)

    def has_offline_log_dir(self, log_dir: Path) -> bool:
        """Whether the directory has failed."""
        return bool(self._offline) and log_dir in self._offline

    def take_next_offline_log_dir(self, timeout_ms: float) -> Path | None:
        """The next directory that has failed; None when there is none within ``timeout_ms``, or for ``wake_up``."""
        try:
            return self._queue.get(timeout=timeout_ms / 1000)
        except queue.Empty:
            return None

    def wake_up(self) -> None:
        """Make a ``take_next_offline_log_dir`` that waits return None: its thread is to stop."""
        self._queue.put(None)
