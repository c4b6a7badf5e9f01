"""The index finds classes by name, by part of a name and in snake_case, and knows why classes are missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lite.book.book_classes import BookClass
from kafka_lite.book.class_index import ClassIndex, build_class_index
from kafka_lite.book.module_reference import module_references


@pytest.fixture
def index(tmp_path: Path) -> ClassIndex:
    log = tmp_path / "some" / "log"
    log.mkdir(parents=True)
    (log / "offset_map.py").write_text(
        '"""Maps.\n\nKafka 0.10.2: core/.../log/OffsetMap.scala (SkimpyOffsetMap), Cleaner.scala · book 6.1.6\n"""\n'
        "class OffsetMap:\n    def slots(self): ...\nclass SkimpyOffsetMap: ...\nclass Slot: ...\n"
    )
    book = [
        BookClass("OffsetMap", "core/.../log/OffsetMap.scala", ("6.1.6",)),
        BookClass("Slots", "core/.../log/Slots.scala", ("6.1.5",), another_name="some.log.offset_map:OffsetMap.slots"),
        BookClass("Herder", "connect/.../Herder.java", ("8.3.4",), reason="Connect: not yet"),
    ]
    return build_class_index(module_references(tmp_path / "some"), book)


def test_a_class_is_found_with_its_module_and_sections(index: ClassIndex) -> None:
    (entry,) = index.find("OffsetMap")
    assert (entry.file, entry.line) == ("some/log/offset_map.py", 5)
    assert (entry.origin, entry.kafka) == ("Kafka 0.10.2", "core/.../log/OffsetMap.scala")
    assert entry.sections == ("6.1.6",)


@pytest.mark.parametrize("asked", ["skimpy_offset_map", "SKIMPYOFFSETMAP", "some.log.offset_map.SkimpyOffsetMap"])
def test_case_underscores_and_packages_are_ignored(index: ClassIndex, asked: str) -> None:
    assert [entry.name for entry in index.find(asked)] == ["SkimpyOffsetMap"]


def test_part_of_a_name_finds_every_match(index: ClassIndex) -> None:
    assert [entry.name for entry in index.find("ffsetm")] == ["OffsetMap", "SkimpyOffsetMap"]


def test_a_class_of_kafka_lite_only_has_no_file_in_kafka(index: ClassIndex) -> None:
    (entry,) = index.find("Slot")
    assert (entry.line, entry.kafka, entry.origin) == (8, "", "")


def test_a_kafka_file_without_a_class_of_its_name_leads_to_the_module(index: ClassIndex) -> None:
    (entry,) = index.find("Cleaner")
    assert (entry.file, entry.line, entry.symbol) == ("some/log/offset_map.py", 1, "")
    assert entry.kafka == "core/.../log/Cleaner.scala"


def test_another_name_leads_to_its_line(index: ClassIndex) -> None:
    (entry,) = index.find("Slots")
    assert (entry.file, entry.line, entry.symbol) == ("some/log/offset_map.py", 6, "OffsetMap.slots")


def test_a_class_without_a_module_has_a_reason(index: ClassIndex) -> None:
    (entry,) = index.find("Herder")
    assert (entry.module, entry.reason) == ("", "Connect: not yet")


def test_another_name_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "rooms.py").write_text('"""Rooms."""\n')
    (reference,) = module_references(tmp_path)
    missing = BookClass("Slots", "core/.../Slots.scala", ("6.1.5",), another_name=f"{reference.module}:Gone")
    with pytest.raises(LookupError, match="Gone"):
        build_class_index([reference], [missing])


def test_a_misspelt_name_gets_suggestions(index: ClassIndex) -> None:
    assert index.find("OfsetMap") == []
    assert index.close_names("OfsetMap")[0] == "OffsetMap"
