"""The kinds of small fault that a learner may write, each a rule on the syntax tree that changes one place."""

from __future__ import annotations

import ast
import copy
from collections import deque
from collections.abc import Callable, Iterator

Body = list[ast.stmt]
Change = Callable[[], None]
"""Makes one change in a tree."""


def bodies(node: ast.AST) -> Iterator[Body]:
    """The lists of statements of a function, those of nested blocks as well."""
    for child in ast.walk(node):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(child, name, None)
            if isinstance(body, list) and body:
                yield body


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _without_locks(node: ast.FunctionDef) -> Iterator[tuple[int, Change]]:
    """Each ``with …lock:`` left out; what it held is done all the same."""
    for body in bodies(node):
        for statement in body:
            if isinstance(statement, ast.With) and any(is_lock(item) for item in statement.items):
                yield statement.lineno, _leave_out_locks(body, statement)


def is_lock(item: ast.withitem) -> bool:
    return any(word in ast.unparse(item.context_expr).lower() for word in ("lock", "mutex", "condition"))


def _leave_out_locks(body: Body, statement: ast.With) -> Change:
    def change() -> None:
        others = [item for item in statement.items if not is_lock(item)]
        at = body.index(statement)
        body[at : at + 1] = [ast.With(others, statement.body, lineno=statement.lineno)] if others else statement.body

    return change


def _swapped(node: ast.FunctionDef) -> Iterator[tuple[int, Change]]:
    """Neighbouring statements in the other order, if each is one line that does something."""
    for body in bodies(node):
        for at in range(len(body) - 1):
            one, other = body[at : at + 2]
            if not (does_something(one) and does_something(other)):
                continue
            if not (is_said_by_python(one, other) or commute(one, other)):
                yield one.lineno, swap(body, at)


def does_something(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete)
        and not _is_docstring(statement)
        and not _is_log_line(statement)
    )


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """As ``ast.walk``, without log lines."""
    waiting = deque([node])
    while waiting:
        node = waiting.popleft()
        yield node
        waiting += [n for n in ast.iter_child_nodes(node) if not (isinstance(n, ast.stmt) and _is_log_line(n))]


def _is_log_line(statement: ast.stmt) -> bool:
    """Whether it only logs: no lab asks for log lines."""
    return isinstance(statement, ast.Expr) and ast.unparse(statement).partition(".")[0].endswith("logger")


_PURE = {
    "len",
    "divmod",
    "min",
    "max",
    "sum",
    "set",
    "list",
    "dict",
    "tuple",
    "frozenset",
    "sorted",
    "range",
    "int",
    "str",
}
"""Functions that change nothing."""


def commute(one: ast.stmt, other: ast.stmt) -> bool:
    """Whether the order cannot matter: neither changes what the other reads or changes."""
    if stored(one) & named(other) or stored(other) & named(one):
        return False
    return (_is_pure(one) and _is_pure(other)) or _is_bare(one) or _is_bare(other)


def _is_pure(statement: ast.stmt) -> bool:
    """Whether it calls nothing that may change something or fail."""
    calls = {ast.unparse(n.func) for part in _parts(statement) for n in ast.walk(part) if isinstance(n, ast.Call)}
    stores = [n for part in _parts(statement) for n in ast.walk(part) if isinstance(n, ast.Subscript)]
    return calls <= _PURE and all(isinstance(n.ctx, ast.Load) for n in stores)


def _is_bare(statement: ast.stmt) -> bool:
    """Whether it names values for the function itself: constants, empty collections, what local names stand for."""
    kinds = ast.Name | ast.Constant | ast.expr_context | ast.List | ast.Dict | ast.Set | ast.Tuple
    return isinstance(statement, ast.Assign | ast.AnnAssign) and all(
        isinstance(n, kinds) for part in _parts(statement) for n in ast.walk(part)
    )


