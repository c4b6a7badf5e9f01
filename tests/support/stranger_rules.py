"""More kinds of fault, taken from what strangers answered: right in every statement, and wrong in where it stands.

A lock that is taken too late or released too early, a handler that catches more than it names.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from tests.support.mutant_rules import SMALL, Body, Change, bodies, is_lock

_Rule = Callable[[ast.FunctionDef], Iterator[tuple[int, Change]]]


def _narrow_locks(node: ast.FunctionDef) -> Iterator[tuple[int, Change]]:
    """Each lock taken after the first thing that needs it, and each one released before the last."""
    for body in bodies(node):
        for statement in body:
            if isinstance(statement, ast.With) and all(is_lock(item) for item in statement.items):
                first, last = statement.body[0], statement.body[-1]
                if isinstance(first, ast.If) and len(statement.body) == 1:
                    yield statement.lineno, _test_before(body, statement, first)
                elif len(statement.body) > 1 and _looks_at_an_object(first):
                    yield statement.lineno, _move_out(body, statement, 0)
                if len(statement.body) > 1 and _looks_at_an_object(last):
                    yield last.lineno, _move_out(body, statement, -1)


def _looks_at_an_object(statement: ast.stmt) -> bool:
    return any(isinstance(part, ast.Attribute) for part in ast.walk(statement))


def _test_before(body: Body, statement: ast.With, test: ast.If) -> Change:
    """``with lock: if test: …`` becomes ``if test: with lock: …``."""

    def change() -> None:
        inner = ast.With(statement.items, test.body, lineno=statement.lineno)
        body[body.index(statement)] = ast.If(test.test, [inner], test.orelse, lineno=test.lineno)

    return change


def _move_out(body: Body, statement: ast.With, which: int) -> Change:
    def change() -> None:
        at = body.index(statement)
        body.insert(at if which == 0 else at + 1, statement.body.pop(which))

    return change


def _more_errors(node: ast.FunctionDef) -> Iterator[tuple[int, Change]]:
    """Each handler of a named error as one of every Exception that raises one of them, which nothing ever raises."""
    for handler in ast.walk(node):
        if isinstance(handler, ast.ExceptHandler) and handler.type is not None and _is_named(handler.type):
            yield handler.lineno, _catch_more(handler)


def _is_named(caught: ast.expr) -> bool:
    return ast.unparse(caught) not in ("Exception", "BaseException")


def _catch_more(handler: ast.ExceptHandler) -> Change:
    def change() -> None:
        handler.type, handler.name = ast.Name("Exception", ast.Load()), handler.name or "_error"
        unlikely = ast.parse(f"if isinstance({handler.name}, MemoryError):\n    raise").body
        handler.body[:0] = unlikely

    return change


RULES: dict[str, _Rule] = {
    **SMALL,
    "narrow lock": _narrow_locks,
    "more errors": _more_errors,
}
