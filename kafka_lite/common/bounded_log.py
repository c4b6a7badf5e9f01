"""A log of one request: its first lines, and the number of the others.

Kafka 0.10.2: none; there every topic of a request that is refused is a line · book 2.3.5
"""

from __future__ import annotations

import logging
from types import TracebackType
from typing import Protocol, Self

MAX_LINES = 20
"""How many lines one request may log: it may name fifty thousand topics, and the disk of the log is finite."""


class Log(Protocol):
    """The part of ``logging.Logger`` that code with many lines to log uses."""

    def log(self, level: int, msg: str, *args: object, exc_info: BaseException | None = None) -> None:
        """Log a line, with a traceback if ``exc_info`` is an error."""
        ...


class BoundedLog:
    """Passes the first ``max_lines`` lines on to a logger; on exit it logs how many more there were.

    One thread uses it, within ``with``.
    """

    def __init__(self, logger: logging.Logger, max_lines: int = MAX_LINES) -> None:
        self._logger = logger
        self._left = max_lines
        self._dropped = 0
        self._level = logging.NOTSET  # the highest of the lines that were dropped

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._dropped:
            self._logger.log(self._level, "%d more lines of the same request are not logged", self._dropped)

    def log(self, level: int, msg: str, *args: object, exc_info: BaseException | None = None) -> None:
        """Log a line, or count it."""
        if self._left:
            self._left -= 1
            self._logger.log(level, msg, *args, exc_info=exc_info)
        elif self._logger.isEnabledFor(level):
            self._dropped += 1
            self._level = max(self._level, level)
