"""The glossary: a page made of ``chapters/terms.toml``, and a link to it where a term first stands on another page."""

from __future__ import annotations

import html
import posixpath
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

from kafka_learn.project import PROJECT_ROOT
from kafka_learn.site.repository_markdown import in_fences

GLOSSARY = PurePosixPath("book/glossary.md")
_HEADING = {"en": "In Chinese", "zh": "英文"}
_READ_ON = {"en": "Read on", "zh": "详见"}
_NO_TEXT = re.compile(r"^\s*(?:#|\||<|!!!|\?\?\?|===|---$|\w+:)")
_PROTECTED = re.compile(
    r"(`+)(?:(?!\1).)+?\1"  # code
    r"|!?\[(?:[^\[\]]|\[[^\]]*\])*\](?:\([^)]*\)|\[[^\]]*\])"  # links and images
    r"|<[^<>]+>|\{[^{}]*\}|https?://\S+",
    re.DOTALL,
)


@dataclass(frozen=True)
class Term:
    """An entry: its words, what it is, and the page of the site that explains it (without suffix; empty: none does)."""

    en: str
    zh: str
    what_en: str
    what_zh: str
    page: str = ""

    @property
    def anchor(self) -> str:
        """Its anchor on the glossary's page, in both languages.

        >>> Term("leader (of a partition)", "主副本", "", "").anchor
        'leader-of-a-partition'
        """
        return re.sub(r"[^a-z0-9]+", "-", self.en.lower()).strip("-")

    def word(self, language: str) -> str:
        """The word that stands in running text.

        >>> Term("leader (of a partition)", "主副本", "", "").word("en")
        'leader'
        """
        return self.zh if language == "zh" else re.sub(r"\s*\(.*\)|,.*", "", self.en)

    def what(self, language: str) -> str:
        """The definition."""
        return self.what_zh if language == "zh" else self.what_en


@cache
def terms(root: Path = PROJECT_ROOT) -> tuple[Term, ...]:
    """The entries of ``chapters/terms.toml``, in its order."""
    rows = tomllib.loads((root / "chapters/terms.toml").read_text(encoding="utf-8"))["term"]
    return tuple(
        Term(row["en"], row["zh"], row.get("what", ""), row.get("what_zh", ""), row.get("page", "")) for row in rows
    )


def glossary(language: str) -> str:
    """The glossary as Markdown: a heading for each term, its definition, the other language's word, its page."""
    entries = terms() if language == "zh" else sorted(terms(), key=lambda term: term.en.lower())
    return "\n".join(_entry(term, language) for term in entries)


def _entry(term: Term, language: str) -> str:
    heading, other = (term.zh, term.en) if language == "zh" else (term.en, term.zh)
    rows = [f"### {heading} {{ #{term.anchor} }}", "", term.what(language), ""]
    colon = "：" if language == "zh" else ": "
    rows.append(f"{_HEADING[language]}{colon}{other}" + _read_on(term, language) + "\n")
    return "\n".join(rows)


def _read_on(term: Term, language: str) -> str:
    if not term.page:
        return ""
    colon = "：" if language == "zh" else ": "
    title = _title(term.page, language)
    return f" · {_READ_ON[language]}{colon}[{title}]({posixpath.relpath(term.page, GLOSSARY.parent)}.md)"


@cache
def _title(page: str, language: str) -> str:
    source = PROJECT_ROOT / f"{page.replace('book/', 'chapters/', 1)}{'.zh' if language == 'zh' else ''}.md"
    return source.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def with_links(text: str, target: PurePosixPath, language: str) -> str:
    """A page's Markdown in which each term, where it first stands in running text, leads to the glossary."""
    if target.name.startswith(("index.", "glossary.")):
        return text
    way = posixpath.relpath(GLOSSARY.as_posix(), target.parent.as_posix())
    linker = _Linker(way, language)
    return "".join(linker.linked(block) if is_text else block for block, is_text in _blocks(text))


class _Linker:
    """Links the terms of one page, each once."""

    def __init__(self, way: str, language: str) -> None:
        self._way = way
        self._language = language
        self._pending = dict(_by_word(language))

    def linked(self, block: str) -> str:
        output, end = [], 0
        for gap in _PROTECTED.finditer(block):
            output += [self._link_in(block[end : gap.start()]), gap[0]]
            end = gap.end()
        return "".join([*output, self._link_in(block[end:])])

    def _link_in(self, text: str) -> str:
        return _words(self._language).sub(self._link, text)

    def _link(self, found: re.Match[str]) -> str:
        term = self._pending.pop(_key(found[0]), None)
        if term is None:
            return found[0]
        title = html.escape(re.sub("`", "", term.what(self._language)), quote=True)
        return f'[{found[0]}]({self._way}#{term.anchor} "{title}"){{ .term }}'


@cache
def _by_word(language: str) -> dict[str, Term]:
    """The terms by the words that lead to them: a word of two terms leads to none."""
    found: dict[str, list[Term]] = {}
    for term in terms():
        if term.what(language):
            found.setdefault(_key(term.word(language)), []).append(term)
    return {word: same[0] for word, same in found.items() if len(same) == 1}


def _key(word: str) -> str:
    """A word without case, line break and plural."""
    plain = " ".join(word.lower().split())
    return plain.removesuffix("s") if plain.isascii() else plain


@cache
def _words(language: str) -> re.Pattern[str]:
    words = sorted(_by_word(language), key=len, reverse=True)
    if language == "zh":
        return re.compile(
            "|".join(rf"(?<![\w-]){word}(?![\w-])" if word.isascii() else re.escape(word) for word in words)
        )
    either = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in words)
    return re.compile(rf"(?<![\w./-])(?:{either})s?(?![\w/-]|\.\w)", re.IGNORECASE)


def _blocks(text: str) -> Iterator[tuple[str, bool]]:
    """The blocks of Markdown, and whether each is running text: no code, heading, table or HTML."""
    block: list[str] = []
    for line, is_code in zip(text.splitlines(keepends=True), in_fences(text.splitlines()), strict=True):
        if is_code or not line.strip() or _NO_TEXT.match(line):
            yield "".join(block), True
            yield line, False
            block = []
        else:
            block.append(line)
    yield "".join(block), True