def _parts(statement: ast.stmt) -> list[ast.AST]:
    """What is done: all but the annotation."""
    return [child for name, child in _children(statement) if name != "annotation"]


def _children(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield name, child


def is_said_by_python(earlier: ast.stmt, later: ast.stmt) -> bool:
    """Whether the later one reads a local name that the earlier one assigns: in the other order, it has no value."""
    names = {n.id for n in ast.walk(earlier) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return any(isinstance(n, ast.Name) and n.id in names for n in ast.walk(later))


def named(statement: ast.stmt) -> set[str]:
    parts = _parts(statement)
    return {ast.unparse(n) for p in parts for n in ast.walk(p) if isinstance(n, ast.Name | ast.Attribute)} - {"self"}


def stored(statement: ast.stmt) -> set[str]:
    targets = (
        statement.targets if isinstance(statement, ast.Assign | ast.Delete) else [getattr(statement, "target", None)]
    )
    return {ast.unparse(n) for target in targets if target is not None for n in ast.walk(target)} - {"self"}


def swap(body: Body, at: int) -> Change:
    def change() -> None:
        body[at], body[at + 1] = body[at + 1], body[at]

    return change


_OFF_BY_ONE = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}


def _off_by_one(node: ast.FunctionDef) -> Iterator[tuple[int, Change]]:
    """Each ``<`` as ``<=``, and so on."""
    for compare in walk(node):
        if isinstance(compare, ast.Compare):
            for at, operator in enumerate(compare.ops):
                if type(operator) in _OFF_BY_ONE:
                    yield compare.lineno, _set(compare.ops, at, _OFF_BY_ONE[type(operator)]())


def _set(items: list[ast.cmpop], at: int, value: ast.cmpop) -> Change:
    def change() -> None:
        items[at] = value

    return change


def _only_the_first(node: ast.FunctionDef) -> Iterator[tuple[int, Change]]:
    """Each collection that is iterated cut to its first element."""
    for loop in walk(node):
        if isinstance(loop, ast.For | ast.comprehension):
            yield loop.iter.lineno, _cut(loop)


def _cut(loop: ast.For | ast.comprehension) -> Change:
    def change() -> None:
        first = ast.Slice(None, ast.Constant(1))
        loop.iter = ast.Subscript(ast.Call(ast.Name("list", ast.Load()), [loop.iter], []), first, ast.Load())

    return change


def _no_early_exit(node: ast.FunctionDef) -> Iterator[tuple[int, Change]]:
    """Each ``break``, ``continue`` and ``return`` within a loop, and each early ``return``, left out."""
    for body in bodies(node):
        for statement in body:
            is_last = body is node.body and statement is body[-1]
            if isinstance(statement, ast.Break | ast.Continue) or (isinstance(statement, ast.Return) and not is_last):
                yield statement.lineno, _remove(body, statement)


def _remove(body: Body, statement: ast.stmt) -> Change:
    def change() -> None:
        body[body.index(statement)] = ast.Pass()

    return change


def _left_out(node: ast.FunctionDef) -> Iterator[tuple[int, Change]]:
    """Each call whose value nobody wants, and each change of an attribute or an element, left out."""
    for body in bodies(node):
        for statement in body:
            is_call = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
            is_call = is_call and not _is_log_line(statement)
            targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
            is_change = isinstance(statement, ast.Assign | ast.AugAssign) and any(
                isinstance(target, ast.Attribute | ast.Subscript) for target in targets
            )
            if is_call or is_change or isinstance(statement, ast.Delete | ast.Raise):
                yield statement.lineno, _remove(body, statement)


def _every_error(node: ast.FunctionDef) -> Iterator[tuple[int, Change]]:
    """Each ``except SomeError`` as ``except BaseException``."""
    for handler in ast.walk(node):
        if isinstance(handler, ast.ExceptHandler) and handler.type is not None:
            yield handler.lineno, _widen(handler)


def _widen(handler: ast.ExceptHandler) -> Change:
    def change() -> None:
        handler.type = ast.Name("BaseException", ast.Load())

    return change


_COPIES = ("list", "dict", "set", "tuple", "frozenset", "sorted", "copy", "deepcopy", "bytes")


def _shared(node: ast.FunctionDef) -> Iterator[tuple[int, Change]]:
    """Each copy of a mutable value left out: the value itself is shared."""
    for parent in walk(node):
        for name, value in ast.iter_fields(parent):
            if isinstance(value, ast.Call) and (original := _copied(value)) is not None:
                yield value.lineno, _replace(parent, name, original)


def _copied(call: ast.Call) -> ast.expr | None:
    if isinstance(call.func, ast.Name) and call.func.id in _COPIES and len(call.args) == 1 and not call.keywords:
        return call.args[0]
    if isinstance(call.func, ast.Attribute) and call.func.attr == "copy" and not call.args:
        return call.func.value
    return None


def _replace(parent: ast.AST, name: str, value: ast.expr) -> Change:
    def change() -> None:
        setattr(parent, name, value)

    return change


def _ignored_argument(node: ast.FunctionDef) -> Iterator[tuple[int, Change]]:
    """Each argument with a default always has it; each flag is always false."""
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    padding: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    defaults = [*padding, *arguments.defaults, *arguments.kw_defaults]
    for argument, default in zip([*positional, *arguments.kwonlyargs], defaults, strict=True):
        is_flag = argument.annotation is not None and ast.unparse(argument.annotation) == "bool"
        value = default if default is not None else ast.Constant(value=False) if is_flag else None
        if value is not None and argument.arg != "self":
            yield node.lineno, _begin_with(node, ast.Assign([ast.Name(argument.arg, ast.Store())], value))


def _begin_with(node: ast.FunctionDef, statement: ast.stmt) -> Change:
    def change() -> None:
        node.body.insert(1 if _is_docstring(node.body[0]) else 0, statement)

    return change


_CONSTANTS: dict[str, tuple[object, ...]] = {"bool": (True, False), "int": (0, -1), "None": (None,), "str": ("",)}


def _constant(node: ast.FunctionDef) -> Iterator[tuple[int, Change]]:
    """The whole function as one constant, by the type that it returns; None if it may."""
    annotation = ast.unparse(node.returns) if node.returns is not None else ""
    names = [name.strip() for name in annotation.split("|")]
    for name in names:
        for value in _CONSTANTS.get(name, ()):
            yield node.lineno, _whole_body(node, ast.Return(ast.Constant(value)))  # type: ignore[arg-type]


def _whole_body(node: ast.FunctionDef, statement: ast.stmt) -> Change:
    def change() -> None:
        node.body[:] = [*(node.body[:1] if _is_docstring(node.body[0]) else []), statement]

    return change


def _one_condition_less(node: ast.FunctionDef) -> Iterator[tuple[int, Change]]:
    """Each operand of ``and`` and ``or`` left out."""
    for operation in walk(node):
        if isinstance(operation, ast.BoolOp):
            for at in range(len(operation.values)):
                yield operation.values[at].lineno, _drop(operation, at)


def _drop(operation: ast.BoolOp, at: int) -> Change:
    def change() -> None:
        del operation.values[at]
        if len(operation.values) == 1:  # `and` of one operand is that operand
            operation.values.append(copy.deepcopy(operation.values[0]))

    return change


SMALL: dict[str, Callable[[ast.FunctionDef], Iterator[tuple[int, Change]]]] = {
    "no lock": _without_locks,
    "swapped": _swapped,
    "off by one": _off_by_one,
    "only the first": _only_the_first,
    "no early exit": _no_early_exit,
    "left out": _left_out,
    "every error": _every_error,
    "shared": _shared,
    "ignored": _ignored_argument,
    "constant": _constant,
    "one condition less": _one_condition_less,
}
