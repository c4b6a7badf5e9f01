"""Turns a page as the repository has it, where GitHub shows it, into the Markdown that mkdocs takes.

GitHub knows neither mkdocs's collapsible blocks nor its attributes, and a page's address on the site is not its path
in the repository. So the pages are written for the repository, and the build translates:

====================================================  ==================================
in the repository                                      for mkdocs
====================================================  ==================================
``<details>``, ``<summary>Why?</summary>``, text        ``??? question "Why?"``, indented
``<details class="success" open>``                      ``???+ success``
``## 预测的答案 <a id="answers"></a>``                   ``## 预测的答案 { #answers }``
``[lab](../../labs/ch06-offset-index/README.md)``       ``[lab](../../labs/ch06-offset-index.md)``
``[notebook](log_segments.py)``                         ``[notebook](log_segments_notebook.md)``
====================================================  ==================================

Every line stays on its line, so that messages name the line of the repository's file.
"""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePosixPath

FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<info>[^`]*)$")
_DETAILS = re.compile(r'^<details(?: class="(?P<kind>\w+)")?(?P<open> open)?>$')
_SUMMARY = re.compile(r"^<summary>(?P<title>.*)</summary>$")
_ANCHOR = re.compile(r'^(?P<heading>#+ .*?) <a id="(?P<id>[\w-]+)"></a>$')
_LINK = re.compile(r"(?P<code>`[^`]*`)|\]\((?P<path>(?!\w+:|#|/)[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")
_NOTEBOOK = re.compile(r"^chapters/(\w+)/(\w+)\.py$")
_LAB = re.compile(r"^labs/([\w-]+)/README(\.zh)?\.md$")


class NotOnTheSiteError(Exception):
    """A link leads to a file of the repository that the site does not show."""


def in_fences(lines: Iterable[str]) -> Iterator[bool]:
    """For each line, whether it belongs to a fenced block of code; its fences do, too."""
    ticks = ""
    for line in lines:
        if ticks:
            yield True
            ticks = "" if line.strip() == ticks else ticks
        else:
            fence = FENCE.match(line)
            ticks = fence["ticks"] if fence else ""
            yield fence is not None


def for_mkdocs(text: str) -> str:
    """Collapsible blocks and anchors of headings in the form of mkdocs. Raises ValueError for an unclosed block."""
    lines: list[str] = []
    inside = ""
    page = text.splitlines()
    for line, is_code in zip(page, in_fences(page), strict=True):
        if is_code:
            lines.append(inside + line if line else line)
        elif opening := _DETAILS.match(line):
            inside = "    "
            lines.append(f"???{'+' if opening['open'] else ''} {opening['kind'] or 'question'}")
        elif inside and (summary := _SUMMARY.match(line)):
            lines[-1] += f' "{title_of(summary["title"])}"'
            lines.append("")
        elif inside and line == "</details>":
            inside = ""
            lines.append("")
        else:
            line = _ANCHOR.sub(r"\g<heading> { #\g<id> }", line)
            lines.append(inside + line if line else line)
    if inside:
        raise ValueError("a <details> block is never closed")
    return "\n".join(lines) + "\n"


def title_of(summary: str) -> str:
    """The Markdown of a summary: GitHub takes HTML there.

    >>> title_of("Why is <code>x &lt; y</code> <em>always</em> true?")
    'Why is `x < y` *always* true?'
    """
    for tag, mark in (("code", "`"), ("em", "*"), ("strong", "**")):
        summary = re.sub(rf"</?{tag}>", mark, summary)
    return html.unescape(summary)


def with_links(line: str, rewrite: Callable[[str], str]) -> str:
    """A line of prose, with ``rewrite`` applied to the path of each relative link outside of inline code."""

    def _rewritten(link: re.Match[str]) -> str:
        return link[0] if link["code"] else f"]({rewrite(link['path'])}{link['anchor'] or ''})"

    return _LINK.sub(_rewritten, line)


def repository_path(origin: str, link: str) -> str:
    """The path in the repository of a link on the page ``origin``, itself a path in the repository."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(origin), link))


def site_page(path: str) -> PurePosixPath | None:
    """The place in the site's source tree of a page, a notebook or an asset; None if the site does not have it.

    Both languages of a page have one place: mkdocs leads to the reader's.

    >>> site_page("labs/ch06-offset-index/README.zh.md")
    PurePosixPath('labs/ch06-offset-index.md')
    """
    if lab := _LAB.match(path):
        return PurePosixPath("labs", f"{lab[1]}.md")
    if notebook := _NOTEBOOK.match(path):
        return PurePosixPath("book", notebook[1], f"{notebook[2]}_notebook.md")
    folder, _, rest = path.partition("/")
    if folder == "docs" or (folder == "chapters" and path.endswith(".md")):
        place = rest if folder == "docs" else f"book/{rest}"
        return PurePosixPath(place.removesuffix(".zh.md") + ".md" if place.endswith(".zh.md") else place)
    return None
