"""Graphviz drawings that look right on any page: inline SVG without fixed colours for lines and text.

The layout is done by ``dot`` if it is installed, else by ``graphviz-pure``, the same program from PyPI.
"""

from __future__ import annotations

import functools
import html
import math
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import graphviz

from kafka_learn.both_languages import chinese_twin
from kafka_learn.drawing.drawing_words import description_in_chinese, in_chinese
from kafka_learn.drawing.svg import LEAST_TEXT

# Fills that are readable on white and on black; the last two digits are the opacity.
PLAIN = "#80808022"
BLUE = "#3f7fff44"
GREEN = "#2faf5f55"
ORANGE = "#ff9a2f66"
RED = "#ff4f4f55"

PIXELS_OF_A_POINT = 4 / 3
_SVG = re.compile(r"<svg.*</svg>", re.DOTALL)


class Drawing:
    """A graph that displays itself in a notebook and provides SVG for pages."""

    def __init__(self, graph: graphviz.Digraph, alt: str) -> None:
        """``graph`` is complete and has English words; ``alt`` describes the drawing in words."""
        self.graph = graph
        self._alt = alt
        has_words = in_chinese(graph.source) != graph.source
        self.chinese: Callable[[], str] | None = functools.partial(self.svg, "zh") if has_words else None

    def svg(self, language: str = "en") -> str:
        """The drawing as one ``<svg>`` element, without ids so that a page may have many."""
        source, alt = self.graph.source, self._alt
        if language == "zh":
            source, alt = in_chinese(source), description_in_chinese(alt)
        result = subprocess.run(
            [dot_program(), "-Tsvg"], input=source, capture_output=True, text=True, check=True, timeout=60
        )
        found = _SVG.search(result.stdout)
        if found is None:
            raise RuntimeError(f"{dot_program()} drew nothing: {result.stderr}")
        return _adapt(found[0], alt)

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"image/svg+xml": self.svg(), "text/plain": self._alt} | chinese_twin(self)


@functools.cache
def dot_program() -> str:
    """The path of ``dot``. Raises RuntimeError if there is none."""
    beside_python = Path(sys.executable).with_name("graphviz-pure")
    candidates = [shutil.which("dot"), shutil.which("graphviz-pure"), str(beside_python)]
    for program in candidates:
        if program and Path(program).exists():
            return program
    raise RuntimeError("neither dot nor graphviz-pure is installed: pip install graphviz-pure")


def new_graph(rank_direction: str = "TB") -> graphviz.Digraph:
    """An empty graph in the style of the site."""
    graph = graphviz.Digraph(graph_attr={"rankdir": rank_direction, "bgcolor": "transparent", "margin": "0"})
    graph.attr("node", shape="plain", fontname="Courier New", fontsize="12")
    graph.attr("edge", fontname="Courier New", fontsize="12", arrowsize="0.7")
    return graph


def cell(text: str, *, fill: str = "", port: str = "", columns: int = 1, border: int = 1) -> str:
    """One cell of an HTML-like table; line breaks in ``text`` are kept."""
    attributes = f'BORDER="{border}" COLSPAN="{columns}"'
    attributes += f' BGCOLOR="{fill}"' if fill else ""
    attributes += f' PORT="{port}"' if port else ""
    return f"<TD {attributes}>{html.escape(text).replace(chr(10), '<BR/>')}</TD>"


def table(rows: list[list[str]]) -> str:
    """An HTML-like label out of rows of cells."""
    body = "".join(f"<TR>{''.join(row)}</TR>" for row in rows)
    return f'<<TABLE BORDER="0" CELLBORDER="1" CELLSPACING="0" CELLPADDING="5">{body}</TABLE>>'


def _adapt(svg: str, alt: str) -> str:
    """Adapt the SVG to the page's colours and size, and add a text for screen readers."""
    svg = re.sub(r"<!--.*?-->|<title>.*?</title>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\s(id|class)="[^"]*"', "", svg)
    svg = svg.replace('stroke="black"', 'stroke="currentColor"').replace('fill="black"', 'fill="currentColor"')
    svg = re.sub(r"<text(?![^>]*fill=)", '<text fill="currentColor"', svg)
    width = re.search(r'width="([\d.]+)pt"', svg)
    natural = f"{float(width[1]) * PIXELS_OF_A_POINT:.0f}px" if width else "100%"
    svg = re.sub(r'(<svg[^>]*?)\swidth="[^"]*"\s*height="[^"]*"', r"\1", svg, count=1)
    label = alt.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    # Full size if there is room. If not, it shrinks until its smallest text has 12 pixels, and then it scrolls.
    smallest = min(map(float, re.findall(r'font-size="([\d.]+)"', svg)), default=math.inf)
    size = f"width:{natural};min-width:calc({natural} * {min(LEAST_TEXT / (smallest * PIXELS_OF_A_POINT), 1):.3f})"
    opening = f'<svg role="img" aria-label="{label}" style="{size}"'
    return "\n".join(row for row in svg.replace("<svg", opening, 1).splitlines() if row.strip())
