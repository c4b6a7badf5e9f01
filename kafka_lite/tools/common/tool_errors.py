"""Error handling of the tools: one line that says what to do, exit code 1, or 2 for wrong arguments.

Kafka 0.10.2: core/.../utils/CommandLineUtils.scala · book 1.4.1
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable
from typing import NoReturn

from kafka_lite.common.errors import KafkaError
from kafka_lite.tools.common.terminal import print_error, print_to_stderr

Run = Callable[[argparse.Namespace], int]

USAGE_ERROR = 2
"""The exit code for wrong arguments, as argparse and most commands have it."""


class ToolError(KafkaError):
    """An error that the user can fix; the message says how, in one line."""


class ToolArgumentParser(argparse.ArgumentParser):
    """Reports wrong arguments in one line, with a hint to ``--help``, instead of printing the whole usage first."""

    def error(self, message: str) -> NoReturn:
        """Print the error and the hint to stderr, and exit with code 2."""
        print_error(f"{self.prog}: {message}")
        print_to_stderr(f"Try `{self.prog} --help`.")
        sys.exit(USAGE_ERROR)


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
