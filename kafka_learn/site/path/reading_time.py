"""How long a page takes to read: computed from its words, its code and its figures, in either language.

A page is counted as the repository has it. An excerpt counts with the lines that the site shows of it, so a class that
grows makes its page longer, and nobody has to correct a number.
"""

from __future__ import annotations

import functools
import math
import re
from dataclasses import dataclass

from kafka_learn.java_source import SUFFIX as JAVA
from kafka_learn.java_source import find_java_symbol
from kafka_learn.site.directives import Directive
from kafka_learn.site.notes import DIRECTIVE, has_note
from kafka_learn.site.repository_markdown import in_fences
from kafka_learn.source import find_symbol, render

WORDS_PER_MINUTE = 180
CHARACTERS_PER_MINUTE = 320
"""Of Chinese, technical text in both cases: slower than a novel."""
LINES_PER_MINUTE = 20
"""Of code, read once with care."""
MINUTES_PER_FIGURE = 1.0
ROUNDED_TO = 5
"""Minutes. A finer estimate would be a pretence."""

_HAN = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"[A-Za-z0-9][\w'’.:/-]*")
_TARGET = re.compile(r"\]\([^)]*\)|<[^>]*>")
"""The parts of Markdown that the reader does not see: the targets of links, and tags."""


@dataclass(frozen=True)
class PageSize:
    """The size of a text: words of Latin letters, Chinese characters, lines of code, figures and recorded runs."""

    words: int = 0
    characters: int = 0
    code_lines: int = 0
    figures: int = 0

    def __add__(self, other: PageSize) -> PageSize:
        return PageSize(
            self.words + other.words,
            self.characters + other.characters,
            self.code_lines + other.code_lines,
            self.figures + other.figures,
        )

    @property
    def minutes(self) -> int:
        """The time to read it, rounded to five minutes, and five at least."""
        exact = (
            self.words / WORDS_PER_MINUTE
            + self.characters / CHARACTERS_PER_MINUTE
            + self.code_lines / LINES_PER_MINUTE
            + self.figures * MINUTES_PER_FIGURE
        )
        return max(ROUNDED_TO, ROUNDED_TO * math.floor(exact / ROUNDED_TO + 0.5))


def size_of(text: str) -> PageSize:
    """The size of a page, given its Markdown as the repository has it.

    Raises UnknownSymbolError if it shows code that does not exist.
    """
    lines = text.splitlines()
    size = PageSize()
    is_note = False
    for number, (line, is_code) in enumerate(zip(lines, in_fences(lines), strict=True)):
        if is_note:
            is_note = False
        elif is_code:
            size += PageSize(code_lines=not line.lstrip().startswith("```"))
        elif found := DIRECTIVE.match(line):
            is_note = has_note(lines, number)
            size += _shown_by(found["spec"])
        else:
            size += _prose(line)
    return size


def _prose(line: str) -> PageSize:
    seen = _TARGET.sub(" ", line)
    return PageSize(words=len(_WORD.findall(_HAN.sub(" ", seen))), characters=len(_HAN.findall(seen)))


@functools.cache
def _shown_by(spec: str) -> PageSize:
    """The size of what a directive shows. A generated table counts as nothing: it is looked up, not read."""
    directive = Directive.parse(spec)
    if directive.verb == "source":
        return PageSize(code_lines=len(_excerpt(directive).splitlines()))
    return PageSize(figures=directive.verb in ("figure", "recording"))


def _excerpt(directive: Directive) -> str:
    if directive.reference.partition(":")[0].endswith(JAVA):
        return find_java_symbol(directive.reference).code
    return render(
        find_symbol(directive.reference),
        docstring=directive.flag("docstring"),
        only=directive.names("only"),
        bodies=directive.flag("bodies"),
    )
