"""The lines below the title of a page of the book: its sections, notebook and labs, and its place on the path."""

from __future__ import annotations

import functools
import posixpath
from collections.abc import Iterable
from pathlib import Path

from kafka_learn.labs.lab import load_lab
from kafka_learn.project import PROJECT_ROOT
from kafka_learn.site.path.reading_path import ReadingPath, reading_path
from kafka_learn.site.path.words import how_hard, word
from kafka_lite.book.contents import Book, load_book

_WORDS = {
    "en": {"book": "Book:", "added": "Beyond the book:", "notebook": "Notebook", "lab": "Lab:", "labs": "Labs:"},
    "zh": {"book": "书中：", "added": "书外：", "notebook": "笔记本", "lab": "实验：", "labs": "实验："},
}


def with_signpost(text: str, origin: str, language: str, root: Path = PROJECT_ROOT) -> str:
    """A page's text with the signpost below its title; unchanged if the page is not in ``book.toml``.

    ``origin`` is the page's path in the repository, in either language.
    """
    title, newline, rest = text.partition("\n")
    lines = signpost(origin.replace(".zh.md", ".md"), language, _book(root), root)
    return f"{title}{newline}\n{lines}\n{rest}" if lines and title.startswith("# ") else text


def signpost(page: str, language: str, book: Book, root: Path = PROJECT_ROOT) -> str:
    """The signpost as Markdown; empty for a page that is not in ``book.toml``.

    ::

        Book: 3.5.1 Committing to ZooKeeper · 3.5.2 Committing to the internal topic · …
        Notebook · Lab: The offset cache
        25 min · medium · know before: 3.2.3–3.4 Fetching and consuming · stop 47 of 56
    """
    sections = [section for section in book.every_section if page in section.pages]
    if not sections:
        return ""
    words = _WORDS[language]
    titles = " · ".join(f"{each.number} {each.zh if language == 'zh' else each.en}" for each in sections)
    links = [
        f"[{words['notebook']}]({_way(page, notebook.replace('.py', '_notebook.md'))})"
        for notebook in _once(section.notebook for section in sections)
    ]
    labs = [
        f"[{load_lab(root / folder).title_in(language)}]({_way(page, f'{folder}.md')})"
        for folder in _once(lab for section in sections for lab in section.labs)
    ]
    if labs:
        links.append(f"{words['lab' if len(labs) == 1 else 'labs']} {', '.join(labs)}")
    where = words["book" if sections[0] in book.sections else "added"]
    on_the_path = _place(page, reading_path(root), language)
    # A quick start names its section in its text.
    of_the_book = f"**{where}** {titles}" if page.startswith("chapters/") else ""
    rows = [of_the_book, " · ".join(links), on_the_path]
    mark = f' data-stop="{page}"' if on_the_path else ""
    return "<br>\n".join(filter(None, rows)) + f"\n{{ .signpost{mark} }}\n"


def _place(page: str, path: ReadingPath, language: str) -> str:
    """Time, difficulty, what to know before, and the number on the path; empty for a page that is not on it."""
    stop = path.stop(page)
    if stop is None:
        return ""
    minutes = word("minutes", language).format(path.minutes(page, language))
    parts = [f"**{minutes}**", how_hard(stop.difficulty, language)]
    before = [f"[{path.title(each, language)}]({_way(page, each)})" for each in stop.before]
    if before:
        parts.append(word("know before", language) + word("between", language).join(before))
    number = word("stop", language).format(path.number(page), len(path.stops))
    parts.append(f"[{number}]({_way(page, 'docs/book/path.md')})")
    return " · ".join(parts)


def _way(page: str, target: str) -> str:
    """The relative path between the site pages of two files of the repository."""
    return posixpath.relpath(_on_the_site(target), posixpath.dirname(_on_the_site(page)))


def _on_the_site(path: str) -> str:
    return path.replace("chapters/", "book/", 1).removeprefix("docs/")


@functools.cache
def _book(root: Path) -> Book:
    return load_book(root / "chapters" / "book.toml")


def _once(names: Iterable[str]) -> list[str]:
    """Every name once, in order."""
    return [name for name in dict.fromkeys(names) if name]
