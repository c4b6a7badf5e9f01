"""Every class that the book discusses has a module here, or is listed with another name or a reason why not."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from kafka_lite.book.book_classes import BookClass, load_book_classes
from kafka_lite.book.class_index import ClassIndex, build_class_index
from kafka_lite.book.contents import load_book
from kafka_lite.book.module_reference import module_references

CLASSES = load_book_classes()


@cache
def index() -> ClassIndex:
    """The index of all modules, read on first use: a worker that only collects these tests does not wait for it."""
    return build_class_index(module_references(), CLASSES)


def _same_file(one: str, other: str) -> bool:
    """``core/.../log/Log.scala`` and ``core/.../Log.scala`` are the same: they leave out different folders."""
    (root, _, path), (other_root, _, other_path) = one.partition(".../"), other.partition(".../")
    return root == other_root and (f"/{path}".endswith(f"/{other_path}") or f"/{other_path}".endswith(f"/{path}"))


def _rooms(each: BookClass) -> list[str]:
    """The modules that have the class under its own name, and name it and its file in their docstring."""
    return [
        entry.module
        for entry in index().entries
        if entry.name == each.name and entry.symbol == each.name and _same_file(entry.kafka, each.kafka)
    ]


@pytest.mark.parametrize("each", CLASSES, ids=lambda each: each.name)
def test_a_class_of_the_book_has_a_module_or_a_reason(each: BookClass) -> None:
    listed = [why for why in (each.another_name, each.reason) if why]
    if listed:
        assert len(listed) == 1, f"{each.name} stands in two lists of chapters/classes.toml"
        assert _rooms(each) == [], f"{each.name} has its room now: take it out of the lists of chapters/classes.toml"
    else:
        assert _rooms(each), (
            f"{each.name} ({each.kafka}) has no room: no module defines it and names it in its docstring's last lines."
            " Build it, or say in chapters/classes.toml what it is called here, or why it is missing"
        )


def test_the_sections_of_the_classes_exist() -> None:
    numbers = {section.number for section in load_book().sections}
    assert {number for each in CLASSES for number in each.sections} <= numbers


def test_every_section_about_code_lists_its_classes() -> None:
    listed = {number for each in CLASSES for number in each.sections}
    sections = [section for section in load_book().sections if section.home and section.zh != "小结"]
    without = {s.number for s in sections if not any(f"{other}.".startswith(f"{s.number}.") for other in listed)}
    # How to start several brokers, installation, Helix, and transactions, which 0.10.2 does not have.
    assert without == {"1.4.2", "1.5", "8.2.1", "10.3"}


def test_a_reason_for_a_class_of_no_section_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "classes.toml"
    file.write_text(
        """
        [sections."6.1.1"]
        "core/.../log/Log.scala" = ["Log"]
        [another_name]
        [without_a_room]
        "not yet" = ["Logg"]
        """
    )
    with pytest.raises(ValueError, match="Logg"):
        load_book_classes(file)
