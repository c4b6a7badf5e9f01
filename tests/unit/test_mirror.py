"""Every module of more than a hundred lines has a test file of its name, and every package has its share of tests.

``kafka_lite/book/mirrored_tests.py`` says where that file is. What differs is in ``tests/data/mirror/``, in a file per
package::

    lanes = ["tests/jvm/test_kafka_codec.py"]     # tests elsewhere whose lines count as the package's

    [carried_by]                                  # the tests of a module that are elsewhere
    "kafka_lite/log/log_segment.py" = ["tests/unit/log/test_log.py"]
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.book.data_files import read_toml
from kafka_lite.book.mirrored_tests import MIRRORS, REPOSITORY, mirrored_test, package_of

LARGE = 100
RATIO = 0.6
TABLES = REPOSITORY / "tests" / "data" / "mirror"
KEYS = {"lanes", "carried_by"}


def _path(file: Path) -> str:
    return file.relative_to(REPOSITORY).as_posix()


@cache
def _lines(file: Path) -> int:
    return len(file.read_text(encoding="utf-8").splitlines())


MODULES = {_path(file): file for top in MIRRORS for file in sorted((REPOSITORY / top).rglob("*.py"))}
LARGE_MODULES = [path for path, file in MODULES.items() if _lines(file) > LARGE and file.name != "__init__.py"]
PACKAGES = sorted({package_of(module) for module in LARGE_MODULES})


@cache
def _table(package: str) -> dict[str, Any]:
    path = TABLES / f"{package}.toml"
    return read_toml(path) if path.is_file() else {}


def _rows(package: str) -> dict[str, list[str]]:
    rows: dict[str, list[str]] = _table(package).get("carried_by", {})
    return rows


def test_every_table_belongs_to_a_package_and_has_known_keys() -> None:
    tables = {file.relative_to(TABLES).with_suffix("").as_posix() for file in TABLES.rglob("*.toml")}
    assert tables <= set(PACKAGES)
    assert {key for package in tables for key in _table(package)} <= KEYS


@pytest.mark.parametrize("package", PACKAGES)
def test_a_large_module_has_tests_of_its_name_or_a_row(package: str) -> None:
    modules = [module for module in LARGE_MODULES if package_of(module) == package]
    without = {m for m in modules if not (REPOSITORY / mirrored_test(m)).is_file() and m not in _rows(package)}

    missing = {module: mirrored_test(module) for module in sorted(without)}
    assert not missing, "write their tests"


@pytest.mark.parametrize("package", PACKAGES)
def test_a_row_is_needed(package: str) -> None:
    large = {module for module in LARGE_MODULES if package_of(module) == package}
    needless = [m for m in _rows(package) if m not in large or (REPOSITORY / mirrored_test(m)).is_file()]
    assert not needless, "the module is gone, small, or has tests of its name: take its row out"


@pytest.mark.parametrize("package", PACKAGES)
def test_a_row_names_tests_that_name_the_module(package: str) -> None:
    pairs = [(module, test) for module, tests in _rows(package).items() for test in tests]
    assert not [test for _, test in pairs if not (REPOSITORY / test).is_file()], "no such tests"
    assert not [m for m, tests in _rows(package).items() if not tests]
    silent = [(module, test) for module, test in pairs if not _names(REPOSITORY / test, MODULES[module])]
    assert not silent, "these tests do not name the module, nor a class or function of it"


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_has_its_share_of_tests(package: str) -> None:
    source = sum(_lines(file) for module, file in MODULES.items() if package_of(module) == package)
    unit, lanes = _lines_of_tests()[package], sum(_lines(file) for file in _lanes(package))

    assert unit + lanes >= RATIO * source, f"{unit} and {lanes} lines of tests for {source}"
    assert not lanes or unit < RATIO * source, f"the unit tests are enough: take lanes out of {package}.toml"


def test_a_lane_counts_for_one_package() -> None:
    lanes = Counter(lane for package in PACKAGES for lane in _lanes(package))
    assert not [_path(lane) for lane, count in lanes.items() if count > 1]
    assert not [_path(lane) for lane in lanes if lane.is_relative_to(REPOSITORY / "tests" / "unit")]


def _lanes(package: str) -> list[Path]:
    """The test files, given by patterns such as ``tests/integration/test_simulation*.py``."""
    patterns: list[str] = _table(package).get("lanes", [])
    found = [(pattern, sorted(REPOSITORY.glob(pattern))) for pattern in patterns]
    assert not [pattern for pattern, files in found if not files], "no such tests"
    return [file for _, files in found for file in files]


@cache
def _lines_of_tests() -> Counter[str]:
    """The lines of the unit tests of each package."""
    lines: Counter[str] = Counter()
    for file in (REPOSITORY / "tests" / "unit").rglob("*.py"):
        folder = file.relative_to(REPOSITORY / "tests" / "unit").parts[0]
        package = {"learn": "kafka_learn", "pipeline": "pipeline"}.get(folder, f"kafka_lite/{folder}")
        lines[package] += _lines(file)
    return lines


def _names(test: Path, module: Path) -> bool:
    """Whether a test names a module: its path in Python, its command, or a public class or function that it defines."""
    text = test.read_text(encoding="utf-8")
    dotted = re.escape(_path(module).removesuffix(".py").replace("/", "."))
    package, _, stem = dotted.rpartition(r"\.")
    command = stem.replace("_", "-")
    nodes = ast.parse(module.read_text(encoding="utf-8")).body
    defined = [node.name for node in nodes if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    patterns = [rf"\b{dotted}\b", rf"from {package} import .*\b{stem}\b", rf'"{command}"']
    patterns += [rf"\b{name}\b" for name in defined if not name.startswith("_")]
    return any(re.search(pattern, text) for pattern in patterns)
