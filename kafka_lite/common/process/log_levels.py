"""log4j's levels in Python's ``logging``, and functions that read and set the loggers of the running process.

Kafka 0.10.2: core/.../utils/Log4jController.scala, Logging.scala · book 10.1
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from kafka_lite.common.time import Time

TRACE = 5
"""Below DEBUG: every single state change, every field of a request. Use ``logger.log(TRACE, "…", …)``."""

LEVELS = {
    "TRACE": TRACE,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
}
"""log4j's names of the levels, lowest first."""

ROOT_LOGGER = "root"

_NAMES = {number: name for name, number in LEVELS.items()}


def level_name(level: int) -> str:
    """log4j's name of a level; a number between two levels gets the lower one's name, which logs no less."""
    return _NAMES[max((number for number in _NAMES if number <= level), default=TRACE)]


def loggers() -> dict[str, str]:
    """All loggers of this process with their effective level: their own, or that of the nearest ancestor.

    A package also counts if only modules below it have a logger: setting its level applies to all of them.
    """
    found = {ROOT_LOGGER: level_name(logging.root.level)}
    for name in sorted(logging.root.manager.loggerDict):
        found[name] = level_name(_effective_level(name))
    return found


def logger_exists(name: str) -> bool:
    """Whether the logger exists; a logger that nothing writes to has no level to change."""
    return name == ROOT_LOGGER or name in logging.root.manager.loggerDict


def set_level(name: str, level: str) -> None:
    """Set the level of an existing logger. Raises KeyError if the level is not in LEVELS."""
    _logger(name).setLevel(LEVELS[level])


class Loggers:
    """The loggers of this process, and when their levels were changed. Kafka: connect/.../runtime/Loggers.java."""

    def __init__(self, time: Time) -> None:
        self._time = time
        self._lock = threading.Lock()
        self._modified_ms: dict[str, int] = {}

    def levels(self) -> dict[str, tuple[str, int | None]]:
        """Of all loggers: their effective level, and when that was changed here, ms since 1970; None if it was not."""
        with self._lock:
            return {name: (level, self._modified_ms.get(name)) for name, level in loggers().items()}

    def set_level(self, name: str, level: str) -> list[str]:
        """Set the level of a logger and of all below it; one that does not exist is made. Returns their names, sorted.

        Raises KeyError if the level is not in LEVELS.
        """
        with self._lock:
            before = loggers()
            set_level(name, level)
            below = [each for each in loggers() if _is_below(each, name)]
            for each in below:
                if isinstance(logging.root.manager.loggerDict.get(each), logging.Logger):
                    unset_level(each)  # so that it inherits the new one
            now_ms = self._time.milliseconds()
            changed = [each for each in (name, *below) if before.get(each) != level]
            self._modified_ms.update(dict.fromkeys(changed, now_ms))
            return sorted([name, *below])


def _is_below(name: str, ancestor: str) -> bool:
    return name != ROOT_LOGGER if ancestor == ROOT_LOGGER else name.startswith(f"{ancestor}.")


def unset_level(name: str) -> None:
    """Remove a logger's own level, so that it inherits its parent's."""
    _logger(name).setLevel(logging.NOTSET)


def _logger(name: str) -> logging.Logger:
    return logging.root if name == ROOT_LOGGER else logging.getLogger(name)


def _effective_level(name: str) -> int:
    """Like ``Logger.getEffectiveLevel``, but does not create a logger for a package that has none."""
    while name:
        logger = logging.root.manager.loggerDict.get(name)
        if isinstance(logger, logging.Logger) and logger.level:
            return logger.level
        name = name.rpartition(".")[0]
    return logging.root.level


@contextmanager
def quiet(*names: str, below: int = logging.CRITICAL) -> Iterator[None]:
    """Suppress messages of these loggers below a level within the block."""
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(below)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
