"""Figures of notebooks in both languages: a notebook runs once, and is shown on an English and on a Chinese page.

An output holds itself once more, in Chinese, under a type of its own, which Jupyter passes over and the Chinese page
takes. ::

    {"image/svg+xml": "<svg … >requests", "text/vnd.kafka-lite.zh": "<svg … >请求"}
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, Protocol, TypeVar

CHINESE = "text/vnd.kafka-lite.zh"
"""Of an output: the same as SVG or Markdown, in Chinese."""


class Figure(Protocol):
    """What can draw itself, and its Chinese twin."""

    chinese: Callable[[], str] | None

    def svg(self) -> str:
        """The figure as one ``<svg>`` element."""


P = ParamSpec("P")
F = TypeVar("F", bound=Figure)


def with_chinese_twin(draw: Callable[P, F]) -> Callable[P, F]:
    """Of a function with a parameter ``language``: what it returns knows how to draw itself in Chinese too."""

    signature = inspect.signature(draw)

    @functools.wraps(draw)
    def drawn(*args: P.args, **options: P.kwargs) -> F:
        figure = draw(*args, **options)
        call = signature.bind(*args, **options)
        if call.arguments.get("language", "en") == "en":
            call.arguments["language"] = "zh"
            figure.chinese = lambda: draw(*call.args, **call.kwargs).svg()
        return figure

    return drawn


def chinese_twin(figure: Figure) -> dict[str, str]:
    """What a figure's output gets besides, for the Chinese page; nothing if the figure has no words of its own."""
    return {CHINESE: figure.chinese()} if figure.chinese else {}


class InBothLanguages:
    """The last line of a notebook's cell, for a function that takes a language and returns Markdown or SVG."""

    def __init__(self, make: Callable[[str], str]) -> None:
        self._make = make

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        english = self._make("en")
        return {"image/svg+xml" if "<svg" in english else "text/markdown": english, CHINESE: self._make("zh")}
