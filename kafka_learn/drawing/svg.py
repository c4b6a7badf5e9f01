"""Writes SVG for drawings that are not graphs, where Graphviz does not help.

Drawings work on light and dark pages: lines and text use the page's colour, and the halo behind text uses the
background's. They contain no ids and no style sheets, so a page may have many. What most shapes share stands once, on
the ``<svg>``: a page may have hundreds of kilobytes of figures.
"""

from __future__ import annotations

import html
import math
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

FONT = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', 'Noto Sans Mono CJK SC', monospace"
BACKGROUND = "var(--bg)"
"""The colour of the page or of the notebook, which ``Canvas.svg`` looks up once."""
INK = "currentColor"
_TEXT_SIZE = 12.0
_SHARED = (
    f"--bg:var(--md-default-bg-color, var(--jp-layout-color0, Canvas));fill:{INK};stroke-linejoin:round;"
    f"font-size:{_TEXT_SIZE:.0f}px"
)
"""The style that all shapes of a drawing have unless they say otherwise."""

# At least 3:1 against white and against the site's dark background.
PALETTE = ("#3b78e7", "#c96a00", "#1f9254", "#a14fcf", "#d93f46", "#12888f", "#96703a", "#7a7a85")

LEAST_TEXT = 12.0
"""The smallest text of a figure, in CSS pixels, at the smallest size at which a page shows the figure."""
_CHARACTER_WIDTH = 0.602
"""Character width of monospaced fonts, relative to the font size."""
_ARROW = 6.0

Point = tuple[float, float]


