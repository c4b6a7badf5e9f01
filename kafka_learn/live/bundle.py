"""Packs the source that a page needs into one archive: this project's own, ZooKeeper's client, and what they import.

Not in Kafka. The files are packed as they are: a page runs, and can show, exactly what is in the repository.
"""

from __future__ import annotations

import importlib.util
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from kafka_learn.project import PROJECT_ROOT

LEFT_OUT: Final = (
    "kafka_lite/book", "kafka_lite/old_consumer", "kafka_lite/old_producer", "kafka_lite/spark",
    "kafka_lite/testing/chaos", "kafka_lite/testing/simulation/streams",
    "kazoo/testing", "kazoo/tests",
)  # fmt: skip
"""Folders that no program of a live cluster imports."""
WORKSHOP: Final = ("kafka_learn/__init__.py", "kafka_learn/live")
"""The parts of the workshop that run in a page."""
PACKAGES: Final = ("kazoo", "platformdirs")
"""Installed packages, in plain Python."""
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
"""The time of every file in the archive, so that the same source gives the same bytes."""


def sources(root: Path = PROJECT_ROOT) -> Iterator[tuple[PurePosixPath, Path]]:
    """The files and their places in the archive."""
    yield from _modules(root / "kafka_lite", root)
    for part in WORKSHOP:
        yield from _modules(root / part, root)
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError(f"{package} is not installed")
        yield from _modules(Path(spec.origin).parent, Path(spec.origin).parents[1])


def _modules(path: Path, root: Path) -> Iterator[tuple[PurePosixPath, Path]]:
    files = [path] if path.is_file() else sorted(path.rglob("*.py"))
    for file in files:
        place = PurePosixPath(file.relative_to(root).as_posix())
        if not any(place.is_relative_to(folder) for folder in LEFT_OUT):
            yield place, file


def bundle(root: Path = PROJECT_ROOT) -> bytes:
    """The archive, a zip file."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for place, file in sources(root):
            archive.writestr(zipfile.ZipInfo(str(place), _EPOCH), file.read_bytes(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
