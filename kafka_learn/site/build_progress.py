"""The progress of a build of the site on stderr: bars on a terminal, and a line for each part at its end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

T = TypeVar("T")
Track = Callable[[Iterable[T], str, int], Iterable[T]]
"""Passes items on while a bar shows how many of them are done: the items, what they are, their number."""

FIRST_BUILD = (
    "The first build records every figure and runs every notebook: some six minutes on two quiet cores. "
    "Later builds redo what has changed."
)


def untracked(items: Iterable[T], _what: str, _total: int) -> Iterable[T]:
    """A ``Track`` that shows nothing."""
    return items


class BuildProgress:
    """Shows the parts of a build, one after the other."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)

    def say(self, text: str) -> None:
        """Print a line."""
        self._console.print(text, highlight=False)

    def track(self, items: Iterable[T], what: str, total: int) -> Iterator[T]:
        """Pass ``total`` items on, with a bar while they are made and used."""
        with self._part(f"{total} {what}", BarColumn(40), MofNCompleteColumn(), total=total) as step:
            for item in items:
                yield item
                step()

    @contextmanager
    def spinner(self, what: str) -> Iterator[None]:
        """Show that a part runs which cannot tell how far it is."""
        with self._part(what, SpinnerColumn(), total=None):
            yield

    @contextmanager
    def _part(self, what: str, *columns: ProgressColumn, total: int | None) -> Iterator[Callable[[], None]]:
        began = time.monotonic()
        shown = Progress(
            TextColumn("  {task.description}"), *columns, TimeElapsedColumn(),
            console=self._console, transient=True, disable=not self._console.is_terminal,
        )  # fmt: skip
        with shown:
            task = shown.add_task(what, total=total)
            yield lambda: shown.advance(task)
        self.say(f"{what}: {time.monotonic() - began:.1f} s")
