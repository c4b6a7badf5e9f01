"""The editor of the labs' pages: CodeMirror 6, as npm's registry has it, without a bundler.

Its packages are modules that import each other by name. An import map in the page says where each name is, so the
files (``editor.toml``) are shipped unmodified, under their licence (MIT). They are fetched once with ``npm pack`` into
the user's cache.

A plain textarea has no colours, no indent of the next line and no line numbers for the check's messages. The editors
that come in one file draw their own text; CodeMirror's is the page's, so phones, screen readers and Chinese input
methods work in it. Where its files are missing, the page has a textarea.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import platformdirs

from kafka_learn.site.live_page import npm_package


class EditorFile(NamedTuple):
    """The module of a package that a browser loads."""

    package: str
    version: str
    path: str
    """Its path in the package."""
    sha256: str

    @property
    def name(self) -> str:
        """Its name on the site."""
        return self.package.removeprefix("@").replace("/", "-") + ".js"


FILES: Final = tuple(
    EditorFile(**row) for row in tomllib.loads(Path(__file__).with_name("editor.toml").read_text("utf-8"))["file"]
)
LICENCE: Final = """The editor: {names}, unmodified, from npm's registry.

MIT License. Copyright (C) 2018-2026 by Marijn Haverbeke <marijn@haverbeke.berlin>, Adrian Heine and others

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the
Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE,
ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""  # noqa: E501


def import_map(folder: str) -> str:
    """The element that tells a page where the packages are; ``folder`` is the address of their files.

    A browser ignores an address in a map that begins with a name: it must begin with ``/``, ``./`` or ``../``.
    """
    start = "" if folder.startswith((".", "/")) else "./"
    places = {file.package: start + posixpath.join(folder, file.name) for file in FILES}
    return f'<script type="importmap">{json.dumps({"imports": places}, separators=(",", ":"))}</script>'


def editor_files() -> Iterator[tuple[str, bytes]]:
    """The files by their names on the site, and their licence. Raises EngineError."""
    for file in FILES:
        yield file.name, _content(file)
    names = ", ".join(f"{file.package} {file.version}" for file in FILES)
    yield "NOTICE.txt", LICENCE.format(names=names).encode()


def _content(file: EditorFile) -> bytes:
    cached = _cache() / f"{file.version}-{file.name}"
    if cached.is_file() and hashlib.sha256(data := cached.read_bytes()).hexdigest() == file.sha256:
        return data
    data = npm_package.fetch(f"{file.package}@{file.version}", {file.path: file.sha256})[file.path]
    cached.parent.mkdir(parents=True, exist_ok=True)
    cached.write_bytes(data)
    return data


def _cache() -> Path:
    return Path(platformdirs.user_cache_dir("kafka-lite", appauthor=False)) / "codemirror-6"
