"""The files that the live cluster's page loads: the Python interpreter, and the project's source.

The interpreter is Pyodide of the npm registry, fetched once with ``npm pack`` into the user's cache, checked, and
shipped unmodified under its licence. On a machine without npm the site is built without it, and the page says so.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import platformdirs

from kafka_learn.live.bundle import bundle
from kafka_learn.site.live_page import npm_package
from kafka_learn.site.live_page.npm_package import EngineError

__all__ = ["EngineError", "engine", "has_npm", "unpack", "write"]

VERSION: Final = "0.29.5"
FILES: Final = {
    "pyodide.mjs": "510ca14305230018f50c40fb81be673afd68080e70ce7733fcce6600dd6a1714",
    "pyodide.asm.js": "356c42f69e1695397e9d8670bd3c2e678248cde76e18bdae1731e848537b47d7",
    "pyodide.asm.wasm": "54309a5a2cfd757b1f0fdbc9093c92503f7b341500110329d932487183912718",
    "python_stdlib.zip": "831fd1e535084b972f87c6a35275de3d236efd5166f5e77ce89497710635e73c",
    "pyodide-lock.json": "14d2c2dba101277999e17135e653d8f15389ad1437f53eae213bf0c3cdff723d",
}
"""The files that a page loads, and their SHA-256."""
NOTICE: Final = f"""Pyodide {VERSION}, unmodified: {", ".join(FILES)}.
Licence: Mozilla Public License 2.0, https://mozilla.org/MPL/2.0/. Its source: https://github.com/pyodide/pyodide/tree/{VERSION}
It has CPython's interpreter and standard library, under the PSF License Version 2.

source.zip: kafka_lite, kazoo (Apache License 2.0) and platformdirs (MIT), unmodified.
"""


def has_npm() -> bool:
    """Whether the interpreter can be fetched on this machine, or was."""
    return shutil.which("npm") is not None or _is_complete(_cache())


def write(target: Path) -> Iterator[Path]:
    """Write the page's files into a folder, if they have changed; yields them. Raises EngineError."""
    for name, data in engine().items():
        path = target / name
        if not path.exists() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        yield path


def engine() -> dict[str, bytes]:
    """The files by their names. Raises EngineError."""
    cache = _cache()
    if not _is_complete(cache):
        _fetch(cache)
    interpreter = {name: (cache / name).read_bytes() for name in FILES}
    return {**interpreter, "source.zip": bundle(), "NOTICE.txt": NOTICE.encode()}


def _cache() -> Path:
    return Path(platformdirs.user_cache_dir("kafka-lite", appauthor=False)) / f"pyodide-{VERSION}"


def _is_complete(cache: Path) -> bool:
    return all((cache / name).is_file() for name in FILES)


def _fetch(cache: Path) -> None:
    _keep(npm_package.fetch(f"pyodide@{VERSION}", FILES), cache)


def unpack(package: Path, cache: Path) -> None:
    """Take the files out of npm's package. Raises EngineError, and keeps none of them, if one is another."""
    _keep(npm_package.unpacked(package, f"pyodide@{VERSION}", FILES), cache)


def _keep(found: dict[str, bytes], cache: Path) -> None:
    cache.mkdir(parents=True, exist_ok=True)
    for name, data in found.items():
        (cache / name).write_bytes(data)
