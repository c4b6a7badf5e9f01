import pytest

from kafka_learn.site.directives import Directive, DirectiveError, Page, expand
from kafka_learn.source import UnknownSymbolError, find_symbol, render

INDEX = "kafka_lite.log.offset_index:OffsetIndex"


def test_a_method_is_found_and_dedented():
    code = render(find_symbol(f"{INDEX}.lookup"))
    assert code.startswith("def lookup(self")
    assert "return OffsetPosition" in code


def test_the_docstring_can_be_omitted():
    code = render(find_symbol(f"{INDEX}.lookup"), docstring=False)
    assert '"""' not in code
    assert "return OffsetPosition" in code


def test_a_class_can_be_shown_with_some_of_its_members():
    code = render(find_symbol(INDEX), only=("lookup",), docstring=False)
    assert "def lookup" in code
    assert "def append" not in code
    assert "# …" in code
    assert "\n    # …\n\n    # …" not in code


def test_bodies_can_be_omitted():
    code = render(find_symbol(INDEX), bodies=False)
    assert "def append(self, offset: int, position: int) -> None:" in code
    assert "_put_entry" not in code
    assert "Raises InvalidOffsetError" in code


def test_an_assignment_includes_the_comment_above_it():
    code = render(find_symbol("kafka_learn.drawing.graphviz_drawing:PLAIN"))
    assert code.splitlines()[0].startswith("# Fills")


def test_decorators_belong_to_the_symbol():
    assert render(find_symbol(f"{INDEX}.last_offset")).startswith("@property")


@pytest.mark.parametrize(
    "reference",
    [
        "kafka_lite.log.offset_index:OffsetIndex.nope",
        "kafka_lite.log.nope:X",
        "kafka_lite.log.offset_index",
        f"{INDEX}.",
    ],
)
def test_an_unknown_symbol_is_an_error(reference):
    with pytest.raises(UnknownSymbolError):
        find_symbol(reference)


def test_an_unknown_member_is_an_error():
    with pytest.raises(UnknownSymbolError, match="nope"):
        render(find_symbol(INDEX), only=("nope",))


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
        (f"```source {INDEX}.lookup\n```", "a directive is a comment"),
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
