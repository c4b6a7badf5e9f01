"""The site's menu, as a hook of mkdocs: adds the book's pages and the labs, and leads along the path.

``mkdocs.yml`` has the menu but for them. A page of the book or a lab appears with its own title, in the language of the
site that is being built, so that none is forgotten and none has a name that only its author knows.
"""

from __future__ import annotations

from typing import Any

from kafka_learn.labs.lab import Lab, all_labs
from kafka_learn.project import PROJECT_ROOT
from kafka_learn.site.path.reading_path import ReadingPath, reading_path
from kafka_learn.site.repository_markdown import site_page
from kafka_lite.book.contents import Book, Chapter, load_book

Menu = list[Any]
"""Entries as mkdocs takes them: the path of a page, or a dictionary of one title with a path or a menu."""


def on_config(config: Any) -> Any:
    """Complete the menu in the language that mkdocs-static-i18n is about to build."""
    if config.nav is not None and "i18n" in config.plugins:
        written = config.extra.setdefault("written_menu", config.nav)  # one configuration serves both languages in turn
        config.nav = completed(written, config.plugins["i18n"].current_language or "en")
    return config


def on_nav(nav: Any, **_: Any) -> Any:
    """Let the foot of each page of the path, of its notebooks and its labs lead along the path."""
    pages = {page.file.src_uri.replace(".zh.md", ".md"): page for page in nav.pages}
    for uri, (before, after) in steps(reading_path()).items():
        if uri in pages:
            pages[uri].previous_page, pages[uri].next_page = pages.get(before), pages.get(after)
    return nav


def completed(menu: Menu, language: str) -> Menu:
    """The menu with the chapters at the end of the section *Book*, and the labs in *Labs*."""
    book = load_book(PROJECT_ROOT / "chapters" / "book.toml")
    added = {"Book": chapters(book, language), "Labs": labs(book, language)}
    return [_with(entry, added) for entry in menu]


def _with(entry: Any, added: dict[str, Menu]) -> Any:
    title = next(iter(entry)) if isinstance(entry, dict) else ""
    return {title: entry[title] + added[title]} if title in added else entry


def chapters(book: Book, language: str) -> Menu:
    """Each chapter that has pages, with its pages and notebooks in the book's order."""
    menu: Menu = []
    for chapter in book.chapters + book.added_chapters:
        files = [file for section in book.sections_of(chapter.number) for file in (*section.pages, section.notebook)]
        pages = [uri(file) for file in dict.fromkeys(_pages_first(files)) if file.startswith("chapters/")]
        if pages:
            menu.append({_title(chapter, language): pages})
    return menu


def _pages_first(files: list[str]) -> list[str]:
    """The files, each notebook at its last place: after all pages that it belongs to."""
    last = {file: number for number, file in enumerate(files)}
    return [file for number, file in enumerate(files) if file and (file.endswith(".md") or last[file] == number)]


def labs(book: Book, language: str) -> Menu:
    """The labs by chapter, each with its title."""
    menu: Menu = []
    shipped = all_labs()
    for chapter in book.chapters + book.added_chapters:
        of_chapter = [lab for lab in shipped if _is_of(lab, chapter)]
        if of_chapter:
            entries = [{lab.title_in(language): f"labs/{lab.name}.md"} for lab in of_chapter]
            menu.append({_title(chapter, language): entries})
    return menu


def _is_of(lab: Lab, chapter: Chapter) -> bool:
    return lab.section.split(".")[0] == chapter.number


def _title(chapter: Chapter, language: str) -> str:
    return f"{chapter.number} {chapter.zh if language == 'zh' else chapter.en}"


def uri(file: str) -> str:
    """The place in the site's source tree of a page or notebook of the repository, or of a lab's folder."""
    page = site_page(f"{file}/README.md" if file.startswith("labs/") else file)
    assert page is not None, file
    return page.as_posix()


def steps(path: ReadingPath) -> dict[str, tuple[str, str]]:
    """For each page: the places of the pages before and after it; empty where there is none.

    A notebook or lab has its page before it, and after it the stop after that: it is a detour.
    """
    found: dict[str, tuple[str, str]] = {}
    for stop in path.stops:
        before, after = (uri(page) if page else "" for page in path.neighbours(stop.page))
        for detour in (*stop.notebooks, *stop.labs):
            found[uri(detour)] = (uri(stop.page), after)
        found[uri(stop.page)] = (before, after)
    return found
