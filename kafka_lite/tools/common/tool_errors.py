"""Error handling of the tools: one line that says what to do, exit code 1, or 2 for wrong arguments.

Kafka 0.10.2: core/.../utils/CommandLineUtils.scala · book 1.4.1
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable, Sequence
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

    _given: Sequence[str] = ()

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        """Remember the arguments: an error may be about a misspelt one that argparse does not mention."""
        self._given = list(sys.argv[1:] if args is None else args)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Print the error and the hint to stderr, and exit with code 2."""
        print_error(f"{self.prog}: {self._unknown_options() or message}")
        print_to_stderr(f"Try `{self.prog} --help`.")
        sys.exit(USAGE_ERROR)

    def _unknown_options(self) -> str:
        """The message about flags that do not exist. argparse might only say that the right one is missing."""
        import difflib

        known = sorted(_options_of(self))
        given = self._given[: self._given.index("--")] if "--" in self._given else self._given
        names = [each.partition("=")[0] for each in given if each.startswith("--")]
        unknown = [name for name in names if not any(option.startswith(name) for option in known)]
        if not unknown:
            return ""
        longer = [option for option in known if unknown[0].removeprefix("--") in option]
        close = longer or difflib.get_close_matches(unknown[0], known, n=1)
        return f"unrecognized arguments: {' '.join(unknown)}" + (f". Did you mean {close[0]}?" if close else "")


def _options_of(parser: argparse.ArgumentParser) -> set[str]:
    """The long options of a parser and its subcommands."""
    options: set[str] = set()
    for action in parser._actions:
        options.update(each for each in action.option_strings if each.startswith("--"))
        if isinstance(action, argparse._SubParsersAction):
            options.update(*map(_options_of, action.choices.values()))
    return options


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
