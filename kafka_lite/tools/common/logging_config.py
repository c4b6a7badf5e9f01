"""Logging of a server process: in the layout of Kafka's log4j.properties, to stderr or as a file configures it.

Kafka 0.10.2: config/log4j.properties, tools-log4j.properties · book 1.4.1
"""

from __future__ import annotations

import logging
import os
import re
import sys
from pathlib import Path

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.process.log_levels import LEVELS, TRACE, level_name
from kafka_lite.tools.common import terminal

LEVEL_VARIABLE = "KAFKA_LITE_LOG_LEVEL"
CONFIG_VARIABLE = "KAFKA_LITE_LOG_CONFIG"

_ONLY_A_VALUE = "%s"
_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
"""Line breaks, and what moves a terminal's cursor or changes its colours; not the tab."""
_STYLES = {logging.WARNING: "yellow", logging.ERROR: "red", logging.CRITICAL: "bold red"}

logging.addLevelName(TRACE, "TRACE")  # so that config files can name it


class KafkaFormatter(logging.Formatter):
    """``[2026-11-21 12:00:00,123] INFO message (logger)``."""

    def __init__(self) -> None:
        super().__init__("[%(asctime)s] %(level)s %(message)s (%(name)s)")

    def format(self, record: logging.LogRecord) -> str:
        """Format one line, followed by the traceback if there is one."""
        record.level = level_name(record.levelno)
        return super().format(record)

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  (logging's name)
        """Show control characters of the message's values as escapes: a client could forge lines with them.

        The text itself may have line breaks. A message that is nothing but a value is a text of this program.
        """
        if record.args and record.msg != _ONLY_A_VALUE and "\n" not in str(record.msg):
            record.message = _CONTROL.sub(lambda match: repr(match[0])[1:-1], record.message)
        return super().formatMessage(record)


class TerminalFormatter(KafkaFormatter):
    """The same for stderr, with coloured warnings and errors if it is a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """Format one line, followed by the traceback if there is one."""
        line = super().format(record)
        style = _STYLES.get(record.levelno)
        return terminal.styled(line, style, sys.stderr) if style else line


def configure_logging(file: Path | None = None, default_level: str = "INFO") -> None:
    """Configure this process's logging from ``file``, or else from the file in ``KAFKA_LITE_LOG_CONFIG``.

    Without either, log to stderr at the level in ``KAFKA_LITE_LOG_LEVEL`` (or else ``default_level``). Raises
    KafkaError for an unknown level and for a file that cannot be read or is invalid.
    """
    if file is None and os.environ.get(CONFIG_VARIABLE):
        file = Path(os.environ[CONFIG_VARIABLE])
    if file is not None:
        _configure_from(file)
        return
    level = _level_of_environment(default_level)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(TerminalFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    # kazoo logs every connection attempt; the ZooKeeper client logs what matters itself.
    logging.getLogger("kazoo").setLevel(level if level < logging.INFO else logging.ERROR)


def _level_of_environment(default: str) -> int:
    name = os.environ.get(LEVEL_VARIABLE, default)
    level = {**LEVELS, "WARNING": logging.WARNING}.get(name.upper())
    if level is None:
        raise KafkaError(f"{LEVEL_VARIABLE} is {name!r}; valid levels: {', '.join(LEVELS)}")
    return level


def _configure_from(file: Path) -> None:
    """Apply a TOML file with the tables of ``logging.config.dictConfig``."""
    # Imported here: not needed for logging to stderr.
    import logging.config
    import tomllib

    try:
        config = tomllib.loads(file.read_text(encoding="utf-8"))
        # The broker's loggers already exist; a file that does not name them must not disable them.
        logging.config.dictConfig({"version": 1, "disable_existing_loggers": False, **config})
    except OSError as error:
        raise KafkaError(f"cannot read the log configuration {file}: {error.strerror}") from error
    except tomllib.TOMLDecodeError as error:
        raise KafkaError(f"log configuration {file}: not valid TOML: {error}") from error
    except ValueError as error:
        cause = f": {error.__cause__}" if error.__cause__ else ""
        raise KafkaError(f"log configuration {file}: {error}{cause}") from error
