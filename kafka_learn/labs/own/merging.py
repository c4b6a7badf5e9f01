"""Merges a learner's answers to several labs into one module.

A lab's working file is the shipped module with other bodies, and with whatever helpers, imports and attributes the
learner needs. Nine modules belong to several labs, so that no file has all of the learner's functions::

    shipped      a   b   c                each item of the module, or of a class of it
    lab 1        A   b   c   helper       differs from the shipped one: the learner's is taken
    lab 2        a   b   C
    ─────────────────────────────────
    merged       A   b   C   helper       a new item goes where it is in the learner's file
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count


@dataclass(frozen=True)
class Answer:
    """A learner's file of one module, written for one lab."""

    lab: str
    source: str
    written: frozenset[str]
    """The functions of the lab that count, as ``Class.method``."""
    left_out: frozenset[str] = frozenset()
    """The functions of the lab that do not count yet: the shipped ones stay."""


@dataclass(frozen=True)
class Merged:
    """A module made of the shipped code and of answers."""

    source: str
    functions: dict[str, str]
    """The learner's functions, each with its lab."""
    conflicts: tuple[str, ...]
    """A sentence for each item that two labs have changed in different ways."""


@dataclass(frozen=True)
class _Item:
    """A statement of a module or of a class: a function, a class, an import, a constant."""

    name: str
    node: ast.stmt
    text: str
    first: int
    last: int

    def equals(self, other: _Item) -> bool:
        """Whether both are the same code: comments and the layout do not matter."""
        return ast.dump(self.node) == ast.dump(other.node)


@dataclass
class _Edit:
    """Lines that take the place of others, or (``last < first``) come before them."""

    first: int
    last: int
    text: str


@dataclass
class _Merge:
    shipped: str
    functions: dict[str, str]
    """The functions that labs ask for, each with its lab."""
    edits: list[_Edit] = field(default_factory=list)
    changed: dict[str, tuple[str, _Item]] = field(default_factory=dict)
    """The items that labs have changed or added, each with the lab whose version is taken."""
    conflicts: list[str] = field(default_factory=list)


def merge(shipped: str, answers: Sequence[Answer]) -> Merged:
    """The shipped module with what the answers have changed. Raises SyntaxError if one cannot be read.

    If two answers have changed the same item in different ways, that of the lab which asks for it is taken, otherwise
    that of the first.
    """
    functions = {name: answer.lab for answer in reversed(answers) for name in sorted(answer.written)}
    merging = _Merge(shipped, functions)
    for answer in answers:
        _compare(merging, answer, _items(ast.parse(shipped), shipped), _items(ast.parse(answer.source), answer.source))
    lines = shipped.splitlines()
    in_order = sorted(enumerate(merging.edits), key=lambda each: (each[1].first, each[1].last, each[0]))
    for _, edit in reversed(in_order):  # from the end, so that the numbers of the lines before stay right
        lines[edit.first - 1 : edit.last] = edit.text.split("\n")
    return Merged("\n".join(lines) + "\n", functions, tuple(merging.conflicts))


def _compare(merging: _Merge, answer: Answer, shipped: dict[str, _Item], written: dict[str, _Item]) -> None:
    """Find what an answer has changed in a module or a class, and what is new in it."""
    names = list(written)
    for index, (name, item) in enumerate(written.items()):
        if name in answer.left_out:
            continue
        before = shipped.get(name)
        if before is None:
            following = next((shipped[each] for each in names[index + 1 :] if each in shipped), None)
            _add(merging, answer, item, following, _end(shipped))
        elif isinstance(item.node, ast.ClassDef) and isinstance(before.node, ast.ClassDef):
            _compare(
                merging,
                answer,
                _items(before.node, merging.shipped, f"{name}."),
                _items(item.node, answer.source, f"{name}."),
            )
        elif not item.equals(before) and _is_taken(merging, answer, item):
            merging.edits.append(_Edit(before.first, before.last, item.text))


def _add(merging: _Merge, answer: Answer, item: _Item, following: _Item | None, end: int) -> None:
    """Put what is new before the item that follows it in the learner's file, or at the end."""
    if not _is_taken(merging, answer, item):
        return
    gap = "\n" * _gap(item)
    line, text = (following.first, item.text + gap) if following else (end + 1, gap + item.text)
    merging.edits.append(_Edit(line, line - 1, text))


def _gap(item: _Item) -> int:
    """The empty lines beside a function or class."""
    is_defined = isinstance(item.node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    return (1 if "." in item.name else 2) if is_defined else 0


def _is_taken(merging: _Merge, answer: Answer, item: _Item) -> bool:
    """Whether this version of an item is the one to take; if not, and it matters, it becomes a conflict."""
    lab, other = merging.changed.setdefault(item.name, (merging.functions.get(item.name, answer.lab), item))
    if lab == answer.lab:
        return True
    if other is item or not item.equals(other):
        merging.conflicts.append(f"{item.name} is different in {lab} and in {answer.lab}: that of {lab} is taken")
    return False


def _items(scope: ast.Module | ast.ClassDef, source: str, prefix: str = "") -> dict[str, _Item]:
    """The statements of a module or a class by name; the docstring is none of them."""
    lines, found = source.splitlines(), dict[str, _Item]()
    body = scope.body[1:] if ast.get_docstring(scope, clean=False) is not None else scope.body
    for node in body:
        name = next(each for each in _numbered(prefix + _name(node)) if each not in found)
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
        last = node.end_lineno or node.lineno
        found[name] = _Item(name, node, "\n".join(lines[first - 1 : last]), first, last)
    return found


def _numbered(name: str) -> Iterator[str]:
    """A property and its setter have the same name."""
    yield name
    yield from (f"{name}#{number}" for number in count(2))


def _name(node: ast.stmt) -> str:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return node.name
        case ast.Assign(targets=[target, *_]):
            return ast.unparse(target)
        case ast.AnnAssign():
            return ast.unparse(node.target)
        case ast.If():
            return f"if {ast.unparse(node.test)}"
        case _:
            return ast.unparse(node)


def _end(items: dict[str, _Item]) -> int:
    return max((item.last for item in items.values()), default=0)
