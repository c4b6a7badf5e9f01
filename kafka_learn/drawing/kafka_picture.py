"""Draws Kafka as panels of tiles: clients on both sides of a cluster, or one below the other on a phone.

The drawing knows nothing of Kafka but its shape: what writes is on the left, what reads on the right, the brokers and
ZooKeeper between them. Each tile leads to a page.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kafka_learn.drawing.svg import INK, PALETTE, Canvas, Point, shorten, text_width

TEXT = 12.0
"""The size of all text, in CSS pixels: the drawing is never shown smaller than it is."""
TILE = 44.0
GAP = 8.0
PADDING = 12.0
HEAD = 28.0
BETWEEN = 40.0
"""The space between panels, across which arrows lead."""
SIDE, MIDDLE, CHANNEL = 186.0, 424.0, 72.0
PHONE = 340.0
PHONE_TILES = 2
"""Tiles side by side on a phone."""
LEGEND = 34.0

MARKS = {"here": "●", "partly": "◐", "not yet": "○"}


@dataclass(frozen=True)
class Tile:
    """A part with a link; ``presence`` is a key of ``MARKS``, ``title`` what is read aloud and shown on hovering."""

    name: str
    note: str
    href: str
    presence: str
    title: str


@dataclass(frozen=True)
class Panel:
    """Tiles in rows below a title, in a colour of the palette."""

    title: str
    rows: tuple[tuple[Tile, ...], ...]
    colour: str = PALETTE[0]

    def height(self) -> float:
        """Its height, in pixels."""
        return HEAD + len(self.rows) * (TILE + GAP) + PADDING - GAP

    def for_phone(self) -> Panel:
        """The same tiles, at most two in a row."""
        tiles = [tile for row in self.rows for tile in row]
        rows = (tuple(tiles[start : start + PHONE_TILES]) for start in range(0, len(tiles), PHONE_TILES))
        return Panel(self.title, tuple(rows), self.colour)


@dataclass(frozen=True)
class KafkaPicture:
    """The cluster and its clients.

    ``calls`` are the words on the arrows: from what writes, to what reads, from the followers, and to ZooKeeper.
    ``legend`` has a word for each key of ``MARKS``.
    """

    writes: Panel
    broker: Panel
    followers: Panel
    zookeeper: Panel
    reads: Panel
    calls: tuple[str, str, str, str]
    legend: tuple[tuple[str, str], ...]
    label: str

    def wide(self) -> str:
        """The picture for a desktop: clients left and right of the cluster."""
        canvas = Canvas()
        left, right = 0.0, SIDE + CHANNEL + MIDDLE + CHANNEL
        middle = SIDE + CHANNEL
        height = self.broker.height()
        panel(canvas, (left, 0), SIDE, self.writes)
        panel(canvas, (middle, 0), MIDDLE, self.broker)
        panel(canvas, (right, 0), SIDE, self.reads)
        across(canvas, (left + SIDE, height / 2), CHANNEL, self.calls[0])
        across(canvas, (middle + MIDDLE, height / 2), CHANNEL, self.calls[1])
        below, half = height + BETWEEN, (MIDDLE - 2 * GAP) / 2
        panel(canvas, (middle, below), half, self.followers)
        panel(canvas, (middle + half + 2 * GAP, below), half, self.zookeeper)
        upright(canvas, (middle + half / 2, height), BETWEEN, self.calls[2], up=True)
        upright(canvas, (middle + MIDDLE - half / 2, height), BETWEEN, self.calls[3], up=False)
        bottom = below + max(self.followers.height(), self.zookeeper.height())
        self._legend(canvas, (left, bottom - 4), SIDE)
        return canvas.svg(right + SIDE, bottom + 2, self.label, role="group")

    def narrow(self) -> str:
        """The picture for a phone: one panel below the other, in the order of a message's way."""
        canvas = Canvas()
        panels = [each.for_phone() for each in (self.writes, self.broker, self.reads, self.followers, self.zookeeper)]
        y = 0.0
        for number, each in enumerate(panels):
            panel(canvas, (0, y), PHONE, each)
            y += each.height()
            if number < 2:
                upright(canvas, (PHONE / 2, y), BETWEEN, self.calls[number], up=False)
                y += BETWEEN
            else:
                y += 2 * GAP
        self._legend(canvas, (0, y + LEGEND - GAP), PHONE)
        return canvas.svg(PHONE, y + LEGEND, self.label, role="group")

    def _legend(self, canvas: Canvas, at: Point, width: float) -> None:
        """The marks and their words, in one line, or one below the other if they do not fit; ``at`` is lower left."""
        words = [f"{MARKS[presence]} {text}" for presence, text in self.legend]
        fits = sum(text_width(each, TEXT) + 2 * GAP for each in words) <= width
        x, y = at[0], at[1] if fits else at[1] - (len(words) - 1) * (TEXT + GAP)
        for each in words:
            canvas.text((x, y), each, size=TEXT)
            x, y = (x + text_width(each, TEXT) + 2 * GAP, y) if fits else (x, y + TEXT + GAP)


def panel(canvas: Canvas, at: Point, width: float, shown: Panel) -> None:
    """Draw a panel with its upper left corner ``at``."""
    canvas.box(at, (width, shown.height()), fill=shown.colour, opacity=0.07, stroke=shown.colour, radius=10)
    canvas.text((at[0] + width / 2, at[1] + 19), shown.title, size=TEXT, anchor="middle", bold=True)
    y = at[1] + HEAD
    for row in shown.rows:
        each = (width - 2 * PADDING - (len(row) - 1) * GAP) / len(row)
        for x, tile in zip(itertools.count(at[0] + PADDING, each + GAP), row, strict=False):
            draw_tile(canvas, (x, y), each, tile, shown.colour)
        y += TILE + GAP


def draw_tile(canvas: Canvas, at: Point, width: float, tile: Tile, colour: str) -> None:
    """Draw a tile: filled if the part is there, with a broken outline if something of it is missing."""
    centre = at[0] + width / 2
    is_there = tile.presence == "here"
    with canvas.link(tile.href, tile.title, "part"):
        opacity = 0.2 if is_there else 0.08
        dash = "" if is_there else "4 3"
        canvas.box(at, (width, TILE), fill=colour, opacity=opacity, stroke=colour, radius=5, dash=dash)
        canvas.text((centre, at[1] + 18), shorten(tile.name, width - 8, TEXT), size=TEXT, anchor="middle", bold=True)
        note = f"{tile.note} {MARKS[tile.presence]}"
        canvas.text((centre, at[1] + 35), note, size=TEXT, anchor="middle", opacity=0.8)


def across(canvas: Canvas, start: Point, length: float, words: str) -> None:
    """An arrow to the right, with its words above it."""
    x, y = start
    canvas.line((x + 4, y), (x + length - 4, y), stroke=INK)
    canvas.arrow_head((x + length - 3, y), to_right=True)
    canvas.text((x + length / 2, y - 8), words, size=TEXT, anchor="middle")


def upright(canvas: Canvas, start: Point, length: float, words: str, *, up: bool) -> None:
    """A vertical arrow below ``start``, with its words beside it."""
    x, y = start
    canvas.line((x, y + 4), (x, y + length - 4), stroke=INK)
    canvas.vertical_arrow_head((x, y + 3 if up else y + length - 3), down=not up)
    canvas.text((x + 8, y + length / 2 + 4), words, size=TEXT)


def tiles_of(panels: Iterable[Panel]) -> Sequence[Tile]:
    """All tiles, in order."""
    return [tile for each in panels for row in each.rows for tile in row]
