"""Generates a lab's starter: the shipped module without the bodies of the learner's functions."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from kafka_learn.labs.lab import Lab
from kafka_learn.source import UnknownSymbolError, find_symbol, module_path

UNWRITTEN = "your task "
"""Start of the message that a removed body raises; a test that reaches one has no result yet."""


def starter(lab: Lab, module: str) -> str:
    """The module's source for the learner: signatures and docstrings stay, bodies raise "your task …"."""
    lines: list[str | None] = list(module_path(module).read_text(encoding="utf-8").splitlines())
    for name, task in lab.functions_of(module).items():
        function = find_symbol(f"{module}:{name}").node
        if not isinstance(function, ast.FunctionDef):
            raise UnknownSymbolError(f"{module}:{name} is not a function")
        first, last = _body(function)
        indent = " " * (function.col_offset + 4)
        lines[first - 1] = f'{indent}raise NotImplementedError("{UNWRITTEN}{task.number}: {name}")'
        lines[first:last] = [None] * (last - first)
    return "\n".join(line for line in lines if line is not None) + "\n"


def _body(function: ast.FunctionDef) -> tuple[int, int]:
    """First and last line to remove: everything after the docstring, including comments."""
    docstring = ast.get_docstring(function) is not None
    first = (function.body[0].end_lineno or 0) + 1 if docstring else function.body[0].lineno
    return first, function.end_lineno or first


def unwritten(source: str, names: Iterable[str]) -> list[str]:
    """The functions (``Class.method``) that have no body yet or are missing. Raises SyntaxError."""
    bodies = dict(functions_in(ast.parse(source)))
    return [name for name in names if name not in bodies or _is_left_out(bodies[name])]


def functions_in(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """The functions of a module and the methods of its classes, by name (``Class.method``)."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            yield f"{prefix}{child.name}", child
        elif isinstance(child, ast.ClassDef):
            yield from functions_in(child, f"{prefix}{child.name}.")


def _is_left_out(function: ast.FunctionDef) -> bool:
    *_, last = function.body
    is_alone = len(function.body) == (1 if ast.get_docstring(function) is None else 2)
    if not (is_alone and isinstance(last, ast.Raise) and isinstance(last.exc, ast.Call) and last.exc.args):
        return False
    argument = last.exc.args[0]
    return isinstance(argument, ast.Constant) and str(argument.value).startswith(UNWRITTEN)
