"""The site's class index links a class to its line, its sections and its pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import pytest

from kafka_learn.project import PROJECT_ROOT
from kafka_learn.site import book_pages
from kafka_learn.site.book_pages import class_index, class_index_h_to_p, class_index_q_to_z, contents
from kafka_learn.site.path.reading_path import reading_path
from tests.support.book_references import all_references, sources_read_once

PARTS = (class_index, class_index_h_to_p, class_index_q_to_z)


@pytest.fixture(scope="module", autouse=True)
def modules_are_read_once() -> Iterator[None]:
    """Reading all modules takes seconds, and no test changes them."""
    with sources_read_once() as patch:
        patch.setattr(book_pages, "module_references", all_references)
        patch.setattr(book_pages, "load_class_index", cache(book_pages.load_class_index))
        yield


def row_of(name: str, language: str = "en") -> str:
    """Of the first class of this name, on whatever page of the index it is."""
    return next(line for part in PARTS for line in part(language).splitlines() if line.startswith(f"| `{name}`"))


def test_every_class_is_on_one_page_of_the_index() -> None:
    entries = [entry for entry in book_pages.load_class_index().entries if entry.origin]
    found = [name for part in PARTS for name in re.findall(r"^\| `(\w+)`", part("en"), re.MULTILINE)]
    assert sorted(found) == sorted(entry.name for entry in entries)


def test_each_page_of_the_class_index_leads_to_the_others() -> None:
    assert "[A–G](classes.md) · **H–P** · [Q–Z](classes-q-to-z.md)\n{ .class-parts }" in class_index_h_to_p("zh")


def test_a_class_has_its_kafka_file_sections_and_pages() -> None:
    row = row_of("SkimpyOffsetMap")
    assert "core/.../log/OffsetMap.scala" in row
    assert "[6.1.6 Log compaction](ch06_storage/compaction.md)" in row
    assert "(../labs/ch06-cleaner-offset-map.md)" in row
    assert "6.1.6 日志压缩" in row_of("SkimpyOffsetMap", "zh")


def test_every_page_of_a_section_is_linked() -> None:
    row = row_of("StreamThread")
    assert "[9.1.3 The thread model](ch09_streams/tasks.md)" in row
    assert "[text 2](ch09_streams/threads.md)" in row


def test_a_module_that_the_text_shows_is_linked_to_the_line_of_the_class() -> None:
    link = re.search(
        r"\[`log/offset_index.py`:(\d+)\]\(\.\./source/kafka_lite/log/offset_index\.md#__codelineno-0-\1\)",
        row_of("OffsetIndex"),
    )
    assert link
    lines = (PROJECT_ROOT / "kafka_lite/log/offset_index.py").read_text().splitlines()
    assert lines[int(link[1]) - 1].startswith("class OffsetIndex")


def test_another_name_and_a_missing_module_are_explained() -> None:
    assert "as `FileMessageSet`" in row_of("FileRecords")
    assert "no room yet" in row_of("BecomeLeaderOrFollowerResult")
    assert "尚未实现" in row_of("BecomeLeaderOrFollowerResult", "zh")


def test_the_contents_have_every_section_folded() -> None:
    assert len(re.findall(r"^    \| (?:\*\*)?\d+\.\d", contents("zh"), re.MULTILINE)) > 100


MAX_ROWS = 14
"""Of a chapter's table, with a line of some 36 pixels each: what a laptop's screen has room for."""


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_chapter_of_the_contents_fits_on_a_screen_and_has_each_page_once(language: str) -> None:
    chapters = re.split("^## ", contents(language), flags=re.MULTILINE)[1:]
    rows = [re.findall(r"^\| \[[^]]+\]\(([^)]+)\)", chapter, re.MULTILINE) for chapter in chapters]
    assert max(map(len, rows)) <= MAX_ROWS
    pages = [page for of_chapter in rows for page in of_chapter]
    assert len(pages) == len(set(pages)) == len(reading_path().stops)
