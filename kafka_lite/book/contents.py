"""The book's table of contents: chapters, sections, and what has been written for each section here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kafka_lite.book.data_files import book_data, read_toml


@dataclass(frozen=True)
class Chapter:
    """One chapter of the book; ``folder`` is where its text and notebooks lie in the repository."""

    number: str
    zh: str
    en: str
    folder: str


@dataclass(frozen=True)
class Section:
    """One section, of the book or added to it.

    ``page``, ``more_pages``, ``notebook`` and ``labs`` are paths in the repository, empty while unwritten.
    """

    number: str
    zh: str
    en: str
    home: tuple[str, ...] = ()
    page: str = ""
    notebook: str = ""
    labs: tuple[str, ...] = ()
    more_pages: tuple[str, ...] = ()

    @property
    def pages(self) -> tuple[str, ...]:
        """All pages of its text, in order; empty while unwritten."""
        return tuple(filter(None, (self.page, *self.more_pages)))

    @property
    def chapter(self) -> str:
        """The number of the chapter that the section is in."""
        return self.number.split(".")[0]

    @property
    def depth(self) -> int:
        """2 for 6.1, 3 for 6.1.3."""
        return self.number.count(".") + 1

    @property
    def covered(self) -> bool:
        """Whether anything has been written for the section yet."""
        return bool(self.page or self.notebook or self.labs)

    def title(self, language: str) -> str:
        """The title in a language, ``"en"`` or ``"zh"``."""
        return self.zh if language == "zh" else self.en


@dataclass(frozen=True)
class Topic:
    """A subject of the author's slides and articles that gets a row of its own beside its section."""

    name: str
    en: str
    section: str


@dataclass(frozen=True)
class Book:
    """The whole table of contents, in the book's order, and the chapters that this project adds to it."""

    chapters: tuple[Chapter, ...]
    sections: tuple[Section, ...]
    topics: tuple[Topic, ...]
    added_chapters: tuple[Chapter, ...] = ()
    """Chapters that the printed book does not have; their numbers are letters."""
    added_sections: tuple[Section, ...] = ()

    @property
    def every_section(self) -> tuple[Section, ...]:
        """The sections of the book, and then those that are added."""
        return self.sections + self.added_sections

    def section(self, number: str) -> Section:
        """The section of that number. Raises KeyError if the book has none."""
        for section in self.sections:
            if section.number == number:
                return section
        raise KeyError(f"the book has no section {number}")

    def sections_of(self, chapter: str) -> tuple[Section, ...]:
        """The sections of one chapter, in order. The chapter may be an added one."""
        return tuple(section for section in self.every_section if section.chapter == chapter)


def load_book(path: Path | None = None) -> Book:
    """Read the table of contents. Raises TypeError for a missing or misspelt key."""
    data = read_toml(path or book_data("book.toml"))
    return Book(
        chapters=tuple(Chapter(**row) for row in data["chapter"]),
        sections=tuple(_section(row) for row in data["section"]),
        topics=tuple(Topic(**row) for row in data["topic"]),
        added_chapters=tuple(Chapter(**row) for row in data.get("added_chapter", ())),
        added_sections=tuple(_section(row) for row in data.get("added_section", ())),
    )


def _section(row: dict[str, Any]) -> Section:
    return Section(**{**row, **{name: tuple(row.get(name, ())) for name in ("home", "labs", "more_pages")}})
