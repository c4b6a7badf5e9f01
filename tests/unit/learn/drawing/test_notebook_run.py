"""A run in a notebook: what Jupyter plays, what the site plays, and what is left where no script may run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafka_learn import both_languages, notebooks
from kafka_learn.drawing import notebook_run
from kafka_learn.drawing.notebook_run import RUN
from kafka_learn.drawing.playable_figure import sources_of
from kafka_learn.drawing.sequence_diagram import sequence_diagram
from kafka_learn.drawing.time_line import time_line
from tests.support.recorded_runs import small_run

DRAWINGS: list[Callable[..., Any]] = [sequence_diagram, time_line]


@pytest.mark.parametrize("draw", DRAWINGS)
def test_the_site_gets_the_run_in_both_languages_and_jupyter_the_stepper_too(draw: Callable[..., Any]) -> None:
    output = draw(small_run())._repr_mimebundle_()
    assert output[RUN["en"]] == draw(small_run()).playable().html()
    assert output[RUN["zh"]] == draw(small_run(), language="zh").playable().html()
    assert output["text/html"].count(output[RUN["en"]]) == 1
    assert "new Stepper(figure" in output["text/html"]
    assert output["image/svg+xml"].startswith("<svg")


def test_a_chinese_notebook_plays_chinese_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(both_languages, "_shown", "zh")
    output = sequence_diagram(small_run())._repr_mimebundle_()
    assert 'lang="zh"' in output["text/html"]
    assert sequence_diagram(small_run(), language="zh").playable().html() in output["text/html"]
    assert not set(RUN.values()) & set(output)


def test_the_script_of_an_output_imports_nothing() -> None:
    script = notebook_run._script()
    assert "import " not in script
    assert "export " not in script
    assert all(f"function {name}" in script for name in ("next", "stateAt", "actionOf"))


@pytest.mark.parametrize(("language", "words"), [("en", "request: PRODUCE"), ("zh", "请求: PRODUCE")])
def test_a_run_plays_on_the_page_of_a_notebook(language: str, words: str) -> None:
    output = {"output_type": "display_data", "data": sequence_diagram(small_run())._repr_mimebundle_()}
    shown = notebooks._output(_Output(output), language)
    assert shown.startswith(
        '<figure class="drawing recording">\n<div class="recorded-run recorded-run--y" data-source="../'
    )
    assert words in shown
    assert "<style>" not in shown


def test_the_lines_that_run_have_their_pages_of_source() -> None:
    run = sequence_diagram(small_run())
    assert sources_of(run.playable().html()) == run.playable().sources()


class _Output(dict[str, Any]):
    """An output as nbformat gives it."""

    @property
    def output_type(self) -> str:
        return str(self["output_type"])
