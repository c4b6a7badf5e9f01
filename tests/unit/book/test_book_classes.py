"""The list of the book's classes: sections, other names, reasons; and classes that share a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lite.book.book_classes import BookClass, load_book_classes

LOG, MESSAGE, RECORD = "core/.../log/Log.scala", "core/.../message/Message.scala", "streams/.../Message.java"
TOML = f"""
[sections."6.1"]
"{LOG}" = ["Log", "LogSegment"]
"{MESSAGE}" = ["Message"]

[sections."10.2"]
"{LOG}" = ["Log"]
"{RECORD}" = ["Message"]

[another_name]
LogSegment = "kafka_lite.log.log_segment"
"{MESSAGE}: Message" = "kafka_lite.record.record:Record"

[without_a_room]
"not yet" = ["{RECORD}: Message"]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "classes.toml"
    file.write_text(TOML)
    return file


def test_a_class_has_all_its_sections(file: Path) -> None:
    log, segment, *_ = load_book_classes(file)
    assert log == BookClass("Log", LOG, ("6.1", "10.2"))
    assert segment == BookClass("LogSegment", LOG, ("6.1",), another_name="kafka_lite.log.log_segment")


def test_two_classes_of_one_name_are_told_apart_by_their_files(file: Path) -> None:
    one, other = [each for each in load_book_classes(file) if each.name == "Message"]
    assert (one.kafka, one.another_name, one.reason) == (MESSAGE, "kafka_lite.record.record:Record", "")
    assert (other.kafka, other.another_name, other.reason) == (RECORD, "", "not yet")


def test_a_name_that_no_section_lists_is_an_error(file: Path) -> None:
    file.write_text(TOML.replace("LogSegment =", "Segment ="))
    with pytest.raises(ValueError, match="no section lists Segment"):
        load_book_classes(file)


def test_no_class_of_the_book_has_both_a_name_here_and_a_reason() -> None:
    classes = load_book_classes()
    assert classes
    assert not [each.name for each in classes if each.another_name and each.reason]
