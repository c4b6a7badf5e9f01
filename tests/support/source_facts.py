"""The facts about every module of the project that structural tests ask for, from one parse of its source.

The trees of all modules together would take hundreds of megabytes, so they are not kept.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
FOLDERS = ("kafka_lite", "pyspark_kafka_lite", "kafka_learn", "pipeline", "examples", "bench", "scripts", "chapters")
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


@dataclass(frozen=True)
class FunctionFacts:
    """A function or method: its name, its number of lines, and whether it ends with ``raise NotImplementedError``."""

    name: str
    lines: int
    raises_not_implemented: bool


@dataclass(frozen=True)
class SourceFacts:
    """A module: its lines, the dotted names in its import statements, and its functions, inner ones included."""

    lines: int
    imported_names: frozenset[str]
    functions: tuple[FunctionFacts, ...]


@cache
def all_sources() -> dict[str, SourceFacts]:
    """Path of each module, from the root of the repository -> its facts."""
    files = (file for folder in FOLDERS for file in (REPOSITORY / folder).rglob("*.py"))
    return {file.relative_to(REPOSITORY).as_posix(): facts(file.read_text("utf-8")) for file in sorted(files)}


def facts(source: str) -> SourceFacts:
    """The facts about one source."""
    imported: set[str] = set()
    functions: list[FunctionFacts] = []
    for node in statements(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            imported |= _imported(node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or 0) - node.lineno + 1
            functions.append(FunctionFacts(node.name, lines, _raises_not_implemented(node.body[-1])))
    return SourceFacts(source.count("\n"), frozenset(imported), tuple(functions))


def statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Every statement, however deep: a tenth of the nodes of ``ast.walk``, most of which are inside of expressions."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for block in _BLOCKS:
            waiting.extend(getattr(node, block, ()))


def _imported(node: ast.Import | ast.ImportFrom) -> set[str]:
    """Modules, and attributes of modules, by their dotted names."""
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    assert node.level == 0, "relative imports are not used here"
    assert node.module is not None
    return {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}


def _raises_not_implemented(last: ast.stmt) -> bool:
    return isinstance(last, ast.Raise) and last.exc is not None and ast.unparse(last.exc) == "NotImplementedError"
