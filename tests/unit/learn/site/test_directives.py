"""Directives of a page become code, links and figures; wrong ones name the page and the line."""

import pytest

from kafka_learn.site.directives import Directive, DirectiveError, Page, expand

INDEX = "kafka_lite.log.offset_index:OffsetIndex"


@pytest.fixture
def page():
    from pathlib import PurePosixPath

    return Page("chapters/ch/page.md", PurePosixPath("book/ch/page.md"))


def test_a_source_directive_becomes_code_and_a_link(page):
    text = expand(f"Before.\n\n<!-- source {INDEX}.lookup -->\n", page)
    assert "def lookup(self" in text
    assert "(../../source/kafka_lite/log/offset_index.md#__codelineno-0-" in text
    assert page.sources == {"kafka_lite.log.offset_index"}


def test_a_directive_inside_a_list_keeps_its_indentation(page):
    text = expand(f"- item\n\n    <!-- source {INDEX}.lookup -->\n", page)
    assert "\n    def lookup(self" in text


@pytest.mark.parametrize(
    ("directive", "reason"),
    [
        (f"<!-- source {INDEX}.gone -->", "no 'gone'"),
        ("<!-- source kafka_lite.gone:X -->", "there is no module kafka_lite.gone"),
        (f"<!-- source {INDEX} docstring=maybe -->", "must be yes or no"),
        (f"<!-- source {INDEX} docstring -->", "not of the form option=value"),
        ("<!-- figure chapters.ch06_storage.figures.segment_drawings:gone -->", "no 'gone'"),
        ("```python\nx = 1", "never closed"),
        (f"```source {INDEX}.lookup\n```", "write this directive as a comment"),
        ("[the licence](../../LICENSE)", "which the site does not show"),
    ],
)
def test_an_invalid_directive_is_reported_with_page_and_line(page, directive, reason):
    with pytest.raises(DirectiveError, match=rf"chapters/ch/page.md:3: .*{reason}"):
        expand(f"# Title\n\n{directive}\n", page)


def test_marks_of_runnable_blocks_are_not_shown(page):
    assert (
        expand("```console run\n$ true\n```\n\n```text output\nx\n```\n", page)
        == "```console\n$ true\n```\n\n```{ .text .output }\nx\n```\n"
    )


def test_other_blocks_are_unchanged(page):
    text = "````text\n<!-- source not.a:directive -->\n````\n"
    assert expand(text, page) == text


def test_a_figure_is_one_block_of_svg(page):
    note = "**Figure**: a < b (c) ([`entry_figure`](figures/segment_drawings.py), drawn on the site)"
    text = expand(f"<!-- figure chapters.ch06_storage.figures.segment_drawings:entry_figure -->\n{note}\n", page)
    assert text.count("<svg") == 1
    assert "<figcaption>a &lt; b (c)</figcaption>" in text
    assert "drawn on the site" not in text
    assert "\n\n" not in text.strip()


def test_options_are_parsed():
    directive = Directive.parse('source a:b only=x,y hide="two words"')
    assert directive.options == {"only": "x,y", "hide": "two words"}
    assert directive.flag("docstring")


STORM = "chapters/ch09_streams/five_systems/StormWordCount.java"


@pytest.mark.parametrize(("name", "first"), [("storm", "static StormTopology storm("), ("CountBolt", "static class")])
def test_a_method_or_class_of_java_is_shown_whole_with_a_link(page, name, first):
    text = expand(f"<!-- source {STORM}:{name} -->\n", page)
    code = text.partition("```` java\n")[2].partition("\n````")[0].splitlines()
    assert code[0].startswith(first)
    assert code[-1] == "}"
    assert "(../../source/chapters/ch09_streams/five_systems/StormWordCount.md#__codelineno-0-" in text
    assert page.sources == {STORM}


@pytest.mark.parametrize("reference", [f"{STORM}:nope", f"{STORM}:", STORM, "chapters/Nope.java:main"])
def test_an_unknown_symbol_of_java_names_the_page_and_line(page, reference):
    with pytest.raises(DirectiveError, match=r"^chapters/ch/page.md:1: there is no"):
        expand(f"<!-- source {reference} -->\n", page)


def test_a_scenario_becomes_a_box_that_leads_to_the_live_cluster_in_its_state(page):
    box = expand("<!-- live leader-dies -->\n**Live**: [The leader](../../docs/live.md)\n", page)
    assert 'href="../../../live/?seed=1&amp;actions=6:produce:20:all,8:kill:1&amp;until=8.2"' in box
    assert "docs/live.md" not in box
    with pytest.raises(DirectiveError, match=r"page\.md:1: chapters/live\.toml has no scenario 'gone'"):
        expand("<!-- live gone -->\n", page)
