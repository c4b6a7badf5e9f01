"""A recorded run as the output of a notebook's cell: it plays in Jupyter and on the site, in the notebook's language.

::

    {"text/html": "<div … recorded-run … <script>",     Jupyter: with the stepper itself
     "text/vnd.kafka-lite.run": "<div … recorded-run",  the site, whose pages have the stepper
     "text/vnd.kafka-lite.run.zh": "<div … recorded-run",
     "image/svg+xml": "<svg …", …}                      the static figure, where no script may run
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import Final, ParamSpec, Protocol, TypeVar

from kafka_learn.both_languages import chinese_twin, shown_language
from kafka_learn.drawing.playable_figure import PlayableFigure
from kafka_learn.project import PROJECT_ROOT

RUN: Final = {"en": "text/vnd.kafka-lite.run", "zh": "text/vnd.kafka-lite.run.zh"}
"""MIME types of a run for the site, by language."""
STEPPER: Final = PROJECT_ROOT / "docs" / "assets" / "stepper"
MODULES: Final = ("words.mjs", "steps.mjs", "player.mjs")
"""The stepper's modules, each after those that it imports."""
_IMPORT = re.compile(r"^import .*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export ", re.MULTILINE)
_START: Final = """
for (const steps of document.querySelectorAll(".recorded-run > script[type='application/json']")) {
  const figure = steps.parentElement;
  steps.remove();
  new Stepper(figure, JSON.parse(steps.textContent));
}
"""
_COLOURS: Final = """.jupyter-run {
  --md-default-bg-color: var(--jp-layout-color0, Canvas);
  --md-default-fg-color: var(--jp-content-font-color1, CanvasText);
  --md-default-fg-color--light: var(--jp-content-font-color2, GrayText);
  --md-default-fg-color--lighter: var(--jp-border-color1, GrayText);
  --kafka-ink: #27456b;
  --kafka-orange: #e07b00;
}
.jupyter-run .recorded-run__heads { top: 0; }
"""
"""Jupyter's colours under the names that the site's style uses."""

P = ParamSpec("P")


class Run(Protocol):
    """The figure of a run."""

    chinese: Callable[[], str] | None
    chinese_run: Callable[[], PlayableFigure] | None

    def svg(self) -> str:
        """The figure as one ``<svg>`` element."""

    def text(self) -> str:
        """The run in words."""

    def playable(self) -> PlayableFigure:
        """The figure in parts, with its steps."""


R = TypeVar("R", bound=Run)


def with_chinese_run(draw: Callable[P, R]) -> Callable[P, R]:
    """Decorator for a function with a parameter ``language``: the returned figure plays in Chinese, too."""
    signature = inspect.signature(draw)

    @functools.wraps(draw)
    def drawn(*args: P.args, **options: P.kwargs) -> R:
        figure = draw(*args, **options)
        call = signature.bind(*args, **options)
        if call.arguments.get("language", "en") == "en":
            call.arguments["language"] = "zh"
            figure.chinese_run = lambda: draw(*call.args, **call.kwargs).playable()
        return figure

    return drawn


def run_output(figure: Run) -> dict[str, str]:
    """The output of a cell by MIME type.

    JupyterLab prefers HTML. After ``both_languages.show_chinese()`` that is Chinese.
    """
    output = {"image/svg+xml": figure.svg(), "text/plain": figure.text(), **chinese_twin(figure)}
    english, chinese = figure.playable(), figure.chinese_run() if figure.chinese_run else None
    if shown_language() == "zh" and chinese is not None:
        return {**output, "text/html": in_jupyter(chinese, "zh")}
    twin = {RUN["zh"]: chinese.html()} if chinese is not None else {}
    return {**output, "text/html": in_jupyter(english, "en"), RUN["en"]: english.html(), **twin}


def in_jupyter(figure: PlayableFigure, language: str) -> str:
    """The figure with all that it needs to play."""
    return (
        f"<style>{_style()}</style>\n"
        f'<div class="jupyter-run md-typeset" lang="{language}">\n{figure.html()}\n</div>\n'
        f"<script>(() => {{\n{_script()}}})();</script>"
    )


@functools.cache
def _style() -> str:
    return (STEPPER / "stepper.css").read_text(encoding="utf-8") + _COLOURS


@functools.cache
def _script() -> str:
    """The stepper as one script: an output cannot import modules."""
    modules = [(STEPPER / name).read_text(encoding="utf-8") for name in MODULES]
    return "\n".join(_EXPORT.sub("", _IMPORT.sub("", module)) for module in modules) + _START
