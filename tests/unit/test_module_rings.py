"""No two modules import each other, directly or through others. TYPE_CHECKING and local imports count, too.

One ring is meant: ``RINGS`` says which, and why.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PACKAGES = ("kafka_lite", "pyspark_kafka_lite", "kafka_learn", "pipeline", "examples", "bench", "scripts", "chapters")

RINGS = {
    (
        "kafka_lite.streams.kstream.kgrouped_stream",
        "kafka_lite.streams.kstream.kgrouped_table",
        "kafka_lite.streams.kstream.kstream",
        "kafka_lite.streams.kstream.ktable",
    ): "the operators of Kafka's four interfaces return each other, and mypy is to check what applications do",
}
"""The rings that are meant, and why."""

Imports = dict[str, set[str]]
"""The modules that each module imports."""


def imported_names(source: str) -> set[str]:
    """What a source names in its import statements: modules, and attributes of modules, by their dotted names."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            assert node.level == 0, "relative imports are not used here"
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def imports_of(sources: Mapping[str, str]) -> Imports:
    """The graph of imports among these modules (dotted name to source)."""
    return {name: (imported_names(source) & sources.keys()) - {name} for name, source in sources.items()}


def reachable(imports: Imports, start: str) -> set[str]:
    """The modules that ``start`` imports, directly or through others; ``start`` itself only if there is a cycle."""
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for imported in imports[waiting.pop()] - seen:
            seen.add(imported)
            waiting.append(imported)
    return seen


def rings(imports: Imports) -> list[list[str]]:
    """The sets of modules that import each other, each in alphabetical order."""
    reached = {name: reachable(imports, name) for name in imports}
    found = {tuple(sorted(other for other in reached[name] if name in reached[other])) for name in imports}
    return [list(ring) for ring in sorted(found) if ring]


def modules(packages: Iterable[str]) -> dict[str, str]:
    """Sources by dotted name. Packages' ``__init__`` only re-exports, and nothing inside imports it."""
    files = [file for package in packages for file in (REPOSITORY / package).rglob("*.py")]
    return {
        ".".join(file.relative_to(REPOSITORY).with_suffix("").parts): file.read_text("utf-8")
        for file in files
        if file.name != "__init__.py"
    }


def test_no_modules_import_each_other() -> None:
    found = {tuple(ring) for ring in rings(imports_of(modules(PACKAGES)))}

    more = found - RINGS.keys()
    assert not more, "modules that import each other:\n" + "\n".join(" <-> ".join(ring) for ring in sorted(more))
    assert not RINGS.keys() - found, "these are rings no longer: take them out of RINGS"


@pytest.mark.parametrize(
    "import_of_a",
    [
        "import a",
        "from a import A",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a import A",
        "def f():\n    import a",
    ],
)
def test_a_cycle_is_found_however_its_modules_are_imported(import_of_a: str) -> None:
    sources = {"a": "from b import B", "b": "import c", "c": import_of_a, "d": "import a"}

    assert rings(imports_of(sources)) == [["a", "b", "c"]]


def test_modules_that_share_an_import_are_no_cycle() -> None:
    assert rings(imports_of({"a": "import b\nimport c", "b": "import c", "c": ""})) == []
