"""The language of the answers: asked for, remembered, or the terminal's."""

import argparse

import pytest

from kafka_learn.labs.command import add_arguments, run
from kafka_learn.labs.way.verbs import REMEMBERED, choose_language


@pytest.fixture(autouse=True)
def work(tmp_path, monkeypatch):
    """A clone in which nothing was chosen, on a terminal in English."""
    monkeypatch.setenv("KAFKA_LITE_LABS_WORK", str(tmp_path))
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "en_GB.UTF-8")
    return tmp_path


def language(*arguments):
    parser = argparse.ArgumentParser(prog="labs")
    add_arguments(parser)
    return choose_language(parser.parse_args(arguments))


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C.UTF-8"}, "en"),
        ({"LC_MESSAGES": "zh_TW.UTF-8"}, "zh"),
        ({"LANG": ""}, "en"),
    ],
)
def test_the_terminal_has_a_language(monkeypatch, variables, expected):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert language("list") == expected


@pytest.mark.parametrize("verb", [("list",), ("next",), ("hint", "ch06-offset-index"), ("broker",), ("cluster",), ()])
def test_every_verb_takes_a_language_before_and_after_it(work, verb):
    assert language("--zh", *verb) == language(*verb, "--zh") == "zh"
    assert language(*verb) == "en"
    assert language("--lang", "zh", *verb) == "zh"
    assert language(*verb, "--lang", "en") == "en"


def test_a_chosen_language_is_remembered(work, monkeypatch):
    assert language("list", "--lang", "zh") == "zh"
    assert language("list") == "zh"
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert language("list", "--lang", "en") == "en"
    assert language("list") == "en"
    assert language("list", "--zh") == "zh"
    assert language("list") == "en", "--zh is for one call"


def test_what_is_remembered_may_be_unreadable(work):
    (work / REMEMBERED).write_text("klingon")
    assert language("list") == "en"


def test_a_chinese_terminal_gets_chinese(monkeypatch, capsys):
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    parser = argparse.ArgumentParser(prog="labs")
    add_arguments(parser)
    assert run(parser.parse_args(["show", "ch06-offset-index"])) == 0
    assert "偏移量索引" in capsys.readouterr().out
