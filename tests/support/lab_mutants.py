"""Wrong answers that nobody has listed: each small fault that a learner may write, made from the shipped function.

    python -m tests.support.lab_mutants LAB …    # tries them, prints those that a lab lets pass

Each kind is a rule on the syntax tree, and changes one place: a lock that is left out, two statements in the wrong
order, a comparison that is off by one, and so on. An answer that gets 100 is a gap in the lab's tests, unless it is
right as well: then ``equal.toml`` in the lab's folder has it, with the reason.
"""

from __future__ import annotations

import ast
import copy
import sys
import tempfile
import tomllib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kafka_learn.labs.grader import CheckResult, Runner, check
from kafka_learn.labs.lab import Lab, find_lab
from kafka_learn.source import find_symbol, module_path
from tests.support.lab_forks import lab_forks

_Body = list[ast.stmt]
Change = Callable[[], None]
"""Makes one change in a tree."""


@dataclass(frozen=True)
class Mutant:
    """One wrong answer: the kind of fault, the line of the function where it is, and the whole module with it."""

    function: str
    kind: str
    line: str
    source: str

    @property
    def name(self) -> str:
        """How ``equal.toml`` names it."""
        return f"{self.function.partition(':')[2]} | {self.kind} | {self.line}"


def mutants(lab: Lab) -> Iterator[Mutant]:
    """The wrong answers of a lab, function by function."""
    seen: dict[str, int] = {}
    for task in lab.tasks:
        for function in task.functions:
            for mutant in mutants_of(function):
                times = seen[mutant.name] = seen.get(mutant.name, 0) + 1
                number = "" if times == 1 else f" ({times})"
                yield Mutant(mutant.function, mutant.kind, mutant.line + number, mutant.source)


def mutants_of(function: str) -> Iterator[Mutant]:
    """Those of one function, ``module:Class.method``."""
    symbol = find_symbol(function)
    assert isinstance(symbol.node, ast.FunctionDef)
    original = ast.unparse(symbol.node)
    for kind, rule in RULES.items():
        for number in range(sum(1 for _ in rule(copy.deepcopy(symbol.node)))):
            node = copy.deepcopy(symbol.node)
            place, change = list(rule(node))[number]
            line = symbol.lines[place - 1].strip()
            change()
            _fill_empty_blocks(node)
            text = ast.unparse(ast.fix_missing_locations(node))
            if text != original:
                yield Mutant(function, kind, line, _module_with(symbol.lines, symbol.node, text))


def _module_with(lines: Iterable[str], node: ast.FunctionDef, text: str) -> str:
    """The module's source with another text of one function."""
    source = list(lines)
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    indented = [f"{' ' * node.col_offset}{line}" for line in text.splitlines()]
    return "\n".join([*source[: first - 1], *indented, *source[node.end_lineno :]]) + "\n"


def _fill_empty_blocks(node: ast.AST) -> None:
    for child in ast.walk(node):
        if isinstance(getattr(child, "body", None), list) and not child.body:  # type: ignore[attr-defined]
            child.body = [ast.Pass()]  # type: ignore[attr-defined]


def _bodies(node: ast.AST) -> Iterator[_Body]:
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
    for body in _bodies(node):
        for statement in body:
            if isinstance(statement, ast.With) and any(_is_lock(item) for item in statement.items):
                yield statement.lineno, _leave_out_locks(body, statement)


def _is_lock(item: ast.withitem) -> bool:
    return any(word in ast.unparse(item.context_expr).lower() for word in ("lock", "mutex", "condition"))


def _leave_out_locks(body: _Body, statement: ast.With) -> Change:
    def change() -> None:
        others = [item for item in statement.items if not _is_lock(item)]
        at = body.index(statement)
        body[at : at + 1] = [ast.With(others, statement.body, lineno=statement.lineno)] if others else statement.body

    return change


def _swapped(node: ast.FunctionDef) -> Iterator[tuple[int, Change]]:
    """Neighbouring statements in the other order, if each is one line that does something."""
    for body in _bodies(node):
        for at in range(len(body) - 1):
            one, other = body[at : at + 2]
            if not (_does_something(one) and _does_something(other)):
                continue
            if not (_is_said_by_python(one, other) or _commute(one, other)):
                yield one.lineno, _swap(body, at)


def _does_something(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete)
        and not _is_docstring(statement)
        and not _is_log_line(statement)
    )


def _walk(node: ast.AST) -> Iterator[ast.AST]:
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


def _commute(one: ast.stmt, other: ast.stmt) -> bool:
    """Whether the order cannot matter: neither changes what the other reads or changes."""
    if _stored(one) & _named(other) or _stored(other) & _named(one):
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


