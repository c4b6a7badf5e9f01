"""The path through the book, read from ``chapters/path.toml``: every page once, each after what one knows before it.

A page is named by its path in the repository, such as ``chapters/ch06_storage/reading.md``, in both languages.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kafka_learn.labs.lab import DIFFICULTIES, Lab, load_lab
from kafka_learn.project import PROJECT_ROOT
from kafka_learn.site.path.reading_time import size_of
from kafka_lite.book.contents import Book, Section, load_book
from kafka_lite.book.data_files import read_toml


@dataclass(frozen=True)
class Stage:
    """A part of the path: chapters or parts of them, whose pages are read one after the other."""

    en: str
    zh: str
    sections: tuple[str, ...]

    def title(self, language: str) -> str:
        """The title in a language."""
        return self.zh if language == "zh" else self.en

    def has(self, section: str) -> bool:
        """Whether a section, such as ``6.1.3``, belongs to it."""
        return any(f"{section}.".startswith(f"{part}.") for part in self.sections)


@dataclass(frozen=True)
class Stop:
    """A page on the path, with its difficulty and the pages that one knows before it."""

    page: str
    stage: Stage
    difficulty: str
    before: tuple[str, ...]
    notebooks: tuple[str, ...] = ()
    labs: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlannedDay:
    """A day of a plan: its title in both languages, its pages, and its labs as ``labs/<name>``, in order."""

    en: str
    zh: str
    stops: tuple[str, ...]

    def title(self, language: str) -> str:
        """The title in a language."""
        return self.zh if language == "zh" else self.en


@dataclass(frozen=True)
class ReadingPath:
    """All stops in order, and the days of the week-end."""

    stages: tuple[Stage, ...] = ()
    stops: tuple[Stop, ...] = ()
    week_end: tuple[PlannedDay, ...] = ()
    root: Path = PROJECT_ROOT
    _place: dict[str, int] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        self._place.update({stop.page: number for number, stop in enumerate(self.stops)})

    def stop(self, page: str) -> Stop | None:
        """The stop of a page; None if the page is not on the path."""
        place = self._place.get(page)
        return None if place is None else self.stops[place]

    def number(self, page: str) -> int:
        """The number of a stop, from 1. Raises KeyError."""
        return self._place[page] + 1

    def neighbours(self, page: str) -> tuple[str, str]:
        """The pages before and after this one, each empty at the path's end. Raises KeyError."""
        place = self._place[page]
        before = self.stops[place - 1].page if place else ""
        after = self.stops[place + 1].page if place + 1 < len(self.stops) else ""
        return before, after

    def minutes(self, page: str, language: str) -> int:
        """The time to read a page."""
        return size_of(self._text(page, language)).minutes

    def title(self, page: str, language: str) -> str:
        """The title that a page has, in a language."""
        first = next((line for line in self._text(page, language).splitlines() if line.startswith("# ")), f"# {page}")
        return first.removeprefix("# ").strip()

    def lab(self, name: str) -> Lab:
        """The lab ``labs/<name>``."""
        return _lab(self.root / name)

    def _text(self, page: str, language: str) -> str:
        return _read(self.root / (page.replace(".md", ".zh.md") if language == "zh" else page))


@functools.cache
def reading_path(root: Path = PROJECT_ROOT) -> ReadingPath:
    """The path of a project; an empty one if it has none.

    Raises KeyError for a page without a row, ValueError for an unknown difficulty.
    """
    file = root / "chapters" / "path.toml"
    if not file.exists():
        return ReadingPath(root=root)
    data = read_toml(file)
    stages = tuple(Stage(row["en"], row["zh"], tuple(row["sections"])) for row in data["stage"])
    stops = tuple(_stops(stages, load_book(root / "chapters" / "book.toml"), data["pages"]))
    days = tuple(PlannedDay(row["en"], row["zh"], tuple(row["stops"])) for row in data.get("week_end", ()))
    return ReadingPath(stages, stops, days, root)


def _stops(stages: tuple[Stage, ...], book: Book, rows: dict[str, Any]) -> Iterator[Stop]:
    for stage in stages:
        ordered = [s for part in stage.sections for s in book.every_section if f"{s.number}.".startswith(f"{part}.")]
        for page in _once(page for section in ordered for page in section.pages):
            yield _stop(page, stage, [section for section in book.every_section if page in section.pages], rows)


def _stop(page: str, stage: Stage, sections: list[Section], rows: dict[str, Any]) -> Stop:
    if page not in rows:
        raise KeyError(f"{page} has no row in [pages] of chapters/path.toml")
    row = rows[page]
    if row["difficulty"] not in DIFFICULTIES:
        raise ValueError(f"{page}: difficulty is one of {', '.join(DIFFICULTIES)}, not {row['difficulty']}")
    notebooks = _once(section.notebook for section in sections)
    labs = _once(lab for section in sections for lab in section.labs)
    return Stop(page, stage, row["difficulty"], tuple(row["before"]), notebooks, labs)


def _once(names: Iterator[str]) -> tuple[str, ...]:
    """Every name once, in order."""
    return tuple(name for name in dict.fromkeys(names) if name)


@functools.cache
def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@functools.cache
def _lab(folder: Path) -> Lab:
    return load_lab(folder)
