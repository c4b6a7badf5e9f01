"""Finds the tests of a module: ``tests/unit`` has a file for each larger module, in the same folders.

::

    kafka_lite/log/cleaning/cleaner.py      tests/unit/log/cleaning/test_cleaner.py
    kafka_learn/drawing/charts.py           tests/unit/learn/drawing/test_charts.py
    pipeline/run/sinks.py                   tests/unit/pipeline/run/test_sinks.py

A few modules are tested elsewhere. ``tests/data/mirror/``, a file per package, names their tests, and
``tests/unit/test_mirror.py`` holds both. An installed package comes without tests, so nothing is found there.

Kafka's classes have their tests in the same package, below src/test · book 1.5
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from kafka_lite.book.data_files import PACKAGE, read_toml

REPOSITORY = PACKAGE.parent
MIRRORS = {"kafka_lite": "tests/unit", "kafka_learn": "tests/unit/learn", "pipeline": "tests/unit/pipeline"}
"""The folder that mirrors a top package."""


def files_that_test(module: str, root: Path = REPOSITORY) -> list[str]:
    """The test files of a module, such as ``kafka_lite/log/log.py``, as paths below ``root``.

    It is the file of the module's name and those that the table of its package adds. A small module has neither:
    then it is the unit tests that import it.
    """
    if Path(module).parts[0] not in MIRRORS:
        return []
    mirrored = mirrored_test(module)
    found = [mirrored] if (root / mirrored).is_file() else []
    found += table_of(module, root).get("carried_by", {}).get(module, [])
    return found or [path for path, text in _unit_tests(root) if _imports(text, module)]


def mirrored_test(module: str) -> str:
    """Where the tests of a module are to be found: a path from the repository's root."""
    path = Path(module)
    folder = Path(MIRRORS[path.parts[0]], *path.parts[1:-1])
    return (folder / f"test_{path.name}").as_posix()


def package_of(module: str) -> str:
    """The package that has a table: ``kafka_lite/log``, or ``pipeline`` as a whole."""
    parts = Path(module).parts
    return "/".join(parts[:2] if parts[0] == "kafka_lite" and len(parts) > 2 else parts[:1])


def table_of(module: str, root: Path = REPOSITORY) -> dict[str, Any]:
    """The table of a module's package, empty if the package has none."""
    path = root / "tests" / "data" / "mirror" / f"{package_of(module)}.toml"
    return read_toml(path) if path.is_file() else {}


@cache
def _unit_tests(root: Path) -> list[tuple[str, str]]:
    """(path, text) of every unit test."""
    files = sorted((root / "tests" / "unit").rglob("test_*.py"))
    return [(file.relative_to(root).as_posix(), file.read_text(encoding="utf-8")) for file in files]


def _imports(text: str, module: str) -> bool:
    package, _, name = module.removesuffix(".py").replace("/", ".").rpartition(".")
    dotted = rf"^\s*(from|import) {re.escape(package)}\.{name}\b"
    return bool(re.search(rf"{dotted}|^\s*from {re.escape(package)} import .*\b{name}\b", text, re.MULTILINE))
