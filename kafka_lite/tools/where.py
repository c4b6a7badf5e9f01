"""``kafka-lite where``: finds a class of Kafka, the book or kafka_lite.

Kafka has no such tool; it is the class index for the book's readers · book 1.5
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from kafka_lite.book.class_index import ClassEntry, load_class_index
from kafka_lite.book.contents import Book, load_book
from kafka_lite.book.data_files import PACKAGE
from kafka_lite.book.mirrored_tests import files_that_test
from kafka_lite.tools.common import terminal

NAME = "where"
SUMMARY = "find a class: its module, its tests, its file in Kafka, its sections in the book, its page and its lab"

NOT_FOUND = 1
_SHOWN_IN_FULL = 3
"""If more classes match, each gets one line."""
_LONGER_NAMES = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The name to search for."""
    parser.add_argument(
        "name",
        metavar="NAME",
        help="a class or a module, or part of its name: RecordAccumulator, offset_index, Purgatory",
    )


def run(options: argparse.Namespace) -> int:
    """Print the index entries for a name. Returns 1 if there are none."""
    index = load_class_index()
    found = index.find(options.name)
    if not found:
        close = index.close_names(options.name)
        meant = f" Similar: {', '.join(close)}." if close else ""
        terminal.print_error(f"{NAME}: no class is called {options.name!r} here, in the book, or in its Kafka.{meant}")
        return NOT_FOUND
    print("\n".join(_lines(found)))
    longer = [name for name in index.names_with(options.name) if name not in {entry.name for entry in found}]
    if longer:
        more = ", …" if len(longer) > _LONGER_NAMES else ""
        print(f"\nNames that contain it: {', '.join(longer[:_LONGER_NAMES])}{more}")
    return 0


def _lines(found: Sequence[ClassEntry]) -> Iterator[str]:
    if len(found) > _SHOWN_IN_FULL:
        yield from _one_line_each(found)
        return
    book = load_book()
    for number, entry in enumerate(found):
        if number:
            yield ""
        yield terminal.styled(entry.name, "bold")
        for title, text in _facts(entry, book):
            yield f"  {terminal.styled(f'{title:<8}', 'cyan')} {text}"


def _one_line_each(found: Sequence[ClassEntry]) -> Iterator[str]:
    name_width = max(len(entry.name) for entry in found)
    place_width = max(len(_place(entry)) for entry in found)
    for entry in found:
        name = terminal.styled(f"{entry.name:<{name_width}}", "bold")
        yield f"{name}  {_place(entry):<{place_width}}  {', '.join(entry.sections)}".rstrip()


def _facts(entry: ClassEntry, book: Book) -> Iterator[tuple[str, str]]:
    """(title, text) lines; a title equal to the one above is left empty."""
    if entry.module and entry.symbol not in ("", entry.name):
        yield "here", f"{_place(entry)}, as {entry.symbol}"
    else:
        yield "here", _place(entry)
    yield from _rows("tests", files_that_test(entry.file) if entry.file else ())
    yield "Kafka", f"{entry.origin.removeprefix('Kafka ')}: {entry.kafka}" if entry.origin else "no class of this name"
    sections = [book.section(number) for number in entry.sections]
    yield from _rows("book", [f"{each.number} {each.en} · {each.zh}" for each in sections])
    yield from _rows("page", [page for each in sections for page in each.pages])
    yield from _rows("notebook", [each.notebook for each in sections])
    yield from _rows("lab", [lab.removeprefix("labs/") for each in sections for lab in each.labs])


def _rows(title: str, texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    for number, text in enumerate(filter(None, dict.fromkeys(texts))):
        yield ("" if number else title), text


def _place(entry: ClassEntry) -> str:
    """``kafka_lite/log/log.py:61`` in a clone, the full path if the package is installed."""
    if not entry.module:
        return f"no room yet ({entry.reason})"
    root = "" if (PACKAGE.parent / "chapters").is_dir() else f"{PACKAGE.parent}/"
    return f"{root}{entry.file}:{entry.line}"
