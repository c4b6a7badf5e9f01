"""Answers of the same structure: who may have copied, to be looked at by a person.

Names, constants, annotations, docstrings and the order of definitions do not count: only how statements are built. Each
statement of a function that a lab asks for becomes a print of its syntax tree, in which every name is ``_``. A print
that the shipped code has, too, or that more than a quarter of the class has, says nothing: a short function has one
good answer. Of the others, two answers share some::

    alike = shared prints / prints of the answer that has fewer
"""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kafka_learn.labs.grading.submissions import Answer
from kafka_learn.labs.lab import Lab
from kafka_learn.labs.starter import functions_in
from kafka_learn.source import module_path

ALIKE_FROM = 0.6
FEWEST_SHARED = 4
"""With fewer shared prints, chance is as likely as a copy."""
COMMON_SHARE = 0.25

Prints = Counter[str]


@dataclass(frozen=True)
class Pair:
    """Two answers to a lab that are built alike: ``alike`` is between 0 and 1."""

    lab: str
    students: tuple[str, str]
    alike: float
    shared: int


def similar(lab: Lab, answers: Mapping[str, Answer]) -> list[Pair]:
    """The pairs of students whose answers are alike, the most alike first."""
    prints = {student: prints_of(lab, answer.sources) for student, answer in answers.items() if answer.sources}
    shipped = prints_of(lab, {module: module_path(module).read_text(encoding="utf-8") for module in lab.modules})
    rare = _rare(prints, shipped)
    pairs = [_pair(lab, one, other, rare[one], rare[other]) for one, other in itertools.combinations(sorted(rare), 2)]
    found = [pair for pair in pairs if pair.alike >= ALIKE_FROM and pair.shared >= FEWEST_SHARED]
    return sorted(found, key=lambda pair: (-pair.alike, -pair.shared, pair.students))


def is_as_shipped(lab: Lab, sources: Mapping[str, str]) -> bool:
    """Whether all functions to write are built as the shipped ones."""
    shipped = {module: module_path(module).read_text(encoding="utf-8") for module in lab.modules}
    return bool(sources) and prints_of(lab, sources) == prints_of(lab, shipped)


def prints_of(lab: Lab, sources: Mapping[str, str]) -> Prints:
    """How often each statement occurs in the functions to write, and in those that a student has added."""
    found: Prints = Counter()
    for module, source in sources.items():
        given = set(_names(module_path(module).read_text(encoding="utf-8"))) - set(lab.functions_of(module))
        try:
            functions = list(functions_in(ast.parse(source)))
        except (SyntaxError, ValueError):
            continue
        found.update(text for name, node in functions if name not in given for text in _statements(node))
    return found


def _names(source: str) -> Iterable[str]:
    return (name for name, _ in functions_in(ast.parse(source)))


def _statements(function: ast.FunctionDef) -> Iterable[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.stmt) and node is not function and not _is_docstring(node):
            yield structure(node)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def structure(node: ast.AST) -> str:
    """The tree of a node without names and values; of a block, only its head: what is in it are statements."""
    if isinstance(node, ast.Name | ast.arg):
        return "_"
    if isinstance(node, ast.Constant):
        return type(node.value).__name__
    if isinstance(node, ast.expr_context):
        return ""
    parts = [structure(child) for field, child in _children(node) if field not in _LEFT_OUT]
    return f"{type(node).__name__}({','.join(filter(None, parts))})"


_LEFT_OUT = {"annotation", "returns", "body", "orelse", "finalbody", "handlers", "decorator_list"}


def _children(node: ast.AST) -> Iterable[tuple[str, ast.AST]]:
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield field, child


def _rare(prints: Mapping[str, Prints], shipped: Prints) -> dict[str, Prints]:
    """Without what the shipped code has and what many of the class have; two are never many."""
    answers = Counter(text for each in prints.values() for text in each)
    many = max(2, int(COMMON_SHARE * len(prints)))
    return {
        student: Counter({text: n for text, n in each.items() if text not in shipped and answers[text] <= many})
        for student, each in prints.items()
    }


def _pair(lab: Lab, one: str, other: str, of_one: Prints, of_other: Prints) -> Pair:
    shared = (of_one & of_other).total()
    fewer = min(of_one.total(), of_other.total())
    return Pair(lab.name, (one, other), shared / fewer if fewer else 0.0, shared)


def all_pairs(labs: Sequence[Lab], answers: Mapping[str, Mapping[str, Answer]]) -> list[Pair]:
    """Of all labs; ``answers`` are those of each student by the lab's name."""
    return [
        pair
        for lab in labs
        for pair in similar(lab, {student: each[lab.name] for student, each in answers.items() if lab.name in each})
    ]
