"""Badges that say whose behaviour something is: 0.10.2's, today's, or ours alone.

An excerpt has the badge of its module, whose docstring names the version of Kafka that has the class. In the table
*How Kafka's Scala differs* each row has the badge of what is done here: 0.10.2's if it is the same, today's if the row
names the KIP, the issue or the version in which Kafka changed, else ours alone.
"""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Iterator
from enum import Enum

from kafka_lite.book.module_reference import ModuleReference, parse_reference

BOOK_VERSION = "Kafka 0.10.2"


class Whose(Enum):
    """The owner of a behaviour; the value is the CSS class of its badge."""

    OF_THE_BOOK = "book"
    TODAYS = "today"
    OURS = "ours"


_LABELS = {
    Whose.OF_THE_BOOK: ("0.10.2", "0.10.2"),
    Whose.TODAYS: ("today", "今天"),
    Whose.OURS: ("ours alone", "只在这里"),
}
_MEANINGS = {
    Whose.OF_THE_BOOK: ("Kafka 0.10.2 does so, too", "Kafka 0.10.2 也是这样"),
    Whose.TODAYS: ("0.10.2 does not; later versions of Kafka do", "0.10.2 不是这样，后来的 Kafka 是"),
    Whose.OURS: (
        "only here: the page names no version of Kafka that does so",
        "只有这里这样：本页没有提到哪个版本的 Kafka 也这样",
    ),
}
_HEAD = re.compile(r"^\|\s*\|(?: Kafka 0\.9[^|]*\|)? Kafka(?: 0\.10\.2)? \| (?P<here>here|这里) \|")
"""The first row of a table of differences; other tables compare other things.

It may have a column for 0.9, too, and none for 0.10.2 where that has nothing to compare.
"""
_RULE = re.compile(r"^\|(?: *:?-+:? *\|)+$")
_SAME = re.compile(r"(?:the same|相同|一样|同样)[.。]?")
_VERSION = r"(?:Kafka )?(?:0\.11|[1-4]\.\d)"
_LATER = re.compile(
    rf"KIP-\d|KAFKA-\d|\b[Ss]ince {_VERSION}|\({_VERSION}|(?:Fixed|fixed) in {_VERSION}|\bKafka (?:0\.11|[1-4]\.\d)"
    r"|[Ll]ater (?:versions|Kafka)|later, too|[Tt]oday"
    rf"|[从自] ?{_VERSION}|{_VERSION}(?:\.\d)? ?(?:起|开始|以来|以后|修正)|（{_VERSION}|(?<!之)后来|今天"
)


def badge(whose: Whose, language: str, meaning: str = "") -> str:
    """The badge as inline HTML; ``meaning`` is its tooltip, else what the badge says in general."""
    is_chinese = language == "zh"
    title = html.escape(meaning or _MEANINGS[whose][is_chinese])
    return f'<span class="badge badge--{whose.value}" title="{title}">{_LABELS[whose][is_chinese]}</span>'


def badge_of_module(docstring: str, language: str) -> str:
    """The badge of code, by the docstring of its module; its tooltip names the files of Kafka.

    Empty for a counterpart that is not Kafka's, such as ZooKeeper's or Spark's.
    """
    reference = _reference(docstring)
    files = ", ".join(dict.fromkeys(each.path for each in reference.counterparts))
    if not reference.origin:
        return badge(Whose.OURS, language)
    if not reference.origin.startswith("Kafka "):
        return ""
    whose = Whose.OF_THE_BOOK if reference.origin == BOOK_VERSION else Whose.TODAYS
    return badge(whose, language, f"{reference.origin}: {files}")


@functools.lru_cache(maxsize=1024)
def _reference(docstring: str) -> ModuleReference:
    return parse_reference("", docstring)


def whose(here: str, why: str, there: str = "") -> Whose:
    """The owner of the behaviour that a row describes, by its cells *here*, *why* and *Kafka 0.10.2*.

    >>> whose("the same", ""), whose("by leader epoch", "KIP-101."), whose("one lock", "One is enough.")
    (<Whose.OF_THE_BOOK: 'book'>, <Whose.TODAYS: 'today'>, <Whose.OURS: 'ours'>)
    """
    if _SAME.fullmatch(here.strip()) or here == there:
        return Whose.OF_THE_BOOK
    return Whose.TODAYS if _LATER.search(f"{here} {why}") else Whose.OURS


def with_badges(text: str, language: str) -> str:
    """A page with a badge in each row of its table of differences."""
    return "\n".join(_rows(text.splitlines(), language)) + "\n"


def _rows(lines: list[str], language: str) -> Iterator[str]:
    column = 0
    """That of *here* in the table of differences around the line; 0 outside of one."""
    for line in lines:
        if head := _HEAD.match(line):
            column = cells(line).index(head["here"])
        elif not line.startswith("|"):
            column = 0
        is_a_difference = column and not head and not _RULE.match(line)
        yield _with_badge(line, column, language) if is_a_difference else line


def cells(row: str) -> list[str]:
    """The cells of a table's row; a bar in code or after a backslash is no border."""
    hidden = re.sub(r"`[^`]*`|\\\|", lambda found: found[0].replace("|", "\0"), row.strip().strip("|"))
    return [cell.replace("\0", "|").strip() for cell in hidden.split("|")]


def _with_badge(row: str, column: int, language: str) -> str:
    """``column`` is that of what is done here, between that of what is done there and the reason."""
    before, here, why = cells(row)[:column], cells(row)[column], cells(row)[column + 1 :]
    marked = f"{badge(whose(here, ' '.join(why), before[-1]), language)} {here}"
    return f"| {' | '.join([*before, marked, *why])} |"
