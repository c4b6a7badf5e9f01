"""Error handling of the tools: one line that says what to do, and exit code 1.

Kafka 0.10.2: core/.../utils/CommandLineUtils.scala · book 1.4.1
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable

from kafka_lite.common.errors import KafkaError
from kafka_lite.tools.terminal import print_error

Run = Callable[[argparse.Namespace], int]


class ToolError(KafkaError):
    """An error that the user can fix; the message says how, in one line."""


def reports_errors(run: Run) -> Run:
    """Decorator for a tool's ``run``: errors become one line on stderr and exit code 1; bugs still show a traceback."""

    @functools.wraps(run)
    def reporting(options: argparse.Namespace) -> int:
        try:
            return run(options)
        except (KafkaError, OSError) as error:
            if isinstance(error, BrokenPipeError):
                raise
            print_error(_in_words(error))
            return 1

    return reporting


def _in_words(error: Exception) -> str:
    """The error's text, without the errno that Python adds to file errors."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error)
