"""The class index: from a class of Kafka to its room here, and to the sections of the book that discuss it.

It is made from the docstrings of the modules (see ``module_reference``) and from the list of the book's classes (see
``book_classes``), so it knows our own classes and those that have no room yet, too.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from kafka_lite.book.book_classes import BookClass, load_book_classes
from kafka_lite.book.module_reference import ModuleReference, module_references

KAFKA = "Kafka 0.10.2"


@dataclass(frozen=True)
class ClassEntry:
    """A class and where it stands."""

    name: str
    sections: tuple[str, ...] = ()
    origin: str = ""
    """``Kafka 0.10.2``, for example; empty for a class that is only ours."""
    kafka: str = ""
    """Its file there."""
    module: str = ""
    """Its module here; empty for a class of the book that has no room yet."""
    symbol: str = ""
    """Its name here; empty if the module as a whole stands for it."""
    file: str = ""
    """The module's file, from the folder that ``kafka_lite`` is in."""
    line: int = 0
    """Where the symbol begins, counted from 1."""
    reason: str = ""
    """Why it has no room."""


@dataclass(frozen=True)
class ClassIndex:
    """All entries, by name."""

    entries: tuple[ClassEntry, ...]

    def find(self, asked: str) -> list[ClassEntry]:
        """The entries of that name, else those whose name has it as a part, or whose module is called so.

        Case and underscores make no difference: ``record_accumulator`` finds ``RecordAccumulator``.
        """
        wanted = _plain(asked)
        exact = [entry for entry in self.entries if wanted == _plain(entry.name)]
        if exact or not wanted:
            return exact
        return [e for e in self.entries if wanted in _plain(e.name) or wanted == _plain(e.module.rpartition(".")[2])]

    def names_with(self, asked: str) -> list[str]:
        """The longer names that have the name as a part, each once."""
        wanted = _plain(asked)
        return list(dict.fromkeys(e.name for e in self.entries if wanted in _plain(e.name) != wanted))

    def close_names(self, asked: str) -> list[str]:
        """Up to five names that look like what was asked for, the closest first."""
        names = {_plain(entry.name): entry.name for entry in self.entries}
        return [names[each] for each in difflib.get_close_matches(_plain(asked), names, n=5)]


def load_class_index() -> ClassIndex:
    """The index of this installation."""
    return build_class_index(module_references(), load_book_classes())


def build_class_index(references: Iterable[ModuleReference], book_classes: Iterable[BookClass]) -> ClassIndex:
    """Every class of ours, and every class of the book that has another name or no room here.

    Raises KeyError if ``classes.toml`` names a module that is not there, LookupError for an unknown symbol.
    """
    by_module = {reference.module: reference for reference in references}
    entries = [entry for reference in by_module.values() for entry in _own_classes(reference)]
    listed = [each for each in book_classes if each.another_name or each.reason]
    entries += [_under_another_name(each, by_module) if each.another_name else _missing(each) for each in listed]
    known = {entry.name for entry in entries if entry.origin}
    for reference in by_module.values():
        for file in reference.counterparts:
            if file.is_file and file.name not in known:
                entries.append(_entry(file.name, reference, "", 1, file.path))
    return ClassIndex(tuple(sorted(entries, key=lambda e: (e.name.lower(), not e.origin, e.module))))


def _own_classes(reference: ModuleReference) -> list[ClassEntry]:
    """The classes that a module defines, with Kafka's file for those that its docstring names."""
    kafka = {each.name: each.path for each in reversed(reference.counterparts)}
    return [_entry(each.name, reference, each.name, each.line, kafka.get(each.name, "")) for each in reference.classes]


def _entry(name: str, reference: ModuleReference, symbol: str, line: int, kafka: str) -> ClassEntry:
    origin = reference.origin if kafka else ""
    file = _file(reference)
    return ClassEntry(name, reference.sections, origin, kafka, reference.module, symbol, file, line)


def _under_another_name(each: BookClass, by_module: dict[str, ModuleReference]) -> ClassEntry:
    module, _, symbol = each.another_name.partition(":")
    reference = by_module[module]
    line = _line_of(symbol, reference) if symbol else 1
    return ClassEntry(each.name, each.sections, KAFKA, each.kafka, module, symbol, _file(reference), line)


def _missing(each: BookClass) -> ClassEntry:
    return ClassEntry(each.name, each.sections, KAFKA, each.kafka, reason=each.reason)


def _line_of(symbol: str, reference: ModuleReference) -> int:
    """Where a class, a function or a method begins, such as ``RequestFuture.add_listener``."""
    node: ast.AST = ast.parse(reference.path.read_text(encoding="utf-8"))
    for name in symbol.split("."):
        named = [
            n for n in ast.iter_child_nodes(node) if isinstance(n, ast.ClassDef | ast.FunctionDef) and n.name == name
        ]
        if not named:
            raise LookupError(f"{reference.module} has no {symbol}, which classes.toml names")
        node = named[0]
    return node.lineno if isinstance(node, ast.ClassDef | ast.FunctionDef) else 1


def _file(reference: ModuleReference) -> str:
    depth = reference.module.count(".") + (reference.path.name == "__init__.py")
    return reference.path.relative_to(reference.path.parents[depth]).as_posix()


def _plain(name: str) -> str:
    return name.rpartition(".")[2].replace("_", "").lower()
