"""The log of a server process: lines in the layout of Kafka's log4j.properties, on stderr.

Kafka 0.10.2: config/log4j.properties · book 1.4.1
"""

from __future__ import annotations

import logging
import os
import sys

from kafka_lite.common.errors import KafkaError
from kafka_lite.tools import terminal

LEVEL_VARIABLE = "KAFKA_LITE_LOG_LEVEL"

LEVELS = {
    "TRACE": logging.DEBUG,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "WARNING": logging.WARNING,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
}
"""log4j's names of the levels."""

_LOG4J_NAMES = {logging.WARNING: "WARN", logging.CRITICAL: "FATAL"}
_STYLES = {logging.WARNING: "yellow", logging.ERROR: "red", logging.CRITICAL: "bold red"}


class KafkaFormatter(logging.Formatter):
    """``[2026-11-21 12:00:00,123] INFO message (logger)``; warnings and errors are coloured on a terminal."""

    def __init__(self) -> None:
        super().__init__("[%(asctime)s] %(level)s %(message)s (%(name)s)")

    def format(self, record: logging.LogRecord) -> str:
        """One line, and the traceback below it if there is one."""
        record.level = _LOG4J_NAMES.get(record.levelno, record.levelname)
        line = super().format(record)
        style = _STYLES.get(record.levelno)
        return terminal.styled(line, style, sys.stderr) if style else line


def configure_logging() -> None:
    """Send the log of this process to stderr, from the level in ``KAFKA_LITE_LOG_LEVEL`` (default INFO) on.

    Raises KafkaError for a level that does not exist.
    """
    name = os.environ.get(LEVEL_VARIABLE, "INFO")
    if name.upper() not in LEVELS:
        raise KafkaError(f"{LEVEL_VARIABLE} is {name!r}; valid levels: {', '.join(LEVELS)}")
    level = LEVELS[name.upper()]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(KafkaFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    # kazoo tells of every attempt to connect; what matters of that, the ZooKeeper client says itself.
    logging.getLogger("kazoo").setLevel(level if level < logging.INFO else logging.ERROR)
