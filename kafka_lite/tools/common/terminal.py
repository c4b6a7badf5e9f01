"""Output of the tools: tables and colours on a terminal, Kafka's plain text in a pipe.

Scripts that parse Kafka's tools work with ours: only plain text ever reaches a file or another program.
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
    """Codec error handler: the replacement for characters that the encoding lacks, and the position after them.

    Bytes of a file name that are not text in this locale are written unchanged, other characters as ``\\u6570``.
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
    """Make stdout and stderr accept any text, whatever their encoding: ``LC_ALL=POSIX`` must not crash a tool."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=SHOW)


def own_command() -> str:
    """The command to type for ``kafka-lite``: the path as typed if it is not on the PATH."""
    typed = sys.argv[0] if Path(sys.argv[0]).name == COMMAND else COMMAND
    return COMMAND if shutil.which(COMMAND) else typed


def on_terminal(stream: TextIO | None = None) -> bool:
    """Whether the stream (default: stdout) is a terminal that supports more than plain text."""
    return (stream or sys.stdout).isatty() and os.environ.get("TERM") != "dumb"


def has_colour(stream: TextIO | None = None) -> bool:
    """Whether to use colours on the stream; ``NO_COLOR`` disables them (no-color.org)."""
    return on_terminal(stream) and not os.environ.get("NO_COLOR")


def styled(text: str, style: str, stream: TextIO | None = None) -> str:
    """The text in a style such as ``"bold red"``, unchanged if colours are disabled."""
    if not has_colour(stream):
        return text
    codes = ";".join(_CODES[word] for word in style.split())
    return f"\x1b[{codes}m{text}{_RESET}"


def print_error(message: object) -> None:
    """Print one line to stderr, red on a terminal. Line breaks in the message become spaces."""
    line = " ".join(str(message).split())
    print(styled(line, "red", sys.stderr), file=sys.stderr)


def print_to_stderr(line: str) -> None:
    """Print a line that is part of the result but not of what scripts read from stdout."""
    print(line, file=sys.stderr)


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str = "",
    right: Iterable[str] = (),
    styles: dict[str, str] | None = None,
) -> None:
    """Print a ``rich`` table on stdout, as wide as the terminal. For terminals only: a pipe gets Kafka's text.

    ``right`` names the right-aligned columns; ``styles`` maps columns to ``rich`` styles.
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
        console.print(Text(title, style="bold"), soft_wrap=True)  # a table title would wrap at the table's width
    console.print(table)
