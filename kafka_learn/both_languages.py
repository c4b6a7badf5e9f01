"""Notebook figures in both languages: a notebook runs once and appears on an English and on a Chinese page.

An output has a Chinese twin under its own MIME type. Jupyter ignores it; the Chinese page shows it. ::

    {"image/svg+xml": "<svg … >requests", "text/vnd.kafka-lite.zh": "<svg … >请求"}
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import ParamSpec, Protocol, TypeVar

CHINESE = "text/vnd.kafka-lite.zh"
"""MIME type of an output's Chinese twin, which is SVG or Markdown."""

_HAN = r"\u3000-\u303f\u3400-\u9fff\uff00-\uffef\u2018-\u201d"
_CHINESE_END = re.compile(rf"^(?!#).*[{_HAN}]$")
_CHINESE_START = re.compile(rf"\s*[{_HAN}]")
_FENCE = re.compile(r"\s*(`{3,})")

_shown = "en"
"""The language of the figures' main output."""


class Figure(Protocol):
    """A figure that can draw itself and its Chinese twin."""

    chinese: Callable[[], str] | None

    def svg(self) -> str:
        """The figure as one ``<svg>`` element."""


P = ParamSpec("P")
F = TypeVar("F", bound=Figure)


def with_chinese_twin(draw: Callable[P, F]) -> Callable[P, F]:
    """Decorator for a function with a parameter ``language``: gives the returned figure a Chinese twin."""

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


def shown_language() -> str:
    """The language of the figures' main output."""
    return _shown


def show_chinese() -> None:
    """Show this process's figures in Chinese from now on: called by the first cell of a Chinese notebook."""
    global _shown
    _shown = "zh"


def chinese_twin(figure: Figure) -> dict[str, str]:
    """Extra MIME types of a figure's output, for the Chinese page; empty if the figure has no words of its own.

    After ``show_chinese()``, the Chinese figure itself, which replaces the English one.
    """
    if not figure.chinese:
        return {}
    chinese = figure.chinese()
    return {CHINESE: chinese} if _shown == "en" else {"image/svg+xml": chinese, "text/html": chinese}


class InBothLanguages:
    """The value of a notebook cell made by a function that takes a language and returns Markdown or SVG."""

    def __init__(self, make: Callable[[str], str]) -> None:
        self._make = make

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        shown = self._make(_shown)
        output = {"image/svg+xml" if "<svg" in shown else "text/markdown": shown}
        return output | {CHINESE: self._make("zh")} if _shown == "en" else output


def join_chinese_lines(text: str) -> str:
    """Join the lines of Chinese paragraphs, because browsers show a line break as a space between two characters."""
    joined: list[str] = []
    fence = ""
    for line in text.splitlines():
        if (mark := _FENCE.match(line)) and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
        continues = joined and not fence and _CHINESE_END.search(joined[-1]) and _CHINESE_START.match(line)
        if continues:
            joined[-1] += line.strip()
        else:
            joined.append(line)
    return "\n".join(joined) + "\n"
