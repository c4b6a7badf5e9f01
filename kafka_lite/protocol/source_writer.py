"""The common part of the two codec compilers: lines of Python, and runs of fixed-size fields.

Consecutive numbers are read and written by one call of ``struct``. Both compilers therefore collect a run of them, and
emit it as one line before a field that is not of fixed size or that needs a condition.

Kafka 0.10.2: none; since 2.4 generator/.../message/MessageDataGenerator.java · book 2.3.5
"""

from __future__ import annotations

import linecache
import re
import struct
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

FUNCTIONS: Final = ("decode", "encode", "encode_slices")
"""The names of the generated functions that read and write messages."""


class SourceWriter:
    """Indented lines, and the objects that they refer to: ``names`` becomes the globals of the compiled function."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._depth = 0
        self.names: dict[str, Any] = {}

    def line(self, text: str) -> None:
        """Emit a line at the current depth."""
        self._lines.append(f"{'    ' * self._depth}{text}\n")

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Emit a head such as ``if x:``, and indent what is emitted within the context."""
        self.line(head)
        self._depth += 1
        before = len(self._lines)
        yield
        if len(self._lines) == before:
            self.line("pass")
        self._depth -= 1

    def name(self, name: str, value: Any) -> str:
        """Make an object available to the compiled function; returns its name."""
        self.names[name] = value
        return name

    def packer(self, codes: str) -> str:
        """Name of a function that packs values of these ``struct`` codes."""
        return self.name(f"pack_{_identifier(codes)}", struct.Struct(f">{codes}").pack)

    def unpacker(self, codes: str) -> str:
        """Name of a function that unpacks values of these ``struct`` codes."""
        return self.name(f"unpack_{_identifier(codes)}", struct.Struct(f">{codes}").unpack_from)

    def text(self) -> str:
        """All lines."""
        return "".join(self._lines)


def execute(title: str, function: str, text: str, names: dict[str, Any]) -> Any:
    """Compile generated source, and return one of its functions; tracebacks and debuggers show its lines."""
    filename = f"<{title}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace = dict(names)
    exec(compile(text, filename, "exec"), namespace)
    return namespace[function]


def line_of(error: Exception) -> str:
    """The line of generated code that raised the error, which names the field."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.name in FUNCTIONS]
    return f"at: {frames[-1].line}"


def variable_name(cls: type) -> str:
    """``TopicProduceData`` -> ``topic_produce_data``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()


def _identifier(codes: str) -> str:
    """Codes of ``struct`` as part of a name. Only the boolean's question mark must be replaced."""
    return codes.replace("?", "t")
