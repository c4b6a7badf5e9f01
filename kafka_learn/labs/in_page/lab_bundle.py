"""Packs what a lab's page needs in addition to the archive of the live cluster (``kafka_learn/live/bundle.py``).

Not in Kafka. That is the rest of this project which labs' tests import, the labs themselves, pytest, and what it and
our tables import; as they are, so that a page checks exactly what is in the repository.
"""

from __future__ import annotations

import importlib.util
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from kafka_learn.labs.lab import all_labs
from kafka_learn.labs.way.in_chinese import FILE
from kafka_learn.live import bundle
from kafka_learn.project import PROJECT_ROOT

OWN: Final = (
    "kafka_lite/old_consumer", "kafka_lite/old_producer", "kafka_learn/labs", "kafka_learn/recording",
    "kafka_learn/project.py", "kafka_learn/source.py", "examples/csv_source",
)  # fmt: skip
"""Parts of this project that are not in the live cluster's archive."""
PACKAGES: Final = ("_pytest", "pytest", "py", "pluggy", "iniconfig", "packaging", "rich", "pygments")
"""Installed packages in plain Python: pytest, and the tables of the command line."""
LANGUAGES: Final = PurePosixPath("pygments/lexers")
KEPT_LANGUAGES: Final = {"__init__.py", "_mapping.py", "diff.py", "python.py"}
"""Of the languages that Pygments colours, which are nine tenths of it."""
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)


def sources(root: Path = PROJECT_ROOT) -> Iterator[tuple[PurePosixPath, Path]]:
    """The files and their places in the archive."""
    for part in OWN:
        yield from _modules(root / part, root)
    yield PurePosixPath("labs", FILE), root / "labs" / FILE
    for lab in all_labs(root / "labs"):
        words = [lab.folder / name for name in ("lab.toml", "README.zh.md", FILE)]
        for file in (*words, *sorted(lab.tests.glob("*.py"))):
            if file.exists() and (lab.in_page or file.name == "lab.toml"):
                yield PurePosixPath(file.relative_to(root).as_posix()), file
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError(f"{package} is not installed")
        origin = Path(spec.origin)
        whole = origin.parent if origin.name == "__init__.py" else origin
        yield from _modules(whole, whole.parent)


def _modules(path: Path, root: Path) -> Iterator[tuple[PurePosixPath, Path]]:
    for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
        place = PurePosixPath(file.relative_to(root).as_posix())
        if not place.is_relative_to(LANGUAGES) or place.name in KEPT_LANGUAGES:
            yield place, file


def lab_bundle(root: Path = PROJECT_ROOT) -> bytes:
    """The archive, a zip file."""
    there = {place for place, _ in bundle.sources(root)}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for place, file in sources(root):
            if place not in there:
                archive.writestr(zipfile.ZipInfo(str(place), _EPOCH), file.read_bytes(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
