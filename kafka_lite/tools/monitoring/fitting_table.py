"""A table that leaves out columns instead of truncating their cells.

Kafka has no such tool · book 6.2
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table

NAME_ROOM = 30
"""How many characters of a name are kept as long as there is another column to leave out."""
_ANY_WIDTH = 10_000


@dataclass(frozen=True)
class Column:
    """A column of a :class:`FittingTable`."""

    name: str
    justify: Literal["left", "right"] = "right"
    style: str = ""
    is_name: bool = False
    """Whether its cells may be shortened, but not below ``NAME_ROOM`` characters before other columns are left out."""
    expendable: int = 0
    """The column with the highest number is left out first; 0: never."""


class FittingTable:
    """Rows under columns, of which as many are drawn as fit into the width of the console."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = columns
        self._rows: list[tuple[Sequence[RenderableType], str]] = []
        self._section_ends: set[int] = set()

    def add_row(self, *cells: RenderableType, style: str = "") -> None:
        """Add a row with one cell for each column."""
        self._rows.append((cells, style))

    def add_section(self) -> None:
        """Draw a line below the rows so far."""
        self._section_ends.add(len(self._rows))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The table with the columns that fit."""
        shown = list(self._columns)
        while self._needed_width(console, options, shown) > options.max_width:
            least = max(shown, key=lambda column: column.expendable)
            if not least.expendable:
                break
            shown.remove(least)
        yield self._table(shown)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """The width of the table with all columns and whole names."""
        return Measurement.get(console, options, self._table(self._columns))

    def _needed_width(self, console: Console, options: ConsoleOptions, columns: Sequence[Column]) -> int:
        unbounded = options.update(max_width=_ANY_WIDTH)
        return Measurement.get(console, unbounded, self._table(columns, NAME_ROOM)).maximum

    def _table(self, columns: Sequence[Column], name_room: int | None = None) -> Table:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold", expand=False)
        for column in columns:
            table.add_column(
                column.name, justify=column.justify, style=column.style, overflow="ellipsis",
                no_wrap=not column.is_name, max_width=name_room if column.is_name else None,
            )  # fmt: skip
        places = [self._columns.index(column) for column in columns]
        for number, (cells, style) in enumerate(self._rows):
            if number in self._section_ends:
                table.add_section()
            table.add_row(*(cells[place] for place in places), style=style)
        return table
