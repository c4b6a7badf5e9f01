"""A log file that begins anew with every hour, day or whatever its pattern says, and keeps the old ones.

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
"""As for Kafka's scripts: the directory of the log files (not of the topics' logs, those are ``log.dirs``)."""


def logs_directory() -> Path:
    """``LOG_DIR``, or else the user's directory for logs."""
    return Path(os.environ.get(DIRECTORY_VARIABLE) or user_log_dir("kafka-lite", appauthor=False))


class DailyRollingFileHandler(logging.handlers.BaseRotatingHandler):
    """Writes ``server.log``, and when ``pattern`` gives another text, renames it to ``server.log.2026-11-21-14``.

    ``pattern`` is one of ``strftime``. log4j's name says "daily", but Kafka's files roll every hour. No file is ever
    deleted. A file that an earlier process left is continued, or rolled, by the time of its last change.

    Lines for which the disk has no room are lost; stderr is told once, and not with a traceback for each of them.
    """

    def __init__(self, file: str, pattern: str = ".%Y-%m-%d-%H") -> None:
        """``file`` is relative to ``logs_directory()``, which is made when it is not there. Raises OSError."""
        self._pattern = pattern
        self._is_failing = False
        path = logs_directory() / file
        path.parent.mkdir(parents=True, exist_ok=True)
        self._period = self._period_of(path.stat().st_mtime if path.exists() else time.time())
        super().__init__(path, "a", encoding="utf-8", errors="backslashreplace")

    def _period_of(self, timestamp_s: float) -> str:
        return time.strftime(self._pattern, time.localtime(timestamp_s))

    def shouldRollover(self, record: logging.LogRecord) -> bool:  # noqa: N802  (the name is the base class's)
        """Whether a record belongs into the next file."""
        return self._period_of(record.created) != self._period

    def doRollover(self) -> None:  # noqa: N802
        """Give the file the name of its period, and begin a new one.

        Where that fails the old file is continued: a log that grows is better than lines that are lost.
        """
        if self.stream:
            with contextlib.suppress(OSError):  # of lines that are lost already
                self.stream.close()
            self.stream = None  # so that the next record opens it, if this one cannot
        with contextlib.suppress(OSError):
            Path(self.baseFilename).rename(self._free_name())
        self._period = self._period_of(time.time())
        self.stream = self._open()

    def flush(self) -> None:
        """Write what is buffered. Raises OSError."""
        super().flush()
        self._is_failing = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """The record could not be written, for lack of room for example."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
        elif not self._is_failing:
            self._is_failing = True
            print(f"Lines of {self.baseFilename} are lost: {error.strerror}", file=sys.stderr)

    def _free_name(self) -> Path:
        """The hour that comes twice in autumn must not overwrite itself."""
        name = self.baseFilename + self._period
        names = itertools.chain([name], (f"{name}.{number}" for number in itertools.count(1)))
        return next(path for path in map(Path, names) if not path.exists())
