"""A playable figure is a static one, and data beside it."""

import json
import re

from kafka_learn.drawing.playable_figure import PlayableFigure
from kafka_learn.drawing.run_steps import PlayedStep


def test_a_page_gets_both_drawings_and_the_steps_without_an_empty_line():
    step = PlayedStep("Log: append", [0], 3, "kafka_learn/recording/recorder.py:1")
    figure = PlayableFigure("<svg>heads</svg>", "<svg>body</svg>", "y", ["Log"], [step])
    html = figure.html("../../source/")
    assert "\n\n" not in html
    assert html.startswith('<div class="recorded-run recorded-run--y" data-source="../../source/">')
    assert html.index("heads") < html.index("body")
    (data,) = re.findall('<script type="application/json">(.*)</script>', html)
    assert json.loads(data)["steps"][0]["words"] == "Log: append"
    assert figure.sources() == {"kafka_learn/recording/recorder.py"}


def test_in_a_notebook_there_are_no_pages_of_source():
    assert "data-source" not in PlayableFigure("", "", "x", [], []).html()
