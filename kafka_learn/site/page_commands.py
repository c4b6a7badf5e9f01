"""The commands of pages that are shown, but not run with their page: blocks of a console without the mark ``run``.

A page may show what takes a second machine, a password or an evening. Each such command is run by another test, with
its own folders and ports; ``tests/data/commands-of-pages.toml`` says by which.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_BLOCK = re.compile(r"^(?P<indent> *)```console\n(?P<body>.*?)^ *```$", re.MULTILINE | re.DOTALL)
_PROMPT = "$ "
_COMMENT = re.compile(r"\s+#\s.*$")


@dataclass(frozen=True)
class ShownCommand:
    """A command and the line of the page where it begins."""

    line: int
    text: str


def shown_commands(text: str) -> Iterator[ShownCommand]:
    r"""The commands of a page's Markdown that are not run with it, without comments, each on one line.

    >>> [command.text for command in shown_commands("```console\n$ cat a \\\n    b   # both\nx\n```\n")]
    ['cat a b']
    """
    for block in _BLOCK.finditer(text):
        first = text[: block.start()].count("\n") + 2
        rows = [row.removeprefix(block["indent"]) for row in block["body"].splitlines()]
        for number, row in enumerate(rows):
            if row.startswith(_PROMPT):
                yield ShownCommand(first + number, _joined(rows[number:]))


def _joined(rows: list[str]) -> str:
    """A command with the lines on which it continues."""
    command = rows[0].removeprefix(_PROMPT)
    for row in rows[1:]:
        if not command.endswith("\\"):
            break
        command = command.removesuffix("\\").rstrip() + " " + row.strip().removeprefix("> ")
    return _COMMENT.sub("", command).strip()
