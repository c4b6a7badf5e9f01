"""The README and the front page state what is served, and what is missing, from the tables of the code."""

import pytest

from kafka_learn.project import PROJECT_ROOT
from kafka_learn.site import stated_facts
from kafka_learn.site.stated_facts import FACTS, PARTS, Missing, reasons_not_yet, with_facts
from kafka_lite.protocol.api_keys import ApiKey


@pytest.mark.parametrize("page", ["README.md", "docs/index.md", "docs/index.zh.md"])
def test_a_page_states_what_is_missing(page):
    text = (PROJECT_ROOT / page).read_text(encoding="utf-8")
    assert "<!-- missing" in text
    assert with_facts(text) == text


@pytest.mark.parametrize("name", list(FACTS))
def test_the_readme_states_each_fact_in_both_languages(name):
    text = "".join((PROJECT_ROOT / "README.md").read_text(encoding="utf-8").split())
    assert "".join(f"<!-- {name} -->{FACTS[name]('en')}<!-- /{name} -->".split()) in text
    assert "".join(f"<!-- {name}-zh -->{FACTS[name]('zh')}<!-- /{name}-zh -->".split()) in text


def test_each_reason_that_a_class_is_not_there_yet_is_a_missing_part():
    assert {reason.removesuffix(": not yet") for reason in reasons_not_yet()} <= {part.reason for part in PARTS}


def test_a_part_is_missing_until_its_classes_or_its_api_are_there(monkeypatch):
    connect, hints = Missing("Connect", "Connect", "Connect"), Missing("hints", "提示", api=ApiKey.FETCH, version=99)
    assert connect.holds(["Connect: not yet"])
    assert not connect.holds([])
    assert hints.holds([])
    assert not Missing("ids", "id", api=ApiKey.FETCH, version=12).holds([])
    monkeypatch.delitem(stated_facts.SERVED_VERSIONS, ApiKey.FETCH)
    assert Missing("ids", "id", api=ApiKey.FETCH, version=12).holds([])


def test_a_fact_may_be_on_several_lines():
    text = with_facts("<!-- missing --><!-- /missing -->").replace(" uReplicator", "\nuReplicator")
    assert with_facts(text) == text


def test_a_passage_between_unknown_comments_stays():
    assert with_facts("<!-- other -->as it is<!-- /other -->") == "<!-- other -->as it is<!-- /other -->"
    assert (
        with_facts("a <!-- missing -->x<!-- /missing --> b")
        == f"a <!-- missing -->{FACTS['missing']('en')}<!-- /missing --> b"
    )
