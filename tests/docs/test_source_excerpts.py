"""Every excerpt of source that a page shows exists. The site's build finds the same, minutes later."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from kafka_learn.site.directives import Page, expand
from kafka_learn.site.notes import DIRECTIVE
from kafka_learn.site.repository_markdown import in_fences

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path.relative_to(ROOT).as_posix() for top in ("chapters", "docs", "labs") for path in (ROOT / top).rglob("*.md")
)


def excerpts(text: str) -> list[tuple[int, str]]:
    """(number of the line, directive) of each excerpt outside of fences."""
    lines = text.splitlines()
    return [
        (number, line.strip())
        for number, (line, is_code) in enumerate(zip(lines, in_fences(lines), strict=True), 1)
        if not is_code and (directive := DIRECTIVE.match(line)) and directive["spec"].split()[0] == "source"
    ]


@pytest.mark.parametrize("page", [page for page in PAGES if excerpts((ROOT / page).read_text(encoding="utf-8"))])
def test_its_symbols_exist(page: str) -> None:
    for number, directive in excerpts((ROOT / page).read_text(encoding="utf-8")):
        expand(directive + "\n", Page(f"{page}, line {number}", PurePosixPath("book", page)))
