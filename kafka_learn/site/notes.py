"""The notes below directives: what a page says in the repository where the site shows code, a figure or a table.

::

    <!-- source kafka_lite.log.offset_index:OffsetIndex.lookup -->
    [`OffsetIndex.lookup` in `kafka_lite/log/offset_index.py`](../../kafka_lite/log/offset_index.py)

    <!-- figure chapters.ch06_storage.figures.segment_drawings:entry_figure -->
    **Figure**: The first 16 bytes of the index. ([`entry_figure`](figures/segment_drawings.py), drawn on the site)

A note is written from its directive, except the caption, which stands nowhere else. ``make pages`` writes all notes,
and a test finds any that is out of date.
"""

from __future__ import annotations

import posixpath
import re

from kafka_learn.java_source import SUFFIX as JAVA
from kafka_learn.live.scenarios import scenarios
from kafka_learn.project import PROJECT_ROOT
from kafka_learn.site.repository_markdown import in_fences
from kafka_learn.source import UnknownSymbolError, module_path

DIRECTIVE = re.compile(r"^(?P<indent> *)<!-- (?P<spec>(?:source|figure|generated|recording|live) .*) -->$")
_DRAWN = {"figure": ("Figure", "图"), "recording": ("Recorded run", "实录")}
"""English and Chinese."""
_CAPTION = re.compile(
    r"^ *\*\*(?:Figure|Recorded run|图|实录)\*\*(?:: |：)(?P<caption>.*?)"
    r" ?[(（]\[[^\]]*\]\([^)]*\)[,，][^()（）]*[)）]$"
)
_NOTE = re.compile(
    r" *(?:\*\*(?:Figure|Recorded run|Live|图|实录|在页面里运行)\*\*|\[`[^`]*`[^\]]*\]\([^)]*\)|站点（`make site`）上)"
)


def has_note(lines: list[str], directive: int) -> bool:
    """Whether the line below the directive is its note, and not the author's next line."""
    return directive + 1 < len(lines) and _NOTE.match(lines[directive + 1]) is not None


def caption_of(note: str) -> str:
    """The caption in the note of a figure or a recorded run; empty if it has none."""
    found = _CAPTION.match(note)
    return found["caption"] if found else ""


def note(verb: str, reference: str, origin: str, language: str, caption: str = "") -> str:
    """The note of a directive on the page ``origin``, a path in the repository.

    Raises UnknownSymbolError if its module does not exist.
    """
    if verb == "live":
        return _live_note(reference, origin, language)
    place, _, name = reference.partition(":")
    path = place if place.endswith((JAVA, ".jsonl")) else module_path(place).relative_to(PROJECT_ROOT).as_posix()
    target = posixpath.relpath(path, posixpath.dirname(origin))
    chinese = language == "zh"
    if verb == "source":
        return f"[`{path}`：`{name}`]({target})" if chinese else f"[`{name}` in `{path}`]({target})"
    link = f"[`{name or posixpath.basename(path)}`]({target})"
    if verb == "generated":
        return (
            f"站点（`make site`）上，这里的内容由 {link} 生成。"
            if chinese
            else f"{link} writes this part of the site (`make site`)."
        )
    kind = _DRAWN[verb][chinese]
    if chinese:
        return f"**{kind}**{'：' if caption else ''}{caption}（{link}，站点上有图）"
    return f"**{kind}**{': ' if caption else ''}{caption} ({link}, drawn on the site)"


def _live_note(name: str, origin: str, language: str) -> str:
    """The note of a scenario of the live cluster. Raises UnknownSymbolError for one that there is not."""
    scenario = scenarios().get(name)
    if scenario is None:
        raise UnknownSymbolError(f"chapters/live.toml has no scenario {name!r}")
    chinese = language == "zh"
    page = posixpath.relpath("docs/live.zh.md" if chinese else "docs/live.md", posixpath.dirname(origin))
    return (
        f"**{'在页面里运行' if chinese else 'Live'}**{'：' if chinese else ': '}[{scenario.titles[language]}]({page})"
    )


def with_notes(text: str, origin: str, language: str) -> str:
    """A page with every note as it should be. Raises UnknownSymbolError for a module that does not exist."""
    lines = text.splitlines()
    is_code = list(in_fences(lines))
    output: list[str] = []
    number = 0
    while number < len(lines):
        output.append(lines[number])
        if not is_code[number] and (directive := DIRECTIVE.match(lines[number])):
            verb, reference = directive["spec"].split()[:2]
            old = lines[number + 1] if has_note(lines, number) else ""
            written = note(verb, reference, origin, language, caption_of(old))
            output.append(directive["indent"] + written)
            number += bool(old)
            if not old and number + 1 < len(lines) and lines[number + 1].strip():
                output.append("")
        number += 1
    return "\n".join(output) + "\n"
