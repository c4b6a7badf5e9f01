"""The pages of the site that explain a class: those with an excerpt of it, for the live cluster's page.

Not in Kafka. The page of the live cluster shows functions that have just run. It links each to the file on the site,
and to the page of the book that has the most excerpts of its class::

    {"kafka_lite.log.log": {"file": "source/kafka_lite/log/log/",
                            "classes": {"Log": {"page": "book/ch06_storage/log/", "en": "The log", "zh": "日志"}}}}

Addresses are relative to the root of the site.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any, Final

from kafka_learn.project import PROJECT_ROOT
from kafka_learn.site.repository_markdown import site_page

_EXCERPT: Final = re.compile(r"^ *<!-- source (?P<module>kafka_lite[\w.]*):(?P<name>\w+)", re.MULTILINE)
_TITLE: Final = re.compile(r"^# (?P<title>.+?)(?: *<a id=.*)?$", re.MULTILINE)


def shown_code(files: Collection[str], root: Path = PROJECT_ROOT) -> dict[str, Any]:
    """Module -> its file's page, and its classes' pages. ``files``: modules whose whole file the site shows."""
    shown: dict[str, Any] = {
        module: {"file": f"source/{module.replace('.', '/')}/", "classes": {}}
        for module in sorted(files)
        if module.startswith("kafka_lite.")
    }
    for (module, name), page in _pages(root).items():
        if module in shown:
            shown[module]["classes"][name] = _about(page, root)
    return shown


def _pages(root: Path) -> dict[tuple[str, str], Path]:
    """Module and name -> the page with the most excerpts of it; the first one of several."""
    counts: Counter[tuple[str, str, Path]] = Counter()
    for page in sorted((root / "chapters").glob("*/*.md")):
        if not page.name.endswith(".zh.md"):
            excerpts = _EXCERPT.finditer(page.read_text(encoding="utf-8"))
            counts.update((excerpt["module"], excerpt["name"], page) for excerpt in excerpts)
    found: dict[tuple[str, str], Path] = {}
    for module, name, page in (key for key, _ in counts.most_common()):
        found.setdefault((module, name), page)
    return found


def _about(page: Path, root: Path) -> dict[str, str]:
    place = site_page(page.relative_to(root).as_posix())
    assert place is not None
    return {"page": f"{place.with_suffix('')}/", "en": _title(page), "zh": _title(page.with_suffix(".zh.md"))}


def _title(page: Path) -> str:
    found = _TITLE.search(page.read_text(encoding="utf-8"))
    assert found is not None
    return found["title"]
