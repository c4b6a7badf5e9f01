"""A site is built again only if something of which it is made has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_learn.site.last_build import LastBuild


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in (
        "staged/index.md",
        "staged/book/page.md",
        "kafka_learn/site/theme/main.html",
        "mkdocs.yml",
        "site/index.html",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")
    return tmp_path


def last_build(root: Path, site_url: str = "") -> LastBuild:
    return LastBuild(root / "site", root / "staged", site_url, root)


def test_a_site_is_current_after_a_good_build_only(root: Path) -> None:
    build = last_build(root)
    assert not build.is_current()
    build.note()
    assert last_build(root).is_current()
    build.forget()
    assert not build.is_current()
    build.forget()


@pytest.mark.parametrize(
    "changed", ["staged/book/page.md", "kafka_learn/site/theme/main.html", "mkdocs.yml", "uv.lock"]
)
def test_what_it_was_made_of_has_changed(root: Path, changed: str) -> None:
    last_build(root).note()
    (root / changed).write_text("other", encoding="utf-8")
    assert not last_build(root).is_current()


def test_a_page_that_is_gone_or_was_renamed_is_a_change(root: Path) -> None:
    last_build(root).note()
    (root / "staged/book/page.md").rename(root / "staged/book/other.md")
    assert not last_build(root).is_current()


def test_a_site_for_another_address_is_another(root: Path) -> None:
    last_build(root).note()
    assert not last_build(root, "https://example.org/").is_current()


def test_a_site_that_was_removed_is_not_current(root: Path) -> None:
    last_build(root).note()
    (root / "site" / ".built-from").unlink()
    (root / "site" / "index.html").unlink()
    (root / "site").rmdir()
    assert not last_build(root).is_current()
    last_build(root).forget()
