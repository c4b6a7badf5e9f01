"""Tables of ``kafka-lite top`` in terminals of every width."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from kafka_lite.tools.monitoring.fitting_table import NAME_ROOM, Column, FittingTable

COLUMNS = (
    Column("name", "left", is_name=True),
    Column("first out", expendable=2),
    Column("next", expendable=1),
    Column("kept"),
)


def drawn(width: int, name: str = "n") -> list[str]:
    table = FittingTable(COLUMNS)
    table.add_row(name, "1,000", "2", "3")
    console = Console(file=io.StringIO(), width=width)
    console.print(table)
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert max(map(len, lines)) <= width
    return [line.rstrip() for line in lines if line.strip()]


def test_all_columns_are_drawn_where_there_is_room() -> None:
    assert drawn(80)[0].split() == ["name", "first", "out", "next", "kept"]
    assert drawn(80)[2].split() == ["n", "1,000", "2", "3"]


@pytest.mark.parametrize(("width", "headings"), [(22, ["name", "next", "kept"]), (14, ["name", "kept"])])
def test_the_most_expendable_columns_are_left_out_first(width: int, headings: list[str]) -> None:
    assert drawn(width)[0].split() == headings
    assert "…" not in "".join(drawn(width))


def test_a_name_is_shortened_only_after_all_columns_that_can_be_left_out() -> None:
    name = "n" * 50
    assert name in drawn(80, name)[2]
    shortened = drawn(62, name)[2]
    assert (shortened.split()[1:], shortened.count("n") >= NAME_ROOM) == (["1,000", "2", "3"], True)
    assert drawn(20, name)[0].split() == ["name", "kept"]


def test_a_line_is_left_free_between_sections() -> None:
    table = FittingTable(COLUMNS)
    table.add_row("a", "1", "2", "3")
    table.add_section()
    table.add_row("sum", "1", "2", "3")
    console = Console(file=io.StringIO(), width=80)
    console.print(table)
    lines = [line.strip() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]
    first = next(index for index, line in enumerate(lines) if line.startswith("a "))
    assert (lines[first + 1], lines[first + 2].split()) == ("", ["sum", "1", "2", "3"])


def test_a_measured_table_has_all_columns_and_whole_names() -> None:
    """So that a pipe gets them: it is as wide as what is written to it."""
    table = FittingTable(COLUMNS)
    table.add_row("n" * 200, "1,000", "2", "3")
    console = Console(width=80)
    assert console.measure(table, options=console.options.update(max_width=1000)).maximum > 200
