"""Gathers the site's pages: docs/, the chapters' texts and notebooks, the labs' tasks, the source they show.

The result, ``.build/docs``, is plain Markdown that mkdocs turns into the site. A file is written only if its content
has changed, so that ``make site`` rebuilds no more than necessary.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from kafka_learn import notebooks
from kafka_learn.both_languages import join_chinese_lines
from kafka_learn.java_source import SUFFIX as JAVA
from kafka_learn.jupyter_notebooks import for_download
from kafka_learn.project import PROJECT_ROOT
from kafka_learn.site.badges import with_badges
from kafka_learn.site.build_progress import Track, untracked
from kafka_learn.site.directives import Page, expand
from kafka_learn.site.glossary import with_links
from kafka_learn.site.lab_page import lab_files
from kafka_learn.site.lab_page.workbench import with_workbench
from kafka_learn.site.live_page.shown_code import shown_code
from kafka_learn.site.path.reading_path import reading_path
from kafka_learn.site.signpost import with_signpost
from kafka_learn.source import module_path

STAGE = PROJECT_ROOT / ".build" / "docs"
LANGUAGES = ("en", "zh")
LIVE = PurePosixPath("assets/live/engine")
"""The place of the interpreter and the source that the page of the live cluster loads."""
Live = Callable[[Path], Iterable[Path]]

_SOURCE_PAGE = """---
title: {path}
hide:
  - navigation
  - toc
search:
  exclude: true
---

# `{path}` {{ .source-path }}

``````{{ .{language} linenums="1" }}
{code}
``````
"""


@dataclass(frozen=True)
class StagedFile:
    """A file of the repository and its place in the site's source tree."""

    origin: Path
    target: PurePosixPath


def pages(root: Path = PROJECT_ROOT) -> Iterator[StagedFile]:
    """Every hand-written file of the site: pages and assets."""
    for origin in _files(root / "docs"):
        yield StagedFile(origin, PurePosixPath(origin.relative_to(root / "docs").as_posix()))
    for origin in _files(root / "chapters", "*.md"):
        yield StagedFile(origin, "book" / PurePosixPath(origin.relative_to(root / "chapters").as_posix()))
    for origin in sorted((root / "labs").glob("*/README*.md")):
        suffix = origin.name.removeprefix("README")
        yield StagedFile(origin, PurePosixPath("labs", origin.parent.name + suffix))


def stage(
    target: Path = STAGE,
    root: Path = PROJECT_ROOT,
    track: Track[Any] = untracked,
    live: Live | None = None,
    labs: Live | None = None,
) -> list[Path]:
    """Write the site's source tree; returns its files. ``track`` shows the progress.

    ``live`` writes the files of the live cluster into a folder, and yields them, ``labs`` those of the labs' pages.
    Raises DirectiveError if a directive cannot be expanded, NotebookError if a notebook fails.
    """
    written: list[Path] = []
    sources: set[str] = set()
    files, scripts = list(pages(root)), notebooks.discover(root)
    for file in track(files, "pages and their figures", len(files)):
        if file.target.suffix == ".md":
            text, shown = expanded(file, root)
            sources |= shown
            written.append(_write(target / file.target, text.encode()))
        else:
            written.append(_write(target / file.target, file.origin.read_bytes()))
    for notebook, failure in track(notebooks.execute_changed(scripts), "notebooks", len(scripts)):
        if failure is not None:
            raise failure
        sources |= notebooks.sources(notebook)
        place = target / "book" / notebook.parent.name / f"{notebook.stem}_notebook.md"
        for language, text in notebooks.as_pages(notebook):
            if language == "zh":
                written.append(_write(place.with_suffix(".zh.md"), join_chinese_lines(text).encode()))
            else:
                written.append(_write(place, text.encode()))
        for language, suffix in notebooks.JUPYTER_SUFFIXES.items():
            written.append(_write(place.with_name(notebook.stem + suffix), for_download(notebook, language).encode()))
    written.extend(_source_page(module, target) for module in sorted(sources))
    if live is not None:
        written.extend(live(target / LIVE))
        code = json.dumps(shown_code(sources, root), ensure_ascii=False)
        written.append(_write(target / LIVE / "code.json", code.encode()))
    if labs is not None:
        written.extend(labs(target / lab_files.PLACE))
    _remove_stale(target, set(written))
    return written


def expanded(file: StagedFile, root: Path = PROJECT_ROOT) -> tuple[str, set[str]]:
    """A page's Markdown with its directives expanded, and the modules that it shows.

    Raises DirectiveError if a directive cannot be expanded.
    """
    page = _page(file, root)
    text = expand(file.origin.read_text(encoding="utf-8"), page)
    if page.language == "zh":
        text = join_chinese_lines(text)
    text = with_links(text, page.target, page.language)
    if reading_path(root).stop(page.origin.replace(".zh.md", ".md")):
        text = with_badges(with_signpost(text, page.origin, page.language, root), page.language)
    return with_workbench(text, page.target, page.language), page.sources


def _page(file: StagedFile, root: Path) -> Page:
    name_parts = file.target.name.split(".")
    language = name_parts[-2] if len(name_parts) > 2 and name_parts[-2] in LANGUAGES else LANGUAGES[0]
    return Page(file.origin.relative_to(root).as_posix(), file.target, language)


def _source_page(module: str, target: Path) -> Path:
    """The whole file of a module or of a Java program, with an anchor on every line."""
    path = PROJECT_ROOT / module if module.endswith(JAVA) else module_path(module)
    relative = path.relative_to(PROJECT_ROOT)
    language = "java" if module.endswith(JAVA) else "python"
    code = path.read_text(encoding="utf-8").rstrip("\n")
    text = _SOURCE_PAGE.format(path=relative.as_posix(), language=language, code=code)
    return _write(target / "source" / relative.with_suffix(".md"), text.encode())


def _write(path: Path, content: bytes) -> Path:
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return path


def _remove_stale(target: Path, written: set[Path]) -> None:
    for path in _files(target):
        if path not in written:
            path.unlink()


def _files(folder: Path, pattern: str = "*") -> list[Path]:
    return sorted(path for path in folder.rglob(pattern) if path.is_file() and not path.name.startswith("."))
