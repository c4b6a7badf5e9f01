"""The saved measurements are complete, and every figure of the page can be drawn from them in both languages."""

import re

import pytest

from chapters.ch01_introduction.figures import persistence_figures as figures
from chapters.ch01_introduction.figures.queue_measurements import BinlogState

FIGURES = [getattr(figures, name) for name in dir(figures) if name.endswith("_figure")]


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.__name__)
def test_a_figure_is_drawn_in_both_languages(figure):
    assert "<svg" in figure("en")
    chinese = re.sub(r"<[^>]+>", " ", figure("zh"))
    assert re.search(r"[\u4e00-\u9fff]", chinese)
    assert not re.search(r"\b(every|times|never|from|and|with|together|file)\b", chinese), chinese


def test_the_page_has_seven_figures():
    assert len(FIGURES) == 7


def test_the_saved_run_is_longer_than_the_lifetime_of_a_dirty_page():
    settings, watched = figures.kept()["settings"], figures.kept()["write_back"]["this file: dirty"]
    assert watched[-1][0] * 100 > settings["dirty_expire_centisecs"] + settings["dirty_writeback_centisecs"]
    assert watched[0][1] > 60 > 1 > watched[-1][1]


def test_the_table_of_a_binlog_has_a_row_for_each_step():
    table = figures.binlog_table([BinlogState("started", ("binlog.1",), 102, 0, 0)], "zh")
    assert table.splitlines()[-1] == "| 启动 | `binlog.1` | 102 | 0 | 0 |"
    assert len(figures.binlog_growth_table("en").splitlines()) == 2 + len(figures.kept()["binlog_growth"])
