"""Draws a segment with characters: its batches to scale, and where its index entries point.

    offset index   ▼22            ▼24                    ▼28
    log            ▐█████████▐████▐███████▐██████████████▐███████
    time index     ▲12:00:01.000                         ▲12:00:07.250

Kafka 0.10.2: core/.../tools/DumpLogSegments.scala shows the same as lines · book 6.1.3
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from kafka_lite.log.index_entry import OffsetPosition, TimestampOffset

MAX_STRIPS = 6
"""Maximum number of lines of blocks; a larger segment is drawn at a smaller scale."""


class Block(NamedTuple):
    """A batch in the log. ``kind`` determines its colour: the codec or the producer."""

    position: int
    size_in_bytes: int
    last_offset: int
    kind: str


@dataclass(frozen=True)
class Segment:
    """The segment to draw. ``size_in_bytes`` may extend past the last batch if invalid bytes follow."""

    blocks: Sequence[Block]
    size_in_bytes: int
    offset_entries: Sequence[OffsetPosition] = ()
    time_entries: Sequence[TimestampOffset] = ()


class Cell(NamedTuple):
    """One column of a strip: the kind of its batch (None: no batch), and whether the batch begins here."""

    kind: str | None
    begins: bool


@dataclass(frozen=True)
class Strip:
    """A line of blocks: the position of its first byte, its cells, and the lines of marks above and below."""

    position: int
    cells: tuple[Cell, ...]
    offset_marks: str
    time_marks: str


class Pen(NamedTuple):
    """The characters of a picture."""

    down: str
    up: str


UNICODE_PEN, ASCII_PEN = Pen("▼", "▲"), Pen("v", "^")


def bytes_per_column(size_in_bytes: int, width: int) -> int:
    """The scale at which a segment fits into MAX_STRIPS lines."""
    return max(1, math.ceil(size_in_bytes / (width * MAX_STRIPS)))


def draw(segment: Segment, width: int, pen: Pen = UNICODE_PEN) -> list[Strip]:
    """The strips of a segment, each ``width`` columns wide; the last may be shorter."""
    scale = bytes_per_column(segment.size_in_bytes, width)
    columns = math.ceil(segment.size_in_bytes / scale)
    cells = _cells(segment, scale, columns)
    above = _marks(columns, width, [(e.position // scale, f"{pen.down}{e.offset}") for e in segment.offset_entries])
    below = _marks(columns, width, _time_marks(segment, scale, pen))
    strips = []
    for first in range(0, columns, width):
        part = slice(first, first + width)
        strips.append(Strip(first * scale, tuple(cells[part]), above[part].rstrip(), below[part].rstrip()))
    return strips


def _cells(segment: Segment, scale: int, columns: int) -> list[Cell]:
    starts = [block.position for block in segment.blocks]
    end = starts[-1] + segment.blocks[-1].size_in_bytes if starts else 0
    cells, previous = [], -1
    for column in range(columns):
        # The last batch that begins in the column, so that index marks point at the start of their batch.
        number = bisect_right(starts, (column + 1) * scale - 1) - 1 if column * scale < end else -1
        kind = segment.blocks[number].kind if number >= 0 else None
        cells.append(Cell(kind, number != previous))
        previous = number
    return cells


def _time_marks(segment: Segment, scale: int, pen: Pen) -> list[tuple[int, str]]:
    """Marks of the time index: each entry gives an offset, which gives the batch."""
    lasts = [block.last_offset for block in segment.blocks]
    marks = []
    for entry in segment.time_entries:
        number = bisect_left(lasts, entry.offset)
        if number < len(lasts):
            marks.append((segment.blocks[number].position // scale, f"{pen.up}{clock_time(entry.timestamp)}"))
    return marks


def clock_time(timestamp_ms: int) -> str:
    """``12:00:01.250`` (UTC), or the number itself if it is out of range."""
    try:
        return datetime.fromtimestamp(timestamp_ms / 1000, UTC).strftime("%H:%M:%S.%f")[:-3]
    except (ValueError, OverflowError, OSError):
        return str(timestamp_ms)


def _marks(columns: int, width: int, marks: Sequence[tuple[int, str]]) -> str:
    """A line of ``columns`` with all marks, and the labels that fit.

    No label crosses the end of a strip or runs into the next mark.
    """
    line = [" "] * columns
    marks = sorted(mark for mark in marks if mark[0] < columns)
    for number, (column, text) in enumerate(marks):
        following = marks[number + 1][0] if number + 1 < len(marks) else columns
        strip_end = min((column // width + 1) * width, columns)
        fits = column + len(text) < following or (following == columns and column + len(text) <= strip_end)
        shown = text if fits and column + len(text) <= strip_end else text[0]
        line[column : column + len(shown)] = shown
    return "".join(line)


def ascii_cells(strip: Strip, letters: Callable[[str], str]) -> str:
    """A strip without colours: ``|`` where a batch begins, the letter of its kind elsewhere, ``?`` for no batch."""
    return "".join("?" if cell.kind is None else "|" if cell.begins else letters(cell.kind) for cell in strip.cells)
