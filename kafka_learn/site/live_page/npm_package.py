"""Files of packages of the npm registry, fetched with ``npm pack``, checked, and kept in the user's cache."""

from __future__ import annotations

import hashlib
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path


class EngineError(Exception):
    """A package cannot be fetched, or has other files than those that are expected."""


def fetch(package: str, pins: Mapping[str, str]) -> dict[str, bytes]:
    """Files of a package (``name@version``) by their names; ``pins`` has the SHA-256 of each. Raises EngineError."""
    with tempfile.TemporaryDirectory(prefix="kafka-lite-npm-") as folder:
        done = subprocess.run(
            ["npm", "pack", "--silent", package], cwd=folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise EngineError(f"npm pack {package} failed: {done.stderr.strip()}")
        return unpacked(next(Path(folder).glob("*.tgz")), package, pins)


def unpacked(archive: Path, package: str, pins: Mapping[str, str]) -> dict[str, bytes]:
    """Take the files out of npm's archive. Raises EngineError if one is another."""
    with tarfile.open(archive) as packed:
        found = {name: _content(packed, name) for name in pins}
    for name, data in found.items():
        if hashlib.sha256(data).hexdigest() != pins[name]:
            raise EngineError(f"{name} of {package} is not the file that was pinned")
    return found


def _content(archive: tarfile.TarFile, name: str) -> bytes:
    try:
        file = archive.extractfile(f"package/{name}")
    except KeyError:
        file = None
    return file.read() if file is not None else b""
