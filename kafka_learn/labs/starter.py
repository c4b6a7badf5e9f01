"""Generates a lab's starter: the shipped module, with the bodies of the learner's functions left out."""

from __future__ import annotations

import ast

from kafka_learn.labs.lab import Lab
from kafka_learn.source import UnknownSymbolError, find_symbol, module_path


def starter(lab: Lab, module: str) -> str:
    """The module's source as the learner gets it: signatures and docstrings stay, bodies raise "your task …"."""
    lines: list[str | None] = list(module_path(module).read_text(encoding="utf-8").splitlines())
    for name, task in lab.functions_of(module).items():
        function = find_symbol(f"{module}:{name}").node
        if not isinstance(function, ast.FunctionDef):
            raise UnknownSymbolError(f"{module}:{name} is not a function")
        first, last = _body(function)
        indent = " " * (function.col_offset + 4)
        lines[first - 1] = f'{indent}raise NotImplementedError("your task {task.number}: {name}")'
        lines[first:last] = [None] * (last - first)
    return "\n".join(line for line in lines if line is not None) + "\n"


def _body(function: ast.FunctionDef) -> tuple[int, int]:
    """First and last line of what is left out: all that follows the docstring, comments included."""
    docstring = ast.get_docstring(function) is not None
    first = (function.body[0].end_lineno or 0) + 1 if docstring else function.body[0].lineno
    return first, function.end_lineno or first