class Canvas:
    """Collects shapes; ``svg`` assembles them."""

    def __init__(self) -> None:
        self._rows: list[str] = []
        self._smallest_text = math.inf

    def line(
        self, a: Point, b: Point, *, stroke: str = INK, width: float = 1, dash: str = "", opacity: float = 1
    ) -> None:
        """A straight line."""
        self._shape("line", x1=a[0], y1=a[1], x2=b[0], y2=b[1], **_stroke(stroke, width, dash, opacity))

    def path(self, points: Sequence[Point], *, stroke: str = INK, width: float = 1, dash: str = "") -> None:
        """A line with corners."""
        drawn = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
        self._shape("polyline", points=drawn, fill="none", **_stroke(stroke, width, dash, 1))

    def arrow_head(self, tip: Point, *, to_right: bool, fill: str = INK, is_open: bool = False) -> None:
        """The head of a horizontal arrow."""
        x, y = tip
        back = x - _ARROW if to_right else x + _ARROW
        points = [(back, y - 3.5), (x, y), (back, y + 3.5)]
        if is_open:
            self.path(points, stroke=fill, width=1.2)
            return
        self._polygon(points, fill)

    def box(
        self,
        at: Point,
        size: Point,
        *,
        fill: str = "none",
        stroke: str = "none",
        opacity: float = 1,
        radius: float = 0,
        dash: str = "",
    ) -> None:
        """A rectangle, given its upper left corner; ``opacity`` is that of its fill."""
        shape: dict[str, object] = {
            "x": at[0],
            "y": at[1],
            "width": size[0],
            "height": size[1],
            "style": f"fill:{fill}",
        }
        if opacity != 1:
            shape["fill-opacity"] = opacity
        if radius:
            shape["rx"] = radius
        if stroke != "none":
            shape |= _stroke(stroke, 1, dash, 1)
        self._shape("rect", **shape)

    def text(
        self,
        at: Point,
        words: str,
        *,
        size: float = _TEXT_SIZE,
        anchor: str = "start",
        opacity: float = 1,
        bold: bool = False,
        halo: bool = False,
        fill: str = INK,
    ) -> None:
        """Text on a baseline; ``halo`` keeps it readable above lines.

        Raises ValueError for text that nobody can read without a lens.
        """
        if size < LEAST_TEXT:
            raise ValueError(f"text of {size:g} pixels is too small: at least {LEAST_TEXT:g}")
        if not words:
            return
        self._smallest_text = min(self._smallest_text, size)
        shape: dict[str, object] = {"x": at[0], "y": at[1]}
        if size != _TEXT_SIZE:
            shape["font-size"] = size
        if fill != INK:
            shape["fill"] = fill
        if anchor != "start":
            shape["text-anchor"] = anchor
        if opacity != 1:
            shape["fill-opacity"] = opacity
        if bold:
            shape["font-weight"] = "bold"
        if halo:
            shape["style"] = f"paint-order:stroke;stroke:{BACKGROUND};stroke-width:4px"
        self._rows.append(f"<text{_attributes(shape)}>{html.escape(words, quote=False)}</text>")

    def vertical_arrow_head(self, tip: Point, *, down: bool, fill: str = INK) -> None:
        """The head of a vertical arrow."""
        x, y = tip
        back = y - _ARROW if down else y + _ARROW
        self._polygon([(x - 3.5, back), (x, y), (x + 3.5, back)], fill)

    @contextmanager
    def link(self, target: str, title: str, kind: str = "") -> Iterator[None]:
        """Let the shapes drawn in the block lead to a page; ``title`` is the link's name, ``kind`` its CSS class."""
        marks = f' class="{html.escape(kind)}"' if kind else ""
        self._rows.append(f'<a href="{html.escape(target)}" aria-label="{html.escape(title)}"{marks}>')
        self._rows.append(f"<title>{html.escape(title, quote=False)}</title>")
        yield
        self._rows.append("</a>")

    @contextmanager
    def group(self, title: str = "", **data: object) -> Iterator[None]:
        """Group the shapes drawn in the block; ``title`` is their tooltip, ``data`` what a script knows them by."""
        marks = _attributes({f"data-{name}": value for name, value in data.items()})
        tooltip = f"<title>{html.escape(title, quote=False)}</title>" if title else ""
        self._rows.append(f"<g{marks}>{tooltip}")
        yield
        self._rows.append("</g>")

    def svg(self, width: float, height: float, label: str, *, role: str = "img", origin: Point = (0, 0)) -> str:
        """One ``<svg>`` element; ``label`` describes it in words.

        Full size if there is room. If not, it shrinks until its smallest text has ``LEAST_TEXT``, and then it scrolls.
        The ``role`` of a drawing with links is "group": those who cannot see it find the links. ``origin`` is the upper
        left corner of the part that is shown.
        """
        least = width * LEAST_TEXT / self._smallest_text
        size = f"width:{width:.0f}px;min-width:{math.ceil(least)}px;max-width:100%;height:auto"
        opening = (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="{role}" aria-label="{html.escape(label)}" '
            f'viewBox="{_number(origin[0])} {_number(origin[1])} {_number(width)} {_number(height)}" '
            f'style="{size};{_SHARED}" font-family="{FONT}">'
        )
        return "\n".join([opening, *self._rows, "</svg>"])

    def _polygon(self, points: Sequence[Point], fill: str) -> None:
        drawn = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
        self._shape("polygon", points=drawn, **({} if fill == INK else {"fill": fill}))

    def _shape(self, tag: str, **attributes: object) -> None:
        self._rows.append(f"<{tag}{_attributes(attributes)}/>")


def text_width(words: str, size: float = 12) -> float:
    """The width of a text in a monospaced font; Chinese characters are as wide as they are high."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in words)
    return size * (_CHARACTER_WIDTH * (len(words) - wide) + wide)


def shorten(words: str, width: float, size: float = 12) -> str:
    """The text, truncated with an ellipsis if it does not fit into ``width``."""
    if text_width(words, size) <= width:
        return words
    while words and text_width(words + "…", size) > width:
        words = words[:-1]
    return words + "…"


def _stroke(stroke: str, width: float, dash: str, opacity: float) -> dict[str, object]:
    found: dict[str, object] = {"stroke": stroke}
    if width != 1:
        found["stroke-width"] = width
    if dash:
        found["stroke-dasharray"] = dash
    if opacity != 1:
        found["stroke-opacity"] = opacity
    return found


def _attributes(attributes: dict[str, object]) -> str:
    pairs = ((name, _number(value) if isinstance(value, float) else value) for name, value in attributes.items())
    return "".join(f' {name}="{html.escape(str(value))}"' for name, value in pairs)


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
