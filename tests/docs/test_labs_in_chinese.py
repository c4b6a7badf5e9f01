"""What labs' tests say is there in Chinese, all of it."""

import pytest

from kafka_learn.labs.lab import all_labs
from kafka_learn.labs.way.in_chinese import Chinese, Sentence, chinese_of, values_of
from tests.support.lab_words import missing, to_toml, translated, words_of_lab

LABS = all_labs()
by_name = pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)


@by_name
def test_what_the_tests_of_a_lab_say_is_there_in_chinese(lab):
    found = missing(words_of_lab(lab.folder), translated(lab.folder))
    assert found == [], f"translate what `python -m tests.support.lab_words {lab.name}` lists"


@by_name
def test_the_words_of_a_lab_are_in_order_and_have_the_values_of_the_english_ones(lab):
    chinese = translated(lab.folder)
    if chinese:
        text = (lab.folder / "zh.toml").read_text(encoding="utf-8")
        assert text == to_toml(words_of_lab(lab.folder), chinese), f"run python -m tests.support.lab_words {lab.name} -"
    for english, words in chinese.get("messages", {}).items():
        assert not words or set(values_of(words)) == set(values_of(english)), english


@by_name
def test_each_title_leads_to_its_translation(lab):
    chinese = translated(lab.folder)
    words = Chinese([chinese])
    assert {title: words.title(title) for title in chinese.get("titles", {})} == chinese.get("titles", {})


@by_name
def test_each_message_leads_to_its_translation(lab):
    """With values that are numbers and texts, as a failing test would fill them in."""
    words = chinese_of(lab.folder)
    wrong = {}
    for english, chinese in translated(lab.folder).get("messages", {}).items():
        sentence = Sentence(english, chinese)
        values = {name: f"<{number}>" for number, name in enumerate(values_of(english), 1)}
        told = words.message(Sentence(english, english).said(values))
        if chinese and told != sentence.said(values):
            wrong[english] = told
    assert wrong == {}
