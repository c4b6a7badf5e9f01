"""The site's pages about the book: its table of contents and its class index.

Each public function takes the page's language and returns Markdown, for a ``generated`` directive.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from kafka_learn.project import PROJECT_ROOT
from kafka_learn.site.path.reading_path import Stop, reading_path
from kafka_learn.site.path.site_menu import uri
from kafka_learn.site.reference import table
from kafka_lite.book.class_index import ClassEntry, load_class_index
from kafka_lite.book.contents import Book, Section, load_book
from kafka_lite.book.module_reference import ModuleReference, module_references

_WORDS = {
    "title": ("title", "标题"),
    "to read": ("to read", "学习材料"),
    "page": ("text", "正文"),
    "minutes": ("minutes", "分钟"),
    "to do": ("notebook, labs", "笔记本、实验"),
    "sections": ("Section by section, with its modules", "各小节及其模块"),
    "notebook": ("notebook", "笔记本"),
    "lab": ("lab", "实验"),
    "modules": ("modules", "模块"),
    "class": ("class", "类"),
    "book": ("book", "书中章节"),
    "here": ("here", "在这里"),
    "as": ("as", "名为"),
    "no room": ("no room yet", "尚未实现"),
}
"""English and Chinese."""


@dataclass(frozen=True)
class ClassPage:
    """A page of the class index: the first and the last letter of its classes, and its file in ``docs/book/``."""

    first: str
    last: str
    file: str

    @property
    def letters(self) -> str:
        """The page's name, such as A–G."""
        return f"{self.first}–{self.last}"

    def has(self, name: str) -> bool:
        """Whether a class is on the page."""
        return self.first <= name[0].upper() <= self.last


CLASS_PAGES = (
    ClassPage("A", "G", "classes.md"),
    ClassPage("H", "P", "classes-h-to-p.md"),
    ClassPage("Q", "Z", "classes-q-to-z.md"),
)
"""One page would be twice as large as a page may be."""
_SHOWN_SOURCE = re.compile(r"^\s*<!-- source (?P<module>[\w.]+):", re.MULTILINE)


def contents(language: str) -> str:
    """The table of contents: each chapter's pages with notebooks and labs, and folded, its sections with their modules.

    Sections share pages, so a chapter's pages fit on a screen where its sections do not.
    """
    book, references = load_book(), module_references()
    parts = []
    for chapter in book.chapters + book.added_chapters:
        title = chapter.zh if language == "zh" else chapter.en
        sections = book.sections_of(chapter.number)
        pages = _pages(sections, language)
        folded = "\n".join(
            f"    {line}" if line else "" for line in _by_section(sections, references, language).splitlines()
        )
        parts.append(f'## {chapter.number} {title}\n\n{pages}??? abstract "{_word("sections", language)}"\n\n{folded}')
    return "\n\n".join(parts)


def _pages(sections: Iterable[Section], language: str) -> str:
    """The chapter's pages as a table; nothing if it has none yet."""
    names = dict.fromkeys(page for section in sections for page in section.pages)
    stops = [stop for stop in map(reading_path().stop, names) if stop]
    if not stops:
        return ""
    head = [_word(name, language) for name in ("page", "minutes", "to do")]
    return table(head, [_page_row(stop, language) for stop in stops]) + "\n\n"


def _page_row(stop: Stop, language: str) -> list[str]:
    path = reading_path()
    links = [f"[{_word('notebook', language)}](../{uri(name)})" for name in stop.notebooks]
    links += [f"[{path.lab(name).title_in(language)}](../{uri(name)})" for name in stop.labs]
    title = f'[{path.title(stop.page, language)}](../{uri(stop.page)}){{ data-stop="{stop.page}" }}'
    return [title, str(path.minutes(stop.page, language)), " · ".join(links)]


def _by_section(sections: Iterable[Section], references: Iterable[ModuleReference], language: str) -> str:
    rows = [_section_row(section, _modules(section.number, references), language) for section in sections]
    return table(["§", *(_word(name, language) for name in ("title", "to read", "modules"))], rows)


def class_index(language: str) -> str:
    """The Kafka classes from A to G with their sections, their counterparts here, and links to read about them.

    ``docs/assets/class-index.js`` adds a field to the table, which searches all parts of the index.
    """
    return _class_index(CLASS_PAGES[0], language)


