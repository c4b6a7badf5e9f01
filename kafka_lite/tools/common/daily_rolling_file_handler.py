"""A log file that rolls every hour, every day, or at whatever interval its pattern defines, and keeps old files.

Kafka 0.10.2: config/log4j.properties (log4j's DailyRollingFileAppender) · book 1.4.1
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import logging.handlers
import os
import sys
import time
from pathlib import Path

from platformdirs import user_log_dir

DIRECTORY_VARIABLE = "LOG_DIR"
"""As in Kafka's scripts: the directory of the application's log files (topic logs are in ``log.dirs``)."""


def logs_directory() -> Path:
    """``LOG_DIR``, or else the user's log directory."""
    return Path(os.environ.get(DIRECTORY_VARIABLE) or user_log_dir("kafka-lite", appauthor=False))


class DailyRollingFileHandler(logging.handlers.BaseRotatingHandler):
    """Writes ``server.log`` and renames it to ``server.log.2026-11-21-14`` when ``pattern`` yields a new text.

    ``pattern`` is a ``strftime`` pattern. log4j's name says "daily", but Kafka's files roll every hour. Files are never
    deleted. A file left by an earlier process is continued or rolled according to its modification time.

    If the disk is full, lines are lost; this is reported once on stderr, not with a traceback per line.
    """

    def __init__(self, file: str, pattern: str = ".%Y-%m-%d-%H") -> None:
        """``file`` is relative to ``logs_directory()``, which is created if missing. Raises OSError."""
        self._pattern = pattern
        self._is_failing = False
        path = logs_directory() / file
        path.parent.mkdir(parents=True, exist_ok=True)
        self._period = self._period_of(path.stat().st_mtime if path.exists() else time.time())
        super().__init__(path, "a", encoding="utf-8", errors="backslashreplace")

    def _period_of(self, timestamp_s: float) -> str:
        return time.strftime(self._pattern, time.localtime(timestamp_s))

    def shouldRollover(self, record: logging.LogRecord) -> bool:  # noqa: N802  (the name is the base class's)
        """Whether a record belongs in the next file."""
        return self._period_of(record.created) != self._period

    def doRollover(self) -> None:  # noqa: N802
        """Rename the file after its period and start a new one.

        If the rename fails, the old file is continued: a growing log is better than lost lines.
        """
        if self.stream:
            with contextlib.suppress(OSError):  # its buffered lines are already lost
                self.stream.close()
            self.stream = None  # if _open fails below, the next record tries again
        with contextlib.suppress(OSError):
            Path(self.baseFilename).rename(self._free_name())
        self._period = self._period_of(time.time())
        self.stream = self._open()

    def flush(self) -> None:
        """Flush buffered lines. Raises OSError."""
        super().flush()
        self._is_failing = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Handle a record that could not be written, for example because the disk is full."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
        elif not self._is_failing:
            self._is_failing = True
            print(f"Lines of {self.baseFilename} are lost: {error.strerror}", file=sys.stderr)

    def _free_name(self) -> Path:
        """An unused file name: the hour repeated at the end of DST must not overwrite the first one's file."""
        name = self.baseFilename + self._period
        names = itertools.chain([name], (f"{name}.{number}" for number in itertools.count(1)))
        return next(path for path in map(Path, names) if not path.exists())
