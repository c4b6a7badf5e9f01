"""Remembers from what a site was built, so that a build of the same is over at once.

The pages that mkdocs takes are staged first (``staging``), which costs little if no code has changed that a run or a
notebook executes. If they, the theme, the hooks, the configuration and the versions of all packages are those of the
last build that was without a problem, the site that is there is what another build would make.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from kafka_learn.project import PROJECT_ROOT

MARK = ".built-from"
"""The file in the site's folder that keeps the digest."""
MADE_WITH = ("mkdocs.yml", "uv.lock", "chapters/terms.toml", "chapters/path.toml", "chapters/book.toml")


class LastBuild:
    """The last build into a folder."""

    def __init__(self, target: Path, staged: Path, site_url: str, root: Path = PROJECT_ROOT) -> None:
        """``staged`` has the pages, ``site_url`` is the address for which the site is built."""
        self._target = target
        self._staged = staged
        self._site_url = site_url
        self._root = root

    def is_current(self) -> bool:
        """Whether the site in the folder was built from what there is now."""
        mark = self._target / MARK
        return mark.is_file() and mark.read_text(encoding="utf-8") == self._digest()

    def forget(self) -> None:
        """A build begins: what it leaves behind counts only if it succeeds."""
        (self._target / MARK).unlink(missing_ok=True)

    def note(self) -> None:
        """A build has succeeded."""
        (self._target / MARK).write_text(self._digest(), encoding="utf-8")

    def _digest(self) -> str:
        digest = hashlib.sha256(self._site_url.encode())
        for name, path in self._inputs():
            digest.update(f"\0{name}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
        return digest.hexdigest()

    def _inputs(self) -> Iterator[tuple[str, Path]]:
        for folder in (self._staged, self._root / "kafka_learn" / "site"):
            for path in sorted(folder.rglob("*")):
                if path.is_file() and path.suffix != ".pyc":
                    yield path.relative_to(folder).as_posix(), path
        for name in MADE_WITH:
            if (self._root / name).is_file():
                yield name, self._root / name
