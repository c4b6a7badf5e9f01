"""Notes which files of the project a process opens for reading. It runs as ``sitecustomize`` at the start of a process.

Nothing is imported but the standard library: each module of the project that is imported here would count as one that
the process has used. An import opens the compiled module in ``__pycache__``; its source is noted.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from typing import Any, Final

NOTES: Final = "KAFKA_LEARN_NOTES_OPENED_FILES"
"""The environment variable that names the file of notes: one path in each line, from the project's root."""
ROOT: Final = "KAFKA_LEARN_ROOT_OF_OPENED_FILES"
"""The environment variable that names the project's root."""
NOT_OF_THE_PROJECT: Final = (".", "site/", "build/", "dist/")
"""Beginnings of the paths that are made of the project: .build, .venv and others."""
_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_CACHE: Final = "__pycache__"


def source_of(path: str) -> str:
    """The source of a compiled module; other paths are as they were.

    >>> source_of("kafka_lite/log/__pycache__/log.cpython-313.pyc"), source_of("chapters/book.toml")
    ('kafka_lite/log/log.py', 'chapters/book.toml')
    """
    folder, _, name = path.rpartition("/")
    if not name.endswith(".pyc") or folder.rpartition("/")[2] != _CACHE:
        return path
    return f"{folder.removesuffix(_CACHE)}{name.partition('.')[0]}.py"


class OpenedFiles:
    """An audit hook: Python calls it for each file that the process opens."""

    def __init__(self, root: str, note: Callable[[str], object]) -> None:
        """``note`` is called once for each file, with its path from the root."""
        self._root = root + os.sep
        self._note = note
        self._seen: set[str] = set()
        # The simulator replaces functions of os in its copies of modules; these are the real ones.
        self._absolute = os.path.abspath

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Python's hook: ``open`` comes with the path, the mode and the flags."""
        if event != "open" or len(arguments) != 3 or not isinstance(arguments[0], str):
            return
        given, _, flags = arguments
        if given in self._seen or (isinstance(flags, int) and flags & _WRITES):
            return
        self._seen.add(given)
        path = given if given.startswith("/") else self._absolute(given)
        if path.startswith(self._root):
            relative = source_of(path.removeprefix(self._root))
            if not relative.startswith(NOT_OF_THE_PROJECT):
                self._note(relative)


def install() -> None:
    """Note what this process opens, if its environment asks for it."""
    if NOTES in os.environ and ROOT in os.environ:
        sys.addaudithook(OpenedFiles(os.environ[ROOT], appending_to(os.environ[NOTES])))


def appending_to(notes: str) -> Callable[[str], None]:
    """A function that adds a line to a file, which other processes write, too.

    It opens the file each time: a daemon closes all files that its parent had open, and uses their numbers again.
    Without the file's folder it does nothing: what was to be noted is over.
    """
    open_, write, close = os.open, os.write, os.close

    def note(path: str) -> None:
        with contextlib.suppress(OSError):
            number = open_(notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                write(number, f"{path}\n".encode())
            finally:
                close(number)

    return note


if __name__ == "sitecustomize":
    install()
