"""The old address of a page leads to its new one, in the same language."""

from __future__ import annotations

import re
from pathlib import Path

from kafka_learn.project import PROJECT_ROOT
from kafka_learn.site.built import moved_pages


def test_an_old_address_leads_to_the_page_of_its_language(tmp_path: Path) -> None:
    pages = list(moved_pages.write(tmp_path, {"book/old/name": "book/new"}))
    assert [page.relative_to(tmp_path).as_posix() for page in pages] == [
        "book/old/name/index.html", "zh/book/old/name/index.html",
    ]  # fmt: skip
    for page, new in zip(pages, ("book/new", "zh/book/new"), strict=True):
        (address,) = set(re.findall(r'(?:url=|href=")([^"]+)"', page.read_text(encoding="utf-8")))
        assert (page.parent / address).resolve() == (tmp_path / new).resolve()


def test_no_page_is_at_an_old_address_and_one_is_at_each_new_one() -> None:
    for old, new in moved_pages.MOVED.items():
        for suffix in (".md", ".zh.md"):
            assert not (PROJECT_ROOT / old.replace("book", "chapters", 1)).with_suffix(suffix).exists()
            assert (PROJECT_ROOT / new.replace("book", "chapters", 1)).with_suffix(suffix).exists()