def _is_said_by_python(earlier: ast.stmt, later: ast.stmt) -> bool:
    """Whether the later one reads a local name that the earlier one assigns: in the other order, it has no value."""
    names = {n.id for n in ast.walk(earlier) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return any(isinstance(n, ast.Name) and n.id in names for n in ast.walk(later))


def _named(statement: ast.stmt) -> set[str]:
    parts = _parts(statement)
    return {ast.unparse(n) for p in parts for n in ast.walk(p) if isinstance(n, ast.Name | ast.Attribute)} - {"self"}


def _stored(statement: ast.stmt) -> set[str]:
    targets = (
        statement.targets if isinstance(statement, ast.Assign | ast.Delete) else [getattr(statement, "target", None)]
    )
    return {ast.unparse(n) for target in targets if target is not None for n in ast.walk(target)} - {"self"}


def _swap(body: _Body, at: int) -> Change:
    def change() -> None:
        body[at], body[at + 1] = body[at + 1], body[at]

    return change


_OFF_BY_ONE = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}


def _off_by_one(node: ast.FunctionDef) -> Iterator[tuple[int, Change]]:
    """Each ``<`` as ``<=``, and so on."""
    for compare in _walk(node):
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
    for loop in _walk(node):
        if isinstance(loop, ast.For | ast.comprehension):
            yield loop.iter.lineno, _cut(loop)


def _cut(loop: ast.For | ast.comprehension) -> Change:
    def change() -> None:
        first = ast.Slice(None, ast.Constant(1))
        loop.iter = ast.Subscript(ast.Call(ast.Name("list", ast.Load()), [loop.iter], []), first, ast.Load())

    return change


def _no_early_exit(node: ast.FunctionDef) -> Iterator[tuple[int, Change]]:
    """Each ``break``, ``continue`` and ``return`` within a loop, and each early ``return``, left out."""
    for body in _bodies(node):
        for statement in body:
            is_last = body is node.body and statement is body[-1]
            if isinstance(statement, ast.Break | ast.Continue) or (isinstance(statement, ast.Return) and not is_last):
                yield statement.lineno, _remove(body, statement)


def _remove(body: _Body, statement: ast.stmt) -> Change:
    def change() -> None:
        body[body.index(statement)] = ast.Pass()

    return change


def _left_out(node: ast.FunctionDef) -> Iterator[tuple[int, Change]]:
    """Each call whose value nobody wants, and each change of an attribute or an element, left out."""
    for body in _bodies(node):
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
    for parent in _walk(node):
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
    for operation in _walk(node):
        if isinstance(operation, ast.BoolOp):
            for at in range(len(operation.values)):
                yield operation.values[at].lineno, _drop(operation, at)


def _drop(operation: ast.BoolOp, at: int) -> Change:
    def change() -> None:
        del operation.values[at]
        if len(operation.values) == 1:  # `and` of one operand is that operand
            operation.values.append(copy.deepcopy(operation.values[0]))

    return change


RULES: dict[str, Callable[[ast.FunctionDef], Iterator[tuple[int, Change]]]] = {
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


def equal(lab: Lab) -> dict[str, str]:
    """The names of answers of a lab that are right, each with the reason."""
    path = lab.folder / "equal.toml"
    return (
        {row["answer"]: row["reason"] for row in tomllib.loads(path.read_text("utf-8"))["equal"]}
        if path.exists()
        else {}
    )


def try_mutant(lab: Lab, mutant: Mutant, run: Runner | None) -> CheckResult:
    """Check the shipped modules with this one in place of its own, without the broker."""
    module = mutant.function.partition(":")[0]
    with tempfile.TemporaryDirectory(prefix="kafka-lite-mutant-") as folder:
        path = Path(folder) / module_path(module).name
        path.write_text(mutant.source, encoding="utf-8")
        files = {name: module_path(name) for name in lab.modules} | {module: path}
        return check(lab, files, broker=False, run=run)


def main() -> None:
    """Try the wrong answers of some labs, and print those that pass."""
    labs = [find_lab(name) for name in sys.argv[1:]]
    with lab_forks(labs) as forks:
        for lab in labs:
            known = equal(lab)
            tried = survived = 0
            for mutant in mutants(lab):
                tried += 1
                if mutant.name not in known and try_mutant(lab, mutant, forks.run).passed:
                    survived += 1
                    sys.stdout.write(f"{lab.name}: {mutant.name}\n")
                    sys.stdout.flush()
            sys.stdout.write(f"{lab.name}: {tried} answers, {len(known)} are right, {survived} pass and are not\n")


if __name__ == "__main__":
    main()
