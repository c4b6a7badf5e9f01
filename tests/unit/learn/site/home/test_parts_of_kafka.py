from dataclasses import replace

import pytest

from kafka_learn.site.home.parts_of_kafka import (
    CONTENTS,
    GROUPS,
    Part,
    Presence,
    classes_of_the_book,
    the_book,
)
from kafka_learn.site.stated_facts import reasons_not_yet
from kafka_lite.book.book_classes import BookClass

PARTS = [part for group in GROUPS for row in group.rows for part in row]


def class_of(*sections, reason=""):
    return BookClass("Name", "core/.../Name.scala", sections, reason=reason)


@pytest.mark.parametrize(
    ("reasons", "presence"),
    [
        (["", ""], Presence.HERE),
        (["a function here", ""], Presence.HERE),
        (["SASL: not yet", ""], Presence.HERE),
        (["chapter 8: not yet", ""], Presence.PARTLY),
        (["chapter 8: not yet", "chapter 8: not yet"], Presence.NOT_YET),
        ([], Presence.HERE),
    ],
)
def test_a_part_is_there_with_all_of_its_classes(reasons, presence):
    classes = [class_of("8.1.2", reason=reason) for reason in reasons]
    assert (
        Part("Mirror", "镜像", ("8.1",)).presence([*classes, class_of("8.3", reason="chapter 8: not yet")]) is presence
    )


def test_a_class_counts_for_each_of_its_sections():
    classes = [class_of("2.1.1", "8.1.1", reason="chapter 8: not yet")]
    assert Part("", "", ("8",)).presence(classes) is Part("", "", ("2.1",)).presence(classes) is Presence.NOT_YET


def test_section_10_is_not_a_part_of_chapter_1():
    assert [number for number in ("1.2", "10.1", "1") if Part("", "", ("1",)).has(number)] == ["1.2", "1"]


def test_a_part_leads_to_its_first_text_or_to_the_contents():
    book = the_book()
    assert Part("", "", ("6.1",)).page(book) == "book/ch06_storage/appending.md"
    assert Part("", "", ("6.1.6",)).page(book) == "book/ch06_storage/compaction.md"
    unwritten = replace(book, sections=tuple(replace(section, page="") for section in book.sections))
    assert Part("", "", ("6.1",)).page(unwritten) == CONTENTS


def test_the_sections_of_all_parts_exist():
    numbers = {section.number for section in the_book().every_section} | {c.number for c in the_book().chapters}
    numbers |= {chapter.number for chapter in the_book().added_chapters}
    assert [part.en for part in PARTS if not set(part.sections) <= numbers] == []


def test_every_class_of_the_book_that_is_missing_is_missing_in_the_picture():
    """SASL has no part of its own: it is a way to connect, and the list below the picture names it."""
    reasons = set(reasons_not_yet())
    missing = [each for each in classes_of_the_book() if each.reason in reasons]
    shown = [each for each in missing for part in PARTS if any(map(part.has, each.sections))]
    assert [each.name for each in missing if each not in shown and not each.reason.startswith("SASL")] == []
    incomplete = [part for part in PARTS if part.presence(classes_of_the_book()) is not Presence.HERE]
    assert bool(incomplete) == bool(shown)


def test_every_chapter_with_code_is_in_the_picture():
    chapters = {section.chapter for section in the_book().every_section if section.home} - {"1"}
    assert chapters == {section.split(".")[0] for part in PARTS for section in part.sections}
