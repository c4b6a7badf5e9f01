"""Pages read properly in the repository, where GitHub shows them: links, anchors, notes, no marks of mkdocs."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from kafka_learn.project import PROJECT_ROOT
from kafka_learn.site.line_width import too_long
from kafka_learn.site.repository_pages import changed_pages

_FENCED = re.compile(r"^( *)(`{3,})[^\n]*\n.*?^\1\2 *$|^ {4}[^\n]*$|<!--.*?-->", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(`+)(?!`).+?\1", re.DOTALL)
_LINK = re.compile(r"\]\((?P<target>[^)\s]+)(?: [^)]*)?\)")
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
_ID = re.compile(r'<a id="([^"]+)"></a>')
_MKDOCS_ONLY = re.compile(r'^ *(?:\?\?\?\+? |!!! |=== ")|^:   |\{ [.#:][^}]*\}', re.MULTILINE)
GITHUB_ITSELF = ("../security/",)
"""Addresses of GitHub's own pages, relative to the repository's."""


def markdown_files() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=PROJECT_ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.splitlines() if (PROJECT_ROOT / name).exists()]


def prose(text: str) -> str:
    return _FENCED.sub("", text)


def slug(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", _ID.sub("", heading)).strip().lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def text_of(path: Path) -> str:
    """A page's Markdown; of a notebook's script, its text cells."""
    text = path.read_text(encoding="utf-8")
    return re.sub(r"^# ", "", text, flags=re.MULTILINE) if path.suffix == ".py" else text


def anchors(text: str) -> set[str]:
    """The anchors of a page; of equal headings, the second one gets a ``-1``."""
    seen: Counter[str] = Counter()
    found = set(_ID.findall(text))
    for heading in _HEADING.findall(prose(text)):
        name = slug(heading)
        found.add(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return found


def links(text: str) -> list[str]:
    """The targets of a page's links, but for those of other sites."""
    targets = (link["target"] for link in _LINK.finditer(_CODE.sub("", prose(text))))
    return [target for target in targets if not re.match(r"\w+:", target)]


def dead_links(path: Path, text: str) -> list[str]:
    dead = []
    for link in links(text):
        file, _, anchor = link.partition("#")
        target = path if not file else path.parent / file
        if not target.exists() or (anchor and anchor not in anchors(text if target == path else text_of(target))):
            dead.append(link)
    return dead


def test_every_relative_link_and_anchor_leads_somewhere() -> None:
    dead, count = [], 0
    for name in markdown_files():
        text = (PROJECT_ROOT / name).read_text(encoding="utf-8")
        count += len(links(text))
        found = dead_links(PROJECT_ROOT / name, text)
        dead += [f"{name}: {link}" for link in found if not link.startswith(GITHUB_ITSELF)]
    assert count > 2000
    assert dead == []


def test_a_dead_link_and_a_dead_anchor_are_found(tmp_path: Path) -> None:
    (tmp_path / "there.md").write_text('# There\n\n## 甲 <a id="first"></a>\n\n## `x`, twice\n\n## `x`, twice\n')
    page = tmp_path / "page.md"
    good = "[a](there.md) [b](there.md#first) [c](there.md#x-twice-1) [d](#here) `[e](no.md)`\n\n## Here\n"
    page.write_text(good)
    assert dead_links(page, good) == []
    bad = "[a](no.md) [b](there.md#x-twice-2) [c](#there)\n\n## Here\n"
    assert dead_links(page, bad) == ["no.md", "there.md#x-twice-2", "#there"]


@pytest.mark.parametrize("text", ['??? question "Why?"\n', "## Head { #id }\n", "term\n:   text\n", '=== "tab"\n'])
def test_marks_of_mkdocs_are_found(text: str) -> None:
    assert _MKDOCS_ONLY.search(text)


def test_no_page_has_marks_that_only_mkdocs_understands() -> None:
    pages = ((name, prose((PROJECT_ROOT / name).read_text(encoding="utf-8"))) for name in markdown_files())
    found = [(name, mark[0]) for name, text in pages if (mark := _MKDOCS_ONLY.search(_CODE.sub("", text)))]
    assert found == []


def test_no_directive_is_a_fence() -> None:
    """On GitHub such a fence is an empty box."""
    fence = re.compile(r"^ *`{3,}(?:source|figure|generated|recording) .*$", re.MULTILINE)
    pages = ((name, (PROJECT_ROOT / name).read_text(encoding="utf-8")) for name in markdown_files())
    assert [(name, found) for name, text in pages for found in fence.findall(text)] == []


def test_no_line_of_a_paragraph_or_list_has_more_than_130_columns() -> None:
    written = [name for name in markdown_files() if not name.startswith("bench/results/")]  # the others are reports
    pages = [(name, (PROJECT_ROOT / name).read_text(encoding="utf-8")) for name in written]
    assert [f"{name}:{number}" for name, text in pages for number, _ in too_long(text)] == [], "make pages fills them"


def test_what_pages_say_from_data_is_up_to_date() -> None:
    stale = [str(path.relative_to(PROJECT_ROOT)) for path in changed_pages()]
    assert stale == [], "make pages rewrites them"


def test_notebooks_link_labs_by_the_names_of_their_pages() -> None:
    """Notebooks are read on the site, where each lab is one page."""
    scripts = [
        path for path in (PROJECT_ROOT / "chapters").rglob("*.py") if "# %% [markdown]" in path.read_text("utf-8")
    ]
    targets = {
        (script.name, target)
        for script in scripts
        for target in links(text_of(script))
        if target.startswith("../../labs/")
    }
    assert targets
    pages = {f"../../labs/{lab.name}.md" for lab in (PROJECT_ROOT / "labs").iterdir()}
    assert [row for row in sorted(targets) if row[1].partition("#")[0] not in pages] == []


def test_pages_in_english_only_link_no_heading_that_a_chinese_page_has_not() -> None:
    """The site shows them among the Chinese pages, too, where their links lead to Chinese pages."""
    missing = []
    for name in markdown_files():
        page = PROJECT_ROOT / name
        if not name.startswith("docs/") or name.endswith(".zh.md") or page.with_suffix(".zh.md").exists():
            continue
        for target in links(page.read_text(encoding="utf-8")):
            path, _, anchor = target.partition("#")
            chinese = (page.parent / path).with_suffix(".zh.md")
            if anchor and path and chinese.is_file() and anchor not in anchors(chinese.read_text(encoding="utf-8")):
                missing.append(f"{name}: {target}")
    assert missing == []
