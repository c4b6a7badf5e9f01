"""Writes what the repository's Markdown says from data: notes below directives, APIs served, the map.

``make pages`` calls it. It fills lines of more than 130 columns, too.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from kafka_learn.project import PROJECT_ROOT
from kafka_learn.site.line_width import within_columns
from kafka_learn.site.notes import with_notes
from kafka_learn.site.stated_facts import with_facts
from kafka_learn.source import UnknownSymbolError


def changed_pages(root: Path = PROJECT_ROOT) -> dict[Path, str]:
    """The pages that are out of date, each with its text as it should be.

    Raises UnknownSymbolError, which names the page, for a directive with an unknown module.
    """
    return {path: text for path, text in _rewritten(root) if text != path.read_text(encoding="utf-8")}


def _rewritten(root: Path) -> Iterator[tuple[Path, str]]:
    for path in (*sorted(root.glob("*.md")), root / "bench" / "README.md"):
        yield path, within_columns(with_facts(path.read_text(encoding="utf-8")))
    for folder in ("docs", "chapters", "labs"):
        for path in sorted((root / folder).rglob("*.md")):
            origin = path.relative_to(root).as_posix()
            try:
                language = "zh" if origin.endswith(".zh.md") else "en"
                noted = with_notes(path.read_text(encoding="utf-8"), origin, language)
                yield path, within_columns(with_facts(noted))
            except UnknownSymbolError as error:
                raise UnknownSymbolError(f"{origin}: {error}") from error


def main() -> int:
    """Rewrite the pages that are out of date, and name them."""
    for path, text in changed_pages().items():
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"rewritten: {path.relative_to(PROJECT_ROOT)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
