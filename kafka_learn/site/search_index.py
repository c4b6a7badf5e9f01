"""The search index of the site, divided by language, with the terms of ``chapters/terms.toml`` as its words.

mkdocs calls the hooks below (``hooks`` in ``mkdocs.yml``). Material's plugin writes one index of both languages and
cuts Chinese by jieba, which does not know our terms. The hook makes of it a file for each language in the site's folder
``search``; ``docs/assets/search-worker.js`` loads the one of the page's language. A term is one word in it, and the
page that explains the term, or its entry in the glossary, has the term as a tag, which is what the search ranks
highest. Code and the words in figures are left out: the index of classes leads to the code.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from mkdocs.plugins import event_priority

from kafka_learn.site.glossary import Term, terms
from kafka_learn.site.staging import LANGUAGES

_CUT = "\u200b"
_CODE = re.compile(r"<pre>.*?</pre>", re.DOTALL)
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
        parts[language] = {"config": config, "docs": _with_terms(documents, language, entries)}
    return parts


def _with_terms(documents: list[dict[str, Any]], language: str, entries: tuple[Term, ...]) -> list[dict[str, Any]]:
    tags: dict[str, list[str]] = {}
    for term in entries:
        tags.setdefault(location_of(term, language), []).extend(_tags(term, language))
    terms_cut = _terms_cut(entries) if language == "zh" else None
    found = []
    for doc in documents:
        new = {**doc, "text": _CODE.sub("", doc["text"])}
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
