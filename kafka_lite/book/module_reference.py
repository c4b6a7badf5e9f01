"""A module's place in Kafka and in the book, read from its docstring without importing the module.

The last lines of a docstring name the source file of Kafka, and in parentheses which of its classes are meant where
the file has several; then the sections of the book::

    Kafka 0.10.2: core/.../log/OffsetMap.scala (SkimpyOffsetMap) · book 6.1.6

A file without a folder lies in the folder of the file before it. ``since 3.5 OffsetMap.java`` and the like tell where
later versions have the class.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path

from kafka_lite.book.data_files import PACKAGE

_SECTIONS = re.compile(r"·\s*book\s+(?P<sections>[0-9.]+(?:\s*,\s*[0-9.]+)*)\s*$", re.MULTILINE)
_COUNTERPART = re.compile(r"^\s*Kafka 0\.10\.2:", re.MULTILINE)
_LINE = re.compile(
    r"^ *(?P<origin>(?:[A-Z]\w+ |uReplicator kafka-)[\d.]+(?: and later)?):\s(?P<text>.*?)·\s*book\s+[0-9.]",
    re.MULTILINE | re.DOTALL,
)
_TOKEN = re.compile(
    r"(?P<folder>[\w./-]*/)?(?P<file>[A-Z]\w*)\.(?:scala|java)\b"  # core/.../log/Log.scala, or Log.java
    r"|(?P<package>[a-z]\w*(?:\.[a-z]\w*)+)\.(?P<dotted>[A-Z]\w*)"  # com.yammer.metrics.core.Meter
    r"|(?P<word>\b[A-Z]\w*[a-z]\w*)"
)


@dataclass(frozen=True)
class Counterpart:
    """A name in a docstring's last lines and the file it stands in there, such as ``core/.../log/Log.scala``.

    ``is_file``: the file is named after it; else it is one of several classes in the file.
    """

    name: str
    path: str
    is_file: bool


@dataclass(frozen=True)
class DefinedClass:
    """A class, or another name for one, that a module defines; lines count from 1."""

    name: str
    line: int


@dataclass(frozen=True)
class ModuleReference:
    """A module's place: its Kafka counterpart, the book's sections, and the classes that it defines."""

    module: str
    has_counterpart: bool
    sections: tuple[str, ...]
    path: Path = Path()
    origin: str = ""
    """Where the counterpart is from, such as ``Kafka 0.10.2`` or ``ZooKeeper 3.8``."""
    counterparts: tuple[Counterpart, ...] = ()
    classes: tuple[DefinedClass, ...] = field(default=(), repr=False)


def module_references(package: Path = PACKAGE) -> list[ModuleReference]:
    """One row for each module of the package, read from the source."""
    rows = []
    for path in sorted(package.rglob("*.py")):
        module = ".".join(path.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        rows.append(parse_reference(module, ast.get_docstring(tree) or "", path, tuple(_classes(tree.body))))
    return rows


def parse_reference(
    module: str, docstring: str, path: Path = Path(), classes: tuple[DefinedClass, ...] = ()
) -> ModuleReference:
    """Find ``Kafka 0.10.2: …`` and ``· book x.y.z, …`` in a module's docstring."""
    sections = [s.strip() for match in _SECTIONS.finditer(docstring) for s in match["sections"].split(",")]
    line = _LINE.search(docstring)
    return ModuleReference(
        module,
        bool(_COUNTERPART.search(docstring)),
        tuple(sections),
        path,
        line["origin"] if line else "",
        tuple(_counterparts(line["text"])) if line else (),
        classes,
    )


def _counterparts(text: str) -> list[Counterpart]:
    found: list[Counterpart] = []
    folder = path = ""
    for token in _TOKEN.finditer(" ".join(text.split())):
        if token["file"]:
            folder = _resolved(token["folder"], folder)
            path = folder + token[0].rpartition("/")[2]
            found.append(Counterpart(token["file"], path, True))
        elif token["dotted"]:
            path = token[0]
            found.append(Counterpart(token["dotted"], path, True))
        else:
            found.append(Counterpart(token["word"], path, False))
    return found


def _resolved(folder: str | None, before: str) -> str:
    """The folder of a file: as it is given, or below that of the file before it."""
    if not folder:
        return before
    return folder if "..." in folder else f"{before.partition('...')[0]}.../{folder}"


def _classes(body: list[ast.stmt]) -> list[DefinedClass]:
    """The public classes of a module, those inside of others too, and other names given to classes."""
    found = []
    for node in body:
        if isinstance(node, ast.ClassDef):
            if not node.name.startswith("_"):
                found.append(DefinedClass(node.name, node.lineno))
            found += _classes(node.body)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name | ast.Attribute | ast.Subscript):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            found += [DefinedClass(name, node.lineno) for name in names if re.match(r"[A-Z]\w*[a-z]", name)]
    return found
