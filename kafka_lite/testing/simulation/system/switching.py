"""Lets another thread run before any statement of a module, as Python's own threads may.

Not in Kafka. The world switches threads where they block or touch a lock. A lock that was left out does neither, so
that it would never be missed. In a module that is loaded with ``switching``, every statement of a function has a call
before it::

    def append(self, n):                     def append(self, n):
        self.end += n                            __switch__()
        return self.end            ─▶            self.end += n
                                                 __switch__()
                                                 return self.end
"""

from __future__ import annotations

import ast
from typing import Final

SWITCH: Final = "__switch__"
"""The builtin function that is called before each statement."""


def with_switches(source: bytes, path: str, *, is_program: bool = False) -> ast.Module:
    """The syntax tree of a module, with a call of ``SWITCH`` before each statement of its functions.

    ``is_program``: it is not imported, but run by a thread; so its own statements get one, too.
    """
    module = ast.parse(source, path)
    _Switches(int(is_program)).visit(module)
    return ast.fix_missing_locations(module)


class _Switches(ast.NodeTransformer):
    """Adds the calls to the bodies of functions; modules and classes run when they are imported, without threads."""

    def __init__(self, depth: int = 0) -> None:
        self._depth = depth

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Add calls to the function, and to those inside it."""
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        """As ``visit_FunctionDef``."""
        return self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        self._depth += 1
        self.generic_visit(node)
        self._depth -= 1
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Visit what is inside, then add calls to the lists of statements of this node."""
        super().generic_visit(node)
        if self._depth and not isinstance(node, ast.ClassDef):
            for name in ("body", "orelse", "finalbody"):
                statements = getattr(node, name, None)
                if isinstance(statements, list):
                    setattr(node, name, [each for statement in statements for each in (_call(statement), statement)])
        return node


def _call(statement: ast.stmt) -> ast.stmt:
    call = ast.Call(ast.Name(SWITCH, ast.Load()), [], [])
    return ast.copy_location(ast.Expr(ast.copy_location(call, statement)), statement)
