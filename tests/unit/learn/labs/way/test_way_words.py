"""Each word of the labs exists in both languages, with the same values."""

import re
import string

import pytest

from kafka_learn.labs.way.way_words import _WORDS, word


def fields(text):
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("name", _WORDS)
def test_a_word_has_the_same_values_in_both_languages(name):
    english, chinese = _WORDS[name]
    assert fields(english) == fields(chinese)
    assert not re.search("[\u4e00-\u9fff]", english)


def test_values_are_filled_in():
    assert word("checking", "en", lab="x", seconds=180.0) == "checking x (at most 180 s)"
    assert word("checking", "zh", lab="x", seconds=180.0) == "正在检查 x（最多 180 秒）"
