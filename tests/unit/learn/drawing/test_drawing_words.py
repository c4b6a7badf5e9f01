"""Drawings of Chinese pages have Chinese words; names of files, fields and states stay English."""

import html
import re

import pytest

from chapters.ch02_producer.figures import network_drawings
from chapters.ch06_storage.figures import compaction_drawings, log_drawings, purgatory_drawings, segment_drawings
from chapters.ch06_storage.figures.log_drawings import draw_log, example_log, fill
from chapters.ch10_advanced.figures import timestamp_drawings
from kafka_learn.both_languages import CHINESE
from kafka_learn.drawing import architecture_figure
from kafka_learn.drawing.drawing_words import in_chinese

FIGURES = [
    pytest.param(function, id=name)
    for module in (compaction_drawings, log_drawings, purgatory_drawings, segment_drawings, timestamp_drawings)
    for name, function in vars(module).items()
    if name.endswith("_figure") and not name.startswith("_")
]
NAMES = re.compile(r"\.(log|index|timeindex)\b|\bdemo-\d|\b(crc|magic|null|mid)\b|…?\b[0-9a-f]+\b…?")


@pytest.mark.parametrize("figure", FIGURES)
def test_no_english_word_is_left_in_a_chinese_drawing(figure):
    svg = figure("zh")
    words = [html.unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]
    assert words
    descriptions = re.findall(r'aria-label="([^"]+)"', svg)
    assert descriptions
    words += [html.unescape(description) for description in descriptions]
    assert [word for word in words if re.search("[a-z]{3}", NAMES.sub("", word))] == []


@pytest.mark.parametrize(
    "figure",
    [
        architecture_figure.layers,
        architecture_figure.server_floors,
        architecture_figure.log_floors,
        architecture_figure.consumer_floors,
        architecture_figure.streams_floors,
        network_drawings.three_layers,
    ],
)
def test_a_drawing_of_names_has_a_chinese_description(figure):
    (description,) = re.findall(r'aria-label="([^"]+)"', figure("zh"))
    assert re.search("^[\u4e00-\u9fff]", description), description


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("▲ log start 3", "▲ 日志起始偏移量 3"),
        ("00.index, 40 of 4096 bytes used", "00.index，4096 字节中用了 40 字节"),
        ("put a → 0: 1 probe", "放入 a → 0：探测 1 次"),
        ("queue: 41   ran: 10, 14", "队列：41   已运行：10, 14"),
        ("queue: empty", "队列：空"),
        ("lo &lt; mid", "lo &lt; mid"),
    ],
)
def test_text_of_cells_is_translated_and_other_text_is_not(english, chinese):
    assert in_chinese(f"a -> b [label=<<TD>{english}</TD>>]") == f"a -> b [label=<<TD>{chinese}</TD>>]"


def test_a_notebook_gets_both_drawings_if_there_are_words():
    with example_log() as log:
        fill(log, 1)
        shown = draw_log(log)._repr_mimebundle_()
    assert "活动分段" in shown[CHINESE]
    assert "活动分段" not in shown["image/svg+xml"]
    states = compaction_drawings.draw_states(compaction_drawings.VALID_PREVIOUS_STATES)
    assert CHINESE not in states._repr_mimebundle_()
