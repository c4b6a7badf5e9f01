"""No two modules import each other, directly or through others. TYPE_CHECKING and local imports count, too.

One ring is meant: ``RINGS`` says which, and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.source_facts import SourceFacts, all_sources, facts

RINGS = {
    (
        "kafka_lite.streams.kstream.kgrouped_stream",
        "kafka_lite.streams.kstream.kgrouped_table",
        "kafka_lite.streams.kstream.kstream",
        "kafka_lite.streams.kstream.ktable",
    ): "the operators of Kafka's four interfaces return each other, and mypy is to check what applications do",
}
"""The rings that are meant, and why."""

Imports = dict[str, frozenset[str]]
"""The modules that each module imports."""


def imports_of(sources: Mapping[str, SourceFacts]) -> Imports:
    """The graph of imports among these modules (dotted name to facts)."""
    return {name: (source.imported_names & sources.keys()) - {name} for name, source in sources.items()}


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


def modules() -> dict[str, SourceFacts]:
    """All modules by dotted name. Packages' ``__init__`` only re-exports, and nothing inside imports it."""
    return {
        ".".join(Path(path).with_suffix("").parts): source
        for path, source in all_sources().items()
        if not path.endswith("/__init__.py")
    }


def test_no_modules_import_each_other() -> None:
    found = {tuple(ring) for ring in rings(imports_of(modules()))}

    more = found - RINGS.keys()
    assert not more, "modules that import each other:\n" + "\n".join(" <-> ".join(ring) for ring in sorted(more))
    assert not RINGS.keys() - found, "these are rings no longer: take them out of RINGS"


def graph(sources: Mapping[str, str]) -> Imports:
    return imports_of({name: facts(source) for name, source in sources.items()})


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

    assert rings(graph(sources)) == [["a", "b", "c"]]


def test_modules_that_share_an_import_are_no_cycle() -> None:
    assert rings(graph({"a": "import b\nimport c", "b": "import c", "c": ""})) == []
