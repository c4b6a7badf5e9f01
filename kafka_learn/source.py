"""Looks up code for the text by symbol in the shipped source, so that it is never pasted or referenced by line number.

A reference is ``module:Symbol``, for example ``kafka_lite.log.offset_index:OffsetIndex.lookup``; the symbol is a class,
a function, a method, or a name assigned in a module or a class. Modules are parsed, not imported.
"""

from __future__ import annotations

import ast
import functools
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kafka_learn.project import PROJECT_ROOT

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class UnknownSymbolError(LookupError):
    """The source does not contain the module or symbol (any more)."""


@dataclass(frozen=True)
class SourceSymbol:
    """A definition and its location; line numbers start at 1, and ``last_line`` is inclusive."""

    module: str
    name: str
    path: Path
    first_line: int
    last_line: int
    node: ast.stmt
    lines: tuple[str, ...]

    @property
    def relative_path(self) -> str:
        """The file's path in the repository, with forward slashes."""
        return self.path.relative_to(PROJECT_ROOT).as_posix()


def module_path(module: str) -> Path:
    """The file of a module of this project. Raises UnknownSymbolError."""
    base = PROJECT_ROOT.joinpath(*module.split("."))
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return path
    raise UnknownSymbolError(f"there is no module {module}")


def find_symbol(reference: str) -> SourceSymbol:
    """Look up ``module:Symbol``. Raises UnknownSymbolError naming the part that does not exist."""
    module, separator, name = reference.partition(":")
    if not separator or not name:
        raise UnknownSymbolError(f"{reference!r} is not of the form module:Symbol")
    path = module_path(module)
    lines = path.read_text(encoding="utf-8").splitlines()
    node = _descend(_parsed("\n".join(lines)), name, module)
    first = _first_line(node, lines)
    return SourceSymbol(module, name, path, first, node.end_lineno or first, node, tuple(lines))


def module_docstring(symbol: SourceSymbol) -> str:
    """The docstring of the symbol's module; empty if it has none."""
    return ast.get_docstring(_parsed("\n".join(symbol.lines))) or ""


@functools.lru_cache(maxsize=1024)
def _parsed(text: str) -> ast.Module:
    """The tree of a module, which many excerpts are cut out of and none changes."""
    return ast.parse(text)


def render(symbol: SourceSymbol, *, docstring: bool = True, only: tuple[str, ...] = (), bodies: bool = True) -> str:
    """The symbol's source, dedented.

    ``docstring=False`` omits all docstrings, ``only`` keeps the named members of a class and marks what was omitted,
    ``bodies=False`` shows only the signatures and docstrings of a class's methods.
    """
    cuts = _Cuts(symbol)
    if only:
        cuts.all_members_but(only)
    if not bodies:
        cuts.bodies()
    if not docstring:
        cuts.docstrings()
    return textwrap.dedent("\n".join(cuts.apply())).strip("\n")


def _descend(tree: ast.Module, name: str, module: str) -> ast.stmt:
    """Resolve ``Class.method``, starting at the module."""
    scope: ast.Module | ast.stmt = tree
    for part in name.split("."):
        body = getattr(scope, "body", [])
        found = [node for node in body if part in _names_defined(node)]
        if not found:
            raise UnknownSymbolError(f"there is no {part!r} of {name!r} in {module}")
        scope = found[-1]
    assert isinstance(scope, ast.stmt)
    return scope


def _names_defined(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, _Definition):
        yield node.name
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id
    elif isinstance(node, ast.Assign):
        yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def _first_line(node: ast.stmt, lines: list[str] | tuple[str, ...]) -> int:
    """The definition's first line, including decorators and the comment right above it."""
    first = min([node.lineno, *(decorator.lineno for decorator in _decorators(node))])
    while first > 1 and lines[first - 2].lstrip().startswith("#"):
        first -= 1
    return first


def _decorators(node: ast.stmt) -> list[ast.expr]:
    return node.decorator_list if isinstance(node, _Definition) else []


class _Cuts:
    """Line ranges of a symbol to omit, and the mark that replaces each."""

    def __init__(self, symbol: SourceSymbol) -> None:
        self._symbol = symbol
        self._replaced: dict[int, str | None] = {}

    def all_members_but(self, only: tuple[str, ...]) -> None:
        """Keep the class's header, its docstring and the named members; everything between becomes a mark."""
        node = self._symbol.node
        members = list(node.body) if isinstance(node, ast.ClassDef) else []
        missing = set(only) - {name for member in members for name in _names_defined(member)}
        if missing:
            raise UnknownSymbolError(f"{self._symbol.name} has no member {', '.join(sorted(missing))}")
        left_out_from = 0
        for member in members:
            names = set(_names_defined(member))
            if names & set(only) or (member is members[0] and _is_docstring(member)):
                self._leave_out(left_out_from, _first_line(member, self._symbol.lines) - 1)
                left_out_from = (member.end_lineno or member.lineno) + 1
            elif not left_out_from:
                left_out_from = _first_line(member, self._symbol.lines)
        self._leave_out(left_out_from, self._symbol.last_line)

    def _leave_out(self, first: int, last: int) -> None:
        """Replace these lines and the blank lines around them by a mark, unless all are blank."""
        filled = [n for n in range(first, last + 1) if first and self._symbol.lines[n - 1].strip()]
        if filled:
            self._cut(filled[0], filled[-1], "# …")

    def bodies(self) -> None:
        for function in self._functions():
            first_statement = (
                function.body[1] if _docstring_node(function) and len(function.body) > 1 else function.body[0]
            )
            if not _is_docstring(first_statement):
                self._cut(_first_line(first_statement, self._symbol.lines), function.end_lineno, "...")

    def docstrings(self) -> None:
        for node in ast.walk(self._symbol.node):
            if isinstance(node, _Definition) and (expression := _docstring_node(node)) and len(node.body) > 1:
                self._cut(expression.lineno, expression.end_lineno, None)

    def _functions(self) -> Iterator[ast.FunctionDef]:
        yield from (n for n in getattr(self._symbol.node, "body", []) if isinstance(n, ast.FunctionDef))

    def _cut(self, first: int, last: int | None, mark: str | None) -> None:
        if first in self._replaced:
            return  # within a range that is already omitted
        line = self._symbol.lines[first - 1]
        indent = line[: len(line) - len(line.lstrip())]
        self._replaced[first] = None if mark is None else indent + mark
        self._replaced.update(dict.fromkeys(range(first + 1, (last or first) + 1), None))

    def apply(self) -> Iterator[str]:
        """The remaining lines, without consecutive blank lines."""
        previous = ""
        for number in range(self._symbol.first_line, self._symbol.last_line + 1):
            line = self._replaced.get(number, self._symbol.lines[number - 1])
            if line is not None and (line.strip() or previous.strip()):
                yield line
                previous = line


def _docstring_node(node: _Definition) -> ast.stmt | None:
    return node.body[0] if node.body and _is_docstring(node.body[0]) else None


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
