"""The table of contents: read from a file, and the book's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lite.book.contents import Book, Chapter, Section, Topic, load_book

TOML = """
[[chapter]]
number = "6"
zh = "存储层"
en = "The log layer"
folder = "chapters/ch06_log"

[[section]]
number = "6.1"
zh = "日志的读写"
en = "Reading and writing logs"
home = ["kafka_lite.log"]

[[section]]
number = "6.1.3"
zh = "日志分段"
en = "Log segments"
page = "chapters/ch06_log/segments.md"
more_pages = ["chapters/ch06_log/indexes.md"]
labs = ["labs/log_segment"]

[[topic]]
name = "bookkeeper"
en = "Logs elsewhere"
section = "6.1"

[[added_chapter]]
number = "A"
zh = "事务"
en = "Transactions"
folder = "chapters/chA_transactions"

[[added_section]]
number = "A.1"
zh = "幂等"
en = "Idempotence"
notebook = "chapters/chA_transactions/a.py"
"""


@pytest.fixture
def book(tmp_path: Path) -> Book:
    file = tmp_path / "book.toml"
    file.write_text(TOML, encoding="utf-8")
    return load_book(file)


def test_a_section_knows_its_place_and_what_is_written_for_it(book: Book) -> None:
    first, second = book.sections
    assert first == Section("6.1", "日志的读写", "Reading and writing logs", home=("kafka_lite.log",))
    assert (first.chapter, first.depth, first.covered) == ("6", 2, False)
    assert (second.chapter, second.depth, second.covered) == ("6", 3, True)
    assert second.labs == ("labs/log_segment",)
    assert second.pages == ("chapters/ch06_log/segments.md", "chapters/ch06_log/indexes.md")
    assert first.pages == ()
    assert (second.title("zh"), second.title("en")) == ("日志分段", "Log segments")
    assert book.topics == (Topic("bookkeeper", "Logs elsewhere", "6.1"),)


def test_added_chapters_follow_the_books_own(book: Book) -> None:
    assert book.added_chapters == (Chapter("A", "事务", "Transactions", "chapters/chA_transactions"),)
    assert [each.number for each in book.every_section] == ["6.1", "6.1.3", "A.1"]
    assert [each.number for each in book.sections_of("A")] == ["A.1"]
    assert [each.number for each in book.sections_of("6")] == ["6.1", "6.1.3"]
    assert book.sections_of("7") == ()
    assert book.every_section[-1].covered


def test_a_section_is_found_by_its_number(book: Book) -> None:
    assert book.section("6.1.3").en == "Log segments"
    with pytest.raises(KeyError, match=r"the book has no section 6\.9"):
        book.section("6.9")
    with pytest.raises(KeyError, match=r"A\.1"):
        book.section("A.1")


@pytest.mark.parametrize(("right", "wrong"), [("labs =", "lab ="), ('en = "Log segments"\n', "")])
def test_a_misspelt_or_missing_key_is_an_error(tmp_path: Path, right: str, wrong: str) -> None:
    file = tmp_path / "book.toml"
    assert right in TOML
    file.write_text(TOML.replace(right, wrong), encoding="utf-8")
    with pytest.raises(TypeError):
        load_book(file)


def test_the_books_sections_have_chapters() -> None:
    book = load_book()
    chapters = {each.number for each in (*book.chapters, *book.added_chapters)}
    assert {section.chapter for section in book.every_section} == chapters
    numbers = [section.number for section in book.every_section]
    assert len(set(numbers)) == len(numbers)
    assert {topic.section for topic in book.topics} <= set(numbers)
