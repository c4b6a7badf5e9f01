"""A recorded run plays in the output of a cell, put into a page as JupyterLab does it, in a real browser."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_learn.drawing.notebook_run import in_jupyter
from kafka_learn.drawing.sequence_diagram import sequence_diagram
from tests.support import chromium
from tests.support.recorded_runs import small_run

PUT = """(html => {
    const output = document.createElement('div');
    output.innerHTML = html;
    for (const script of output.querySelectorAll('script')) {
        const copy = document.createElement('script');
        for (const { name, value } of script.attributes) copy.setAttribute(name, value);
        copy.textContent = script.textContent;
        script.replaceWith(copy);
    }
    document.body.append(output);
})"""
"""A script that innerHTML brings does not run; JupyterLab replaces it by a copy."""

pytestmark = [pytest.mark.soak, pytest.mark.skipif(chromium.chromium() is None, reason="needs Chromium")]


def test_the_outputs_of_two_cells_play_each_in_its_language(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<!doctype html><html lang='en'><body></body></html>", encoding="utf-8")
    with chromium.served(tmp_path) as address, chromium.page(tmp_path / "profile") as page:
        page.load(address)
        for language in ("en", "zh"):
            figure = sequence_diagram(small_run(), language=language).playable()
            page.evaluate(f"{PUT}({json.dumps(in_jupyter(figure, language))})")
        count = len(figure.steps)
        said = "[...document.querySelectorAll('.recorded-run output')].map(each => each.value)"
        assert page.evaluate(said) == [f"0 of {count}", f"第 0 步，共 {count} 步"]
        page.click("[lang=zh] [data-role=next]")
        assert page.evaluate(said) == [f"0 of {count}", f"第 1 步，共 {count} 步"]
        words = page.evaluate("document.querySelector('[lang=zh] .recorded-run__words').textContent")
        assert words == figure.steps[0].words
