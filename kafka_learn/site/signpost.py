"""The lines below the title of a chapter's page: its book sections, its notebook and its labs."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from pathlib import Path

from kafka_learn.labs.lab import load_lab
from kafka_learn.project import PROJECT_ROOT
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
    book = load_book(root / "chapters" / "book.toml")
    lines = signpost(origin.replace(".zh.md", ".md"), language, book, root)
    return f"{title}{newline}\n{lines}\n{rest}" if lines and title.startswith("# ") else text


def signpost(page: str, language: str, book: Book, root: Path = PROJECT_ROOT) -> str:
    """The signpost as Markdown; empty for a page that is not in ``book.toml``.

    ::

        Book: 3.5.1 Committing to ZooKeeper · 3.5.2 Committing to the internal topic · …
        Notebook · Lab: The offset cache
    """
    sections = [section for section in book.every_section if section.page == page]
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
    rows = [f"**{where}** {titles}", *([" · ".join(links)] if links else [])]
    return "<br>\n".join(rows) + "\n{ .signpost }\n"


def _way(page: str, target: str) -> str:
    """The relative path between the site pages of two files of the repository."""
    start, end = (path.replace("chapters/", "book/", 1) for path in (posixpath.dirname(page), target))
    return posixpath.relpath(end, start)


def _once(names: Iterable[str]) -> list[str]:
    """Every name once, in order."""
    return [name for name in dict.fromkeys(names) if name]
