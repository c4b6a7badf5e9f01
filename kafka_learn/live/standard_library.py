"""Unpacks the modules of the standard library that each process of a world has a copy of.

Not in Kafka. Pyodide keeps the standard library in an archive. A process loads its copies from files (``modules``).
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

from kafka_lite.testing.simulation.system.modules import STANDARD_LIBRARY


def unpack(archive: Path, folder: Path) -> None:
    """Write the modules into a folder, which is to come first in ``sys.path``."""
    with zipfile.ZipFile(archive) as library:
        for name in _copied(library):
            library.extract(name, folder)


def _copied(library: zipfile.ZipFile) -> Iterator[str]:
    for name in library.namelist():
        top, _, rest = name.partition("/")
        if (top if rest else top.removesuffix(".py")) in STANDARD_LIBRARY and name.endswith(".py"):
            yield name