def class_index_h_to_p(language: str) -> str:
    """The second part of the class index."""
    return _class_index(CLASS_PAGES[1], language)


def class_index_q_to_z(language: str) -> str:
    """The third part of the class index."""
    return _class_index(CLASS_PAGES[2], language)


def _class_index(part: ClassPage, language: str) -> str:
    book, shown = load_book(), _modules_with_a_source_page()
    entries = [entry for entry in load_class_index().entries if entry.origin and part.has(entry.name)]
    rows = [_class_row(entry, book, entry.module in shown, language) for entry in entries]
    head = [_word("class", language), _word("book", language), _word("here", language)]
    pages = (f"**{page.letters}**" if page == part else f"[{page.letters}]({page.file})" for page in CLASS_PAGES)
    parts = f"{' · '.join(pages)}\n{{ .class-parts }}"
    return f'<div class="class-index" markdown>\n\n{parts}\n\n{table(head, rows)}\n\n</div>'


def _class_row(entry: ClassEntry, book: Book, has_source_page: bool, language: str) -> list[str]:
    sections = [book.section(number) for number in entry.sections]
    origin = entry.origin.removeprefix("Kafka ")
    name = f"`{entry.name}`<br><small>{origin}: {entry.kafka}</small>"
    read = "<br>".join(_section_with_links(section, language) for section in sections)
    return [name, read, _place(entry, has_source_page, language)]


def _section_with_links(section: Section, language: str) -> str:
    """The title, linked to the text, and below it links to notebook and labs."""
    title = f"{section.number} {section.title(language)}"
    text, *others = _links(section, language) if section.page else ("", *_links(section, language))
    if text:
        title = f"[{title}]({text.partition('](')[2]}"
    return f"{title}<br><small>{' · '.join(others)}</small>" if others else title


def _place(entry: ClassEntry, has_source_page: bool, language: str) -> str:
    """The class's location here, linked to the line if the site has the module's source page."""
    if not entry.module:
        return f"{_word('no room', language)}<br><small>{entry.reason}</small>"
    place = f"`{entry.file.removeprefix('kafka_lite/')}`:{entry.line}"
    if has_source_page:
        place = f"[{place}](../source/{entry.file.removesuffix('.py')}.md#__codelineno-0-{entry.line})"
    other_name = entry.symbol not in ("", entry.name)
    return f"{place}<br><small>{_word('as', language)} `{entry.symbol}`</small>" if other_name else place


def _modules_with_a_source_page() -> set[str]:
    """The modules whose code the chapters' texts show."""
    texts = (path.read_text(encoding="utf-8") for path in (PROJECT_ROOT / "chapters").glob("*/*.md"))
    return {match["module"] for text in texts for match in _SHOWN_SOURCE.finditer(text)}


def _modules(number: str, references: Iterable[ModuleReference]) -> list[str]:
    return [ref.module for ref in references if number in ref.sections]


def _section_row(section: Section, modules: list[str], language: str) -> list[str]:
    bold = "**" if section.depth == 2 else ""
    shown = " ".join(f"`{module.removeprefix('kafka_lite.')}`" for module in modules)
    title = f"{bold}{section.title(language)}{bold}"
    return [f"{bold}{section.number}{bold}", title, " · ".join(_links(section, language)), shown]


def _links(section: Section, language: str) -> Iterator[str]:
    """Links to a section's texts, notebook and labs, from a page in ``book/``."""
    for number, page in enumerate(section.pages, 1):
        target = f"../{page.removeprefix('docs/')}" if page.startswith("docs/") else _chapter_page(page)
        which = f" {number}" if number > 1 else ""
        yield f"[{_word('page', language)}{which}]({target})"
    if section.notebook:
        target = _chapter_page(section.notebook.replace(".py", "_notebook.md"))
        yield f"[{_word('notebook', language)}]({target})"
    for lab in section.labs:
        yield _lab_link(PurePosixPath(lab).name, len(section.labs) > 1, language)


def _lab_link(name: str, is_one_of_several: bool, language: str) -> str:
    which = f" {name.partition('-')[2]}" if is_one_of_several else ""
    return f"[{_word('lab', language)}{which}](../labs/{name}.md)"


def _chapter_page(path: str) -> str:
    return path.removeprefix("chapters/")


def _word(name: str, language: str) -> str:
    return _WORDS[name][language == "zh"]
