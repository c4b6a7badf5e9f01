"""Keeps the lines of the repository's Markdown within 130 columns, as ``make pages`` and a test demand.

A paragraph or an item of a list with a longer line is filled again. What Markdown reads line by line stays as it is:
tables, code, HTML, directives and their notes. A line of an English page ends at a space. One of a Chinese page may
also end after a punctuation mark, since the site joins such lines, and elsewhere a space after the mark is not seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kafka_learn.site.notes import DIRECTIVE
from kafka_learn.site.repository_markdown import in_fences

COLUMNS = 130
_HAN = "\u3000-\u303f\u3400-\u9fff\uff00-\uffef\u2018-\u201d"
_ITEM = re.compile(r" *(?:[-*+]|\d+[.)]) +(?:\[[ x]\] )?")
_WHOLE_LINE = re.compile(r" {4}|\t|[|#<>=]|!!!|\?\?\?|\[[^\]]+\]: |-{3}")
"""The beginning of a line that is no part of a paragraph."""
_UNBROKEN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)|<!--.*?-->|\]\([^)]*\)|<[^>]*>")
_AFTER_MARK = re.compile(rf"(?<=[，。；：、！？])(?=[{_HAN}])(?![，。；：、！？）」』”’》])")
_BETWEEN_HAN = re.compile(rf"[{_HAN}] [{_HAN}]")
_LIKE_A_BLOCK = re.compile(r"(?:[-+*]|\d+[.)]|#{1,6}|=+|-+)(?: |$)|[>|<:]|`{3}|~{3}|!{3}|\?{3}|\[[^\]]+\]:")
"""The beginning of a word that means something else at the beginning of a line."""


def within_columns(text: str) -> str:
    """A page with its paragraphs filled where a line is too long."""
    lines = text.split("\n")
    output: list[str] = []
    paragraph: list[str] = []
    for kind, line in zip(_kinds(lines), lines, strict=True):
        if kind != "continued":
            output += _filled(paragraph)
            paragraph = []
        if kind == "alone":
            output.append(line)
        else:
            paragraph.append(line)
    return "\n".join(output + _filled(paragraph))


def too_long(text: str) -> Iterator[tuple[int, str]]:
    """The lines of paragraphs and lists that are too long, each with its number."""
    lines = text.split("\n")
    for number, (kind, line) in enumerate(zip(_kinds(lines), lines, strict=True), 1):
        if kind != "alone" and len(line) > COLUMNS:
            yield number, line


def _kinds(lines: list[str]) -> Iterator[str]:
    """For each line, whether it begins a paragraph or an item, is a continued one, or stands alone."""
    before, front_matter = "alone", lines[0] == "---"
    for number, (line, is_code) in enumerate(zip(lines, in_fences(lines), strict=True)):
        if front_matter:
            front_matter = number == 0 or line != "---"
            kind = "alone"
        elif is_code or not line.strip() or DIRECTIVE.match(line) or (number and DIRECTIVE.match(lines[number - 1])):
            kind = "alone"
        elif _ITEM.match(line):
            kind = "begun"
        elif before != "alone":
            kind = "alone" if _WHOLE_LINE.match(line.lstrip()) else "continued"
        else:
            kind = "alone" if _WHOLE_LINE.match(line) else "begun"
        yield kind
        before = kind


def _filled(paragraph: list[str]) -> list[str]:
    """The lines of a paragraph, filled again if one is too long; one with a forced break stays."""
    forced = any(line.endswith(("  ", "\\")) for line in paragraph)
    if forced or all(len(line) <= COLUMNS for line in paragraph):
        return paragraph
    item = _ITEM.match(paragraph[0])
    first = item[0] if item else " " * (len(paragraph[0]) - len(paragraph[0].lstrip()))
    text = _joined([paragraph[0][len(first) :], *paragraph[1:]])
    return list(_lines(text, first, " " * len(first)))


def _joined(lines: list[str]) -> str:
    text = lines[0].strip()
    for line in map(str.strip, lines[1:]):
        text += line if re.fullmatch(rf"[{_HAN}]{{2}}", text[-1:] + line[:1]) else f" {line}"
    return text


def _lines(text: str, first: str, others: str) -> Iterator[str]:
    indent, start = first, 0
    breaks = [*_breaks(text), len(text)]
    while start < len(text):
        room = COLUMNS - len(indent)
        fitting = [place for place in breaks if start < place <= start + room]
        end = fitting[-1] if fitting else next(place for place in breaks if place > start)
        yield indent + text[start:end].rstrip()
        start = end + (text[end : end + 1] == " ")
        indent = others


def _breaks(text: str) -> Iterator[int]:
    """The places where a line may end: at a space, and after a Chinese punctuation mark."""
    unbroken = [range(found.start() + 1, found.end()) for found in _UNBROKEN.finditer(text)]
    for found in re.finditer(rf" |{_AFTER_MARK.pattern}", text):
        place, next_word = found.start(), text[found.end() :]
        if found[0] and _BETWEEN_HAN.match(text[place - 1 : place + 2]):
            continue  # the site would drop this space
        if not _LIKE_A_BLOCK.match(next_word) and not any(place in span for span in unbroken):
            yield place
