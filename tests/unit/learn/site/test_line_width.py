"""Long lines of Markdown are filled where neither GitHub nor the site shows a difference."""

import pytest

from kafka_learn.both_languages import join_chinese_lines
from kafka_learn.site.line_width import COLUMNS, too_long, within_columns

WORDS = " ".join(["segment"] * 30)


@pytest.mark.parametrize(("first", "others"), [("", ""), ("- ", "  "), ("  12. ", "      "), ("- [ ] ", "      ")])
def test_a_long_paragraph_is_filled_with_its_indent(first: str, others: str) -> None:
    head, *tail = within_columns(first + WORDS).split("\n")
    assert head.startswith(f"{first}segment")
    assert tail
    assert all(line.startswith(f"{others}segment") for line in tail)
    assert all(COLUMNS - 8 < len(line) <= COLUMNS for line in (head, *tail[:-1]))


def test_the_lines_after_a_long_one_are_filled_too_and_other_paragraphs_stay() -> None:
    short = "a paragraph\nof short lines"
    assert within_columns(f"{short}\n\n{WORDS}\nand\nmore\n") == f"{short}\n\n{within_columns(WORDS + ' and more')}\n"


@pytest.mark.parametrize(
    "page",
    [
        f"| {WORDS} |",
        f"```text\n{WORDS}\n```",
        f"    {WORDS}",
        f"## {WORDS}",
        f"<summary>{WORDS}</summary>",
        f"<!-- source kafka_lite.log.log:Log -->\n[`Log` in `{WORDS}`](log.py)",
        f"---\ntitle: {WORDS}\n---",
        f"{WORDS}  \nafter a forced break",
    ],
)
def test_a_line_that_markdown_reads_as_a_whole_stays(page: str) -> None:
    assert within_columns(page) == page


@pytest.mark.parametrize("word", ["- 3", "1. e4", "# 9", "<b>x</b>", "+ x", "| x", "> x", "```"])
def test_no_line_begins_with_a_word_that_would_begin_a_block(word: str) -> None:
    text = f"{'x' * (COLUMNS - 4)} end {word} {WORDS}"
    filled = within_columns(text).split("\n")
    assert " ".join(filled) == text
    assert not any(line.startswith(word) for line in filled)


@pytest.mark.parametrize("whole", ["`kafka-lite labs start ch06`", "<!-- missing -->", '](labs/README.md "the lab")'])
def test_code_and_the_address_of_a_link_stay_on_one_line(whole: str) -> None:
    filled = within_columns(f"{'x' * (COLUMNS - 15)} word{'' if whole[0] == ']' else ' '}{whole} {WORDS}")
    assert whole in filled


def test_a_chinese_line_ends_after_a_mark_and_is_joined_again() -> None:
    text = "日志由分段组成，每个分段有自己的索引；" * 12 + "读者从索引开始。\n"
    filled = within_columns(text)
    assert all(line[-1] in "，；。" and len(line) <= COLUMNS for line in filled.splitlines())
    assert len(filled.splitlines()) > 1
    assert join_chinese_lines(filled) == text


def test_a_chinese_line_does_not_end_where_the_site_would_add_or_drop_a_space() -> None:
    text = "分区有 topic，broker 和 offset，用户 目录，（见下文），" * 8 + "完。\n"
    filled = within_columns(text)
    assert len(filled.splitlines()) > 1
    assert join_chinese_lines(filled).replace("\n", " ").strip() == text.strip()


def test_a_long_line_is_found_with_its_number() -> None:
    assert list(too_long(f"short\n\n{WORDS}\n\n| {WORDS} |")) == [(3, WORDS)]
