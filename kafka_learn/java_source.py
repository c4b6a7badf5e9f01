"""Looks up code in the project's Java programs, as ``source`` does for Python: ``path/Program.java:method``.

The programs are formatted as Java usually is: a definition begins with its own line and ends with a brace at the same
indentation.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass

from kafka_learn.project import PROJECT_ROOT
from kafka_learn.source import UnknownSymbolError

SUFFIX = ".java"


@dataclass(frozen=True)
class JavaSymbol:
    """A class or method; ``first_line`` starts at 1."""

    relative_path: str
    name: str
    first_line: int
    code: str


def find_java_symbol(reference: str) -> JavaSymbol:
    """Look up a class or a method. Raises UnknownSymbolError."""
    path, _, name = reference.partition(":")
    file = PROJECT_ROOT / path
    if not file.is_file():
        raise UnknownSymbolError(f"there is no file {path}")
    lines = file.read_text(encoding="utf-8").splitlines()
    definition = re.compile(rf"^( *)(?:[\w<>,\[\] ]+ )?(?:class )?{re.escape(name)}\b[^;=]*\{{$")
    for number, line in enumerate(lines):
        if name and (found := definition.match(line)):
            last = lines.index(f"{found[1]}}}", number)
            code = textwrap.dedent("\n".join(lines[number : last + 1]))
            return JavaSymbol(path, name, number + 1, code)
    raise UnknownSymbolError(f"there is no {name!r} in {path}")
