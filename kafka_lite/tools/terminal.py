"""What a tool shows: tables and colours to a person at a terminal, Kafka's plain text to a pipe.

Scripts that read Kafka's tools read ours: nothing but the plain text ever reaches a file or another program.
"""

from __future__ import annotations

import codecs
import io
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TextIO

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
COMMAND = "kafka-lite"
_RESET = "\x1b[0m"


def show_what_cannot_be_encoded(error: UnicodeError) -> tuple[bytes, int]:
    """What is written of characters that the terminal's encoding does not have, and where they end.

    Bytes of a file name that are no text in this locale are written as they are; other characters as ``\\u6570``.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    out = bytearray()
    for char in error.object[error.start : error.end]:
        is_byte = "\udc80" <= char <= "\udcff"
        out += bytes([ord(char) - 0xDC00]) if is_byte else char.encode("ascii", "backslashreplace")
    return bytes(out), error.end


SHOW = "kafka_lite.show"
codecs.register_error(SHOW, show_what_cannot_be_encoded)


def accept_all_characters() -> None:
    """Let stdout and stderr take any text, whatever their encoding: ``LC_ALL=POSIX`` must not end a tool."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=SHOW)


def own_command() -> str:
    """What to type for ``kafka-lite`` here: the path that was typed if the shell does not find the name."""
    typed = sys.argv[0] if Path(sys.argv[0]).name == COMMAND else COMMAND
    return COMMAND if shutil.which(COMMAND) else typed


def on_terminal(stream: TextIO | None = None) -> bool:
    """Whether somebody looks at this stream (default: stdout) on a terminal that can do more than plain text."""
    return (stream or sys.stdout).isatty() and os.environ.get("TERM") != "dumb"


def has_colour(stream: TextIO | None = None) -> bool:
    """Whether colours are welcome there; ``NO_COLOR`` refuses them (no-color.org)."""
    return on_terminal(stream) and not os.environ.get("NO_COLOR")


def styled(text: str, style: str, stream: TextIO | None = None) -> str:
    """The text in a style such as ``"bold red"``, unchanged where colours are not welcome."""
    if not has_colour(stream):
        return text
    codes = ";".join(_CODES[word] for word in style.split())
    return f"\x1b[{codes}m{text}{_RESET}"


def print_error(message: object) -> None:
    """One line to stderr, red on a terminal. Line breaks in the message become spaces: an error is one line."""
    line = " ".join(str(message).split())
    print(styled(line, "red", sys.stderr), file=sys.stderr)


def print_to_stderr(line: str) -> None:
    """A line that belongs to the result, but not to what a script reads from stdout."""
    print(line, file=sys.stderr)


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str = "",
    right: Iterable[str] = (),
    styles: dict[str, str] | None = None,
) -> None:
    """A table by ``rich`` on stdout, as wide as the terminal. For terminals only: a pipe gets Kafka's text instead.

    ``right`` names the columns of numbers, which are flushed right; ``styles`` gives columns a ``rich`` style.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    numbers = set(right)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        table.add_column(
            column, justify="right" if column in numbers else "left", style=(styles or {}).get(column), overflow="fold"
        )
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    console = Console(highlight=False)
    if title:
        console.print(Text(title, style="bold"), soft_wrap=True)  # a title of the table would be broken at its width
    console.print(table)
