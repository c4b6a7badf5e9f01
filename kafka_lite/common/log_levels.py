"""log4j's levels in Python's ``logging``, and what can be asked of, and told to, the loggers of a running process.

Kafka 0.10.2: core/.../utils/Log4jController.scala, Logging.scala · book 10.1
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

TRACE = 5
"""Below DEBUG: every single state change, every field of a request. ``logger.log(TRACE, "…", …)``."""

LEVELS = {
    "TRACE": TRACE,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
}
"""log4j's names of the levels, the lowest first."""

ROOT_LOGGER = "root"

_NAMES = {number: name for name, number in LEVELS.items()}


def level_name(level: int) -> str:
    """log4j's name of a level; for a number between two of them that of the lower one, which lets no less through."""
    return _NAMES[max((number for number in _NAMES if number <= level), default=TRACE)]


def loggers() -> dict[str, str]:
    """All loggers of this process with the level that holds for each, its own or that of the next logger above.

    A package counts, too, when only modules below it have a logger: a level given to it holds for all of them.
    """
    found = {ROOT_LOGGER: level_name(logging.root.level)}
    for name in sorted(logging.root.manager.loggerDict):
        found[name] = level_name(_effective_level(name))
    return found


def logger_exists(name: str) -> bool:
    """Whether there is such a logger: one that nobody writes to has no level to change."""
    return name == ROOT_LOGGER or name in logging.root.manager.loggerDict


def set_level(name: str, level: str) -> None:
    """Give an existing logger a level of its own; KeyError for a level that is not one of LEVELS."""
    _logger(name).setLevel(LEVELS[level])


def unset_level(name: str) -> None:
    """Take a logger's own level away: that of the next logger above holds again."""
    _logger(name).setLevel(logging.NOTSET)


def _logger(name: str) -> logging.Logger:
    return logging.root if name == ROOT_LOGGER else logging.getLogger(name)


def _effective_level(name: str) -> int:
    """As ``Logger.getEffectiveLevel``, without making a logger of a package that has none."""
    while name:
        logger = logging.root.manager.loggerDict.get(name)
        if isinstance(logger, logging.Logger) and logger.level:
            return logger.level
        name = name.rpartition(".")[0]
    return logging.root.level


@contextmanager
def quiet(*names: str, below: int = logging.CRITICAL) -> Iterator[None]:
    """Without what these loggers say below a level, as long as the block takes."""
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(below)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
