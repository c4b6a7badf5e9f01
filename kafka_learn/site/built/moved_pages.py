"""Pages at addresses that a page once had: each leads to the page that has its beginning now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

MOVED: Final = {"book/ch09_streams/tasks-and-state": "book/ch09_streams/tasks"}
"""The old folder of a page in the site, and its new one."""
LANGUAGES: Final = {"en": "", "zh": "zh/"}
"""The language of a page, and the folder of all pages of it."""
_PAGE = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url={address}">
<meta name="robots" content="noindex">
<title>{new}</title>
</head>
<body><p><a href="{address}">{new}</a></p></body>
</html>
"""


def write(site: Path, moved: Mapping[str, str] = MOVED) -> Iterator[Path]:
    """Write the pages into a built site, in each language; yields them."""
    for old, new in moved.items():
        for language, folder in LANGUAGES.items():
            path = site / f"{folder}{old}" / "index.html"
            address = "../" * (old.count("/") + 1) + new + "/"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_PAGE.format(language=language, address=address, new=new), encoding="utf-8")
            yield path
