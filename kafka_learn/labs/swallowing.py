"""Finds handlers that catch every error and raise none: they hide mistakes, those that a test would show among them.

``except Exception`` is refused in a function that a lab asks for, unless its shipped module has such a handler, too;
``except BaseException`` likewise, since the end of the program, Ctrl-C and a failing test are such errors. A handler
that raises some errors (``if isinstance(error, …): raise``) still hides the others.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from kafka_learn.labs.lab import Lab
from kafka_learn.labs.starter import functions_in
from kafka_learn.source import module_path

_EVERY_ERROR = {"Exception", "BaseException"}


def swallowing(lab: Lab, files: dict[str, Path]) -> dict[int, str]:
    """The first such handler of each task, in words. Helpers that a learner adds belong to the module's first task."""
    shipped = {module: dict(_of_functions(module_path(module))) for module in lab.modules}
    allowed = {kind for functions in shipped.values() for handlers in functions.values() for kind, _ in handlers}
    found: dict[int, str] = {}
    for module, path in files.items():
        tasks = lab.functions_of(module)
        first = min(tasks.values(), key=lambda task: task.number)
        for name, handlers in _of_functions(path):
            if name in shipped[module] and name not in tasks:
                continue
            for kind, line in handlers:
                if kind not in allowed:
                    found.setdefault(tasks.get(name, first).number, _words(kind, line, name))
    return found


def _words(kind: str, line: int, name: str) -> str:
    if kind == "Exception":
        hidden = "a mistake in your code, or an error that the caller must see, would go unnoticed"
        return f"line {line} of {name} catches every Exception and raises none: {hidden}. Name the expected errors"
    hidden = "even Ctrl-C, the end of the program and a failing test"
    return f"line {line} of {name} catches everything and raises nothing, {hidden}. Name the expected errors"


def _of_functions(path: Path) -> Iterator[tuple[str, list[tuple[str, int]]]]:
    for name, node in functions_in(ast.parse(path.read_text(encoding="utf-8"))):
        yield name, list(_handlers(node))


def _handlers(function: ast.FunctionDef) -> Iterator[tuple[str, int]]:
    """The handlers that catch every error and raise nothing: the words after ``except``, and the line."""
    for node in ast.walk(function):
        if isinstance(node, ast.ExceptHandler) and not any(map(_raises, node.body)):
            yield from ((kind, node.lineno) for kind in _every_error(node.type))
        elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "suppress":
            yield from ((kind, node.lineno) for argument in node.args for kind in _every_error(argument))


def _raises(node: ast.AST) -> bool:
    """Whether it raises errors other than those that an ``isinstance`` picks out."""
    if isinstance(node, ast.Raise):
        return True
    children: list[ast.AST] = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.If) and isinstance(node.test, ast.Call) and ast.unparse(node.test.func) == "isinstance":
        children = [*node.orelse]
    return any(map(_raises, children))


def _every_error(caught: ast.expr | None) -> list[str]:
    if caught is None:
        return ["BaseException"]
    names = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return [ast.unparse(name) for name in names if ast.unparse(name) in _EVERY_ERROR]
