"""The drawing has every lab, and words that fit into its boxes."""

import re

import pytest

from kafka_learn.labs.lab import all_labs
from kafka_learn.labs.way.way_figure import _lines, way_through


def test_titles_are_broken_between_words():
    assert list(_lines("A group's history from __consumer_offsets")) == [
        "A group's",
        "history from",
        "__consumer_offsets",
    ]
    assert list(_lines("从 __consumer_offsets 还原消费组的历史")) == ["从", "__consumer_offsets", "还原消费组的历史"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_lab_is_drawn_and_said(language):
    svg = way_through(language)
    labs = all_labs()
    assert len(re.findall(r"<text [^>]*>(?:\d+|[A-Z])(?:\.\d+)*</text>", svg)) == len(labs)
    assert svg.count("<polygon") == sum(len(lab.after) for lab in labs), "an arrow for each lab that comes before one"
    label = re.search('aria-label="([^"]*)"', svg)[1]
    assert all(lab.title_in(language).replace("&", "&amp;") in label for lab in labs if lab.after)
