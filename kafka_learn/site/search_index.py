"""The search index of the site, divided by language, with the terms of ``chapters/terms.toml`` as its words.

mkdocs calls the hooks below (``hooks`` in ``mkdocs.yml``). Material's plugin writes one index of both languages and
cuts Chinese by jieba, which does not know our terms. The hook makes of it a file for each language in the site's folder
``search``; ``docs/assets/search-worker.js`` loads the one of the page's language. A term is one word in it, and the
page that explains the term, or its entry in the glossary, has the term as a tag, which is what the search ranks
highest. Code, the words in figures and the steps of recorded runs are left out: the index of classes leads to code.

The browser reads the index when a page is open, and cuts it into words again: half a second for 300,000 of them. So
what nobody looks for is no word of it (``_separator``), and what stands on many pages is found on none.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from mkdocs.plugins import event_priority

from kafka_learn.site.glossary import Term, terms
from kafka_learn.site.staging import LANGUAGES

_CUT = "\u200b"
_CODE = re.compile(r"<pre>.*?</pre>", re.DOTALL)
_STEP = re.compile(r"<li>[^<]* ms\)</li>")
"""A step of a recorded run, as it is said to who cannot see the figure."""
_BLOCK = re.compile(r"<(p|li)>.*?</\1>", re.DOTALL)
_MANY = 5
"""A paragraph that stands in so many documents says how the site is used: "No answer yet: write it …"."""
_CLASS_INDEX = re.compile(r"(?:zh/)?book/classes(?:-\w-to-\w)?/")
_CLASS_NAME = re.compile(r"<code>\w+</code>")
_LISTS_OF_PAGES = re.compile(r"(?:zh/)?book/(?:(?:path|course)/)?#.*")
"""Contents, path and course plans: each title in their tables is that of another page, which is to be found."""
_PUNCTUATION = r"|[·→←…“”‘’，。：；？！、（）《》]+"
_SINGLE_CHARACTERS = rf"|(?<={_CUT})(?:[\u4e00-\u9fff]{_CUT})+"
"""Chinese words of one character: 的, 在, 是."""
_FIGURE = re.compile(r"<svg\b")
_SECTION, _PART = 2.0, 1.5


def on_page_content(content: str, **_: Any) -> str:
    """Keep Material's plugin from indexing the words in figures."""
    return _FIGURE.sub('<svg data-search-exclude="true"', content)


@event_priority(-200)  # the last: mkdocs-static-i18n writes the index of both languages at -100
def on_post_build(config: Any, **_: Any) -> None:
    """Divide the index in the site's folder."""
    write(Path(config["site_dir"]))


def write(site: Path) -> None:
    """Divide the index of both languages; what stays in it is the configuration, which every page loads."""
    path = site / "search" / "search_index.json"
    index = json.loads(path.read_text(encoding="utf-8"))
    for language, part in divided(index, terms()).items():
        (path.parent / f"{language}.json").write_text(_dumps(part), encoding="utf-8")
    path.write_text(_dumps({**index, "docs": []}), encoding="utf-8")


def divided(index: dict[str, Any], entries: tuple[Term, ...]) -> dict[str, dict[str, Any]]:
    """An index for each language, whose locations are still those of the whole site."""
    parts: dict[str, dict[str, Any]] = {}
    for language in LANGUAGES:
        documents = [doc for doc in index["docs"] if doc["location"].startswith("zh/") == (language == "zh")]
        config = {**index["config"], "lang": ["en"] if language == "en" else index["config"]["lang"]}
        config["separator"] = _separator(config["separator"], language)
        parts[language] = {"config": config, "docs": _with_terms(_searched(documents), language, entries)}
    return parts


def _separator(separator: str, language: str) -> str:
    """The expression of what is between two words."""
    return separator + _PUNCTUATION + (_SINGLE_CHARACTERS if language == "zh" else "")


def _searched(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The documents without the text that nobody looks for."""
    blocks = Counter(found[0] for doc in documents for found in _BLOCK.finditer(doc["text"]))
    return [{**doc, "text": _searched_text(doc, blocks)} for doc in documents]


def _searched_text(doc: dict[str, Any], blocks: Counter[str]) -> str:
    if _CLASS_INDEX.fullmatch(doc["location"]):
        return " ".join(dict.fromkeys(_CLASS_NAME.findall(doc["text"])))
    text = _STEP.sub("", _CODE.sub("", doc["text"]))
    if _LISTS_OF_PAGES.fullmatch(doc["location"]):
        text = " ".join(found[0] for found in _BLOCK.finditer(text))
    return _BLOCK.sub(lambda found: "" if blocks[found[0]] >= _MANY else found[0], text)


def _with_terms(documents: list[dict[str, Any]], language: str, entries: tuple[Term, ...]) -> list[dict[str, Any]]:
    tags: dict[str, list[str]] = {}
    for term in entries:
        tags.setdefault(location_of(term, language), []).extend(_tags(term, language))
    terms_cut = _terms_cut(entries) if language == "zh" else None
    found = []
    for doc in documents:
        new = {**doc}
        if terms_cut is not None:
            new = {**new, "title": _as_words(new["title"], terms_cut), "text": _as_words(new["text"], terms_cut)}
        if doc["location"] in tags:
            new["tags"] = list(dict.fromkeys(tags[doc["location"]]))
            new["boost"] = _boost(doc["location"], new["tags"], entries)
        found.append(new)
    return found


def _boost(location: str, tags: list[str], entries: tuple[Term, ...]) -> float:
    """How much a page with tags must weigh, so that it comes before pages whose tags contain one of its own.

    Material ranks a section below a page, and all tags with the same word equal: "consumer", "consumer group".
    """
    parts = {word for term in entries for word in term.word("en").split()[1:] + term.word("en").split()[:-1]}
    return (_SECTION if "#" in location else 1.0) * (_PART if parts & set(tags) else 1.0)


def location_of(term: Term, language: str) -> str:
    """The place on the site that explains a term: a page, or its entry in the glossary."""
    place = f"{term.page}/" if term.page else f"book/glossary/#{term.anchor}"
    return f"zh/{place}" if language == "zh" else place


def _tags(term: Term, language: str) -> list[str]:
    return [term.zh, term.en] if language == "zh" else [term.en]


def _terms_cut(entries: tuple[Term, ...]) -> re.Pattern[str]:
    """Finds a Chinese term, wherever jieba has cut it."""
    words = sorted({term.zh for term in entries if not term.zh.isascii()}, key=len, reverse=True)
    return re.compile("|".join(f"{_CUT}?".join(map(re.escape, word)) for word in words))


def _as_words(text: str, terms_cut: re.Pattern[str]) -> str:
    """Chinese text with each term uncut and set apart.

    >>> _as_words("\u200b再\u200b平衡\u200b了", re.compile("再\u200b?平\u200b?衡")).split("\u200b")
    ['', '再平衡', '了']
    """
    apart = terms_cut.sub(lambda found: _CUT + found[0].replace(_CUT, "") + _CUT, text)
    return re.sub(f"{_CUT}+", _CUT, apart)


def _dumps(index: dict[str, Any]) -> str:
    return json.dumps(index, ensure_ascii=False, separators=(",", ":"))
