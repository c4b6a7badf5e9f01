"""The map from the book's sections to modules, pages, notebooks and labs.

``chapters/book.toml`` is the table of contents; which modules belong to a section is told by the modules themselves, in
the last lines of their docstrings: ``Kafka 0.10.2: core/.../log/OffsetIndex.scala · book 6.1.3``.
"""

from __future__ import annotations

import ast
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROJECT_ROOT = Path(__file__).resolve().parents[1]

# "· book 6.1.3, 10.2" ends a line of the docstring; the Kafka class stands before it.
_REFERENCE = re.compile(r"·\s*book\s+(?P<sections>[0-9.]+(?:\s*,\s*[0-9.]+)*)\s*$", re.MULTILINE)
_COUNTERPART = re.compile(r"^\s*Kafka 0\.10\.2:", re.MULTILINE)


@dataclass(frozen=True)
class Chapter:
    """One chapter of the book; ``folder`` is where its text and notebooks lie in the repository."""

    number: str
    zh: str
    en: str
    folder: str


@dataclass(frozen=True)
class Section:
    """One section. ``page``, ``notebook`` and ``labs`` are paths in the repository, empty while unwritten."""

    number: str
    zh: str
    en: str
    home: tuple[str, ...] = ()
    page: str = ""
    notebook: str = ""
    labs: tuple[str, ...] = ()

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


@dataclass(frozen=True)
class Topic:
    """A subject of the author's slides and articles that gets a row of its own beside its section."""

    name: str
    en: str
    section: str


@dataclass(frozen=True)
class Book:
    """The whole table of contents, in the book's order."""

    chapters: tuple[Chapter, ...]
    sections: tuple[Section, ...]
    topics: tuple[Topic, ...]

    def section(self, number: str) -> Section:
        """The section of that number; KeyError when the book has none."""
        for section in self.sections:
            if section.number == number:
                return section
        raise KeyError(f"the book has no section {number}")

    def sections_of(self, chapter: str) -> tuple[Section, ...]:
        """The sections of one chapter, in order."""
        return tuple(section for section in self.sections if section.chapter == chapter)


def load_book(path: Path = PROJECT_ROOT / "chapters" / "book.toml") -> Book:
    """Read the table of contents; a missing or misspelt key raises TypeError."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return Book(
        chapters=tuple(Chapter(**row) for row in data["chapter"]),
        sections=tuple(_section(row) for row in data["section"]),
        topics=tuple(Topic(**row) for row in data["topic"]),
    )


def _section(row: dict[str, Any]) -> Section:
    return Section(**{**row, "home": tuple(row.get("home", ())), "labs": tuple(row.get("labs", ()))})


@dataclass(frozen=True)
class ModuleReference:
    """What a module's docstring says of its place: its Kafka counterpart and the book's sections."""

    module: str
    has_counterpart: bool
    sections: tuple[str, ...]


def module_references(package: Path = PROJECT_ROOT / "kafka_lite") -> list[ModuleReference]:
    """One row for each module of the package, read from the source without importing it."""
    rows = []
    for path in sorted(package.rglob("*.py")):
        module = ".".join(path.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__")
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        rows.append(parse_reference(module, docstring))
    return rows


def parse_reference(module: str, docstring: str) -> ModuleReference:
    """Find ``Kafka 0.10.2: …`` and ``· book x.y.z, …`` in a module's docstring."""
    sections = [s.strip() for match in _REFERENCE.finditer(docstring) for s in match["sections"].split(",")]
    return ModuleReference(module, bool(_COUNTERPART.search(docstring)), tuple(sections))
