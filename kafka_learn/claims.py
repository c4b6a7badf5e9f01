"""The statements of pages about what a version of Kafka does, and their places in Kafka's source.

``python -m kafka_learn.claims`` lists the statements that have no place yet. With the path of a clone of Kafka's
repository it shows those that have one, each above its lines of source: that is how to verify them.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kafka_learn.project import PROJECT_ROOT

PLACES_FILE = PROJECT_ROOT / "chapters/claims.toml"
NAMED_ONLY = "named_only"
"""The key in that file of statements that name a version of Kafka, but say nothing about its source."""
_VERSION = r"(?:0\.\d+(?:\.\d+)*|[1-4]\.\d+(?:\.\d+)*)"
_END = r"\b(?! ?(?:µs|ms|s|kB|MB|GB)\b)"
"""After a version; a number with a unit is none."""
_STATEMENT = re.compile(
    rf"(?<![\w.])0\.(?:7|8|9|10|11){_END}|\bKafka(?:'s)? {_VERSION}{_END}"
    rf"|\b(?:since|before|until|from|up to|came with|came in) (?:Kafka |version )?{_VERSION}{_END}",
    re.IGNORECASE,
)
_COLUMN = "Kafka 0.10.2"
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+(?=[A-Z`*(\[-])")
_LEFT_OUT = re.compile(r"^```.*?^```|^ *<!--.*?-->$", re.DOTALL | re.MULTILINE)
_PLACE = re.compile(
    r"(?P<path>[\w./-]+\.(?:scala|java|sh|properties|json|gradle|html))@(?P<tag>[\w.-]+)"
    r":(?P<first>\d+)(?:-(?P<last>\d+))?"
)


@dataclass(frozen=True)
class Place:
    """Lines of a file of Kafka's repository at a tag, or at a commit."""

    path: str
    tag: str
    first: int
    last: int

    @classmethod
    def parse(cls, text: str) -> Place:
        """From ``path@tag:first-last`` or ``path@tag:line``; raises ValueError."""
        found = _PLACE.fullmatch(text)
        if found is None or int(found["last"] or found["first"]) < int(found["first"]):
            raise ValueError(f"{text!r} is not path@tag:first-last")
        return cls(found["path"], found["tag"], int(found["first"]), int(found["last"] or found["first"]))

    def lines(self, repository: str) -> list[str]:
        """The lines, from a clone of Kafka's repository."""
        show = ["git", "-C", repository, "show", f"{self.tag}:{self.path}"]
        source = subprocess.run(show, check=True, capture_output=True, text=True).stdout.splitlines()
        return source[self.first - 1 : self.last]


@dataclass(frozen=True)
class PlacedClaim:
    """Words of a page and of its Chinese twin, and where Kafka's source shows that they are true."""

    page: str
    en: str
    zh: str
    place: Place


@dataclass(frozen=True)
class NamedOnly:
    """Words of a statement that names a version of Kafka, and the reason why its source has no place for it."""

    page: str
    en: str
    why: str


def placed_claims() -> list[PlacedClaim]:
    """The statements with a place, from ``chapters/claims.toml``."""
    return [
        PlacedClaim(page, row["en"], row.get("zh", ""), Place.parse(row["at"]))
        for page, rows in _tables().items()
        if page != NAMED_ONLY
        for row in rows
    ]


def named_only() -> list[NamedOnly]:
    """The statements that need no place, from ``chapters/claims.toml``."""
    return [NamedOnly(**row) for row in _tables()[NAMED_ONLY]]


def _tables() -> dict[str, list[dict[str, str]]]:
    return tomllib.loads(PLACES_FILE.read_text(encoding="utf-8"))


def pages() -> list[Path]:
    """The English pages that may state what Kafka does; those for contributors speak of kafka_lite."""
    found = [*(PROJECT_ROOT / "chapters").rglob("*.md"), *(PROJECT_ROOT / "docs").rglob("*.md")]
    return sorted(page for page in found if not page.name.endswith(".zh.md") and "contributing" not in page.parts)


def statements(text: str) -> Iterator[str]:
    """The sentences and table rows of Markdown that say what a version of Kafka does, each on one line.

    In a table with a column for Kafka 0.10.2, every row does.
    """
    for block in re.split(r"\n\s*\n", _LEFT_OUT.sub("", text)):
        lines = block.strip().splitlines()
        if lines and lines[0].startswith("|"):
            compares = _COLUMN in lines[0]
            yield from (row for row in lines[2:] if compares or _STATEMENT.search(row))
        elif lines and not lines[0].startswith("#"):
            sentences = _SENTENCE_END.split(" ".join(block.split()))
            yield from (sentence for sentence in sentences if _STATEMENT.search(sentence))


def without_place() -> list[tuple[str, str]]:
    """Page and statement for each statement none of whose words are in ``chapters/claims.toml``."""
    words: dict[str, list[str]] = {}
    placed = [(claim.page, claim.en) for claim in placed_claims()]
    for page, en in placed + [(row.page, row.en) for row in named_only()]:
        words.setdefault(page, []).append(en)
    return [
        (page.relative_to(PROJECT_ROOT).as_posix(), statement)
        for page in pages()
        for statement in statements(page.read_text(encoding="utf-8"))
        if not any(known in statement for known in words.get(page.relative_to(PROJECT_ROOT).as_posix(), ()))
    ]


def tell(line: str) -> None:
    """Write a line to standard output."""
    sys.stdout.write(line + "\n")


def main() -> None:
    """List the statements without a place, or show the places of the others."""
    if len(sys.argv) == 1:
        for page, statement in without_place():
            tell(f"{page}: {statement}")
        return
    for claim in placed_claims():
        tell(f"{claim.page}: {claim.en}\n  {claim.place.path}@{claim.place.tag}")
        for number, line in enumerate(claim.place.lines(sys.argv[1]), claim.place.first):
            tell(f"  {number:5} {line}")


if __name__ == "__main__":
    main()
