"""Jute, ZooKeeper's serialization: big-endian numbers; length-prefixed strings, buffers and vectors; no tags.

ZooKeeper 3.8: zookeeper-jute/.../BinaryInputArchive.java, BinaryOutputArchive.java · book 7.1.3

A record is a ``NamedTuple`` whose annotations define its layout, field by field, as in ZooKeeper's ``zookeeper.jute``;
``encode`` and ``decode`` compile it into a codec on first use::

    boolean   1 byte, 0 or 1
    int       4 bytes, signed
    long      8 bytes, signed
    ustring   | length: int | that many bytes of UTF-8 |      length -1 is null
    buffer    | length: int | that many bytes          |      length -1 is null
    vector    | count: int  | that many elements       |      count -1 is null
    record    its fields, nothing around them
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

Int = Annotated[int, "i"]
Long = Annotated[int, "q"]
Ustring = Annotated[str, "ustring"]
"""A null string is decoded as an empty one: ZooKeeper's protocol never distinguishes them."""
Buffer = Annotated[bytes | None, "buffer"]

R = TypeVar("R")

_INT = struct.Struct(">i")
_NULL = _INT.pack(-1)
_FIXED = {"i": "i", "q": "q", bool: "?"}


class JuteError(ValueError):
    """The bytes do not match the record's layout: too short, or an invalid length."""


class JuteReader:
    """A position in received bytes. Each method reads one value and advances, or raises ``JuteError``."""

    def __init__(self, data: bytes, offset: int = 0) -> None:
        self.data = data
        self.offset = offset

    @property
    def remaining(self) -> int:
        """Number of bytes not read yet."""
        return len(self.data) - self.offset

    def unpack(self, layout: struct.Struct) -> tuple[Any, ...]:
        """Read the fixed-size values of ``layout``."""
        if self.remaining < layout.size:
            raise JuteError(f"{layout.size} bytes expected, {self.remaining} left")
        values = layout.unpack_from(self.data, self.offset)
        self.offset += layout.size
        return values

    def int(self) -> int:
        """Read a signed 4-byte number."""
        value: int = self.unpack(_INT)[0]
        return value

    def buffer(self) -> bytes | None:
        """Read a buffer; null becomes ``None``."""
        length = self.int()
        if length == -1:
            return None
        if not 0 <= length <= self.remaining:
            raise JuteError(f"a length of {length} with {self.remaining} bytes left")
        start = self.offset
        self.offset += length
        return self.data[start : self.offset]

    def string(self) -> str:
        """Read a string; null becomes an empty one."""
        raw = self.buffer()
        try:
            return raw.decode() if raw else ""
        except UnicodeDecodeError as error:
            raise JuteError(f"a string is not UTF-8: {error}") from error

    def vector(self, read: Callable[[JuteReader], R]) -> list[R]:
        """Read a vector whose elements ``read`` reads; null becomes an empty one."""
        count = self.int()
        # Every element takes at least one byte, so reject a larger count before it allocates memory.
        if count < -1 or count > self.remaining:
            raise JuteError(f"a vector of {count} elements with {self.remaining} bytes left")
        return [read(self) for _ in range(max(count, 0))]


def write_buffer(out: bytearray, value: bytes | None) -> None:
    """Append a buffer."""
    if value is None:
        out += _NULL
    else:
        out += _INT.pack(len(value))
        out += value


def write_string(out: bytearray, value: str) -> None:
    """Append a string."""
    write_buffer(out, value.encode())


class _Codec:
    """The compiled layout of a record class: adjacent fixed-size fields share a struct, others have one step each."""

    def __init__(self, record_class: type) -> None:
        self.record_class = record_class
        self.steps: list[_FixedStep | _VariableStep] = []
        position, run = 0, ""
        for hint in get_type_hints(record_class, include_extras=True).values():
            code = _fixed_code(hint)
            if code:
                run += code
            else:
                position = self._end_run(run, position)
                run = ""
                self.steps.append(_VariableStep(position, *_variable_codec(hint)))
                position += 1
        self._end_run(run, position)

    def _end_run(self, run: str, position: int) -> int:
        if run:
            self.steps.append(_FixedStep(position, run))
        return position + len(run)

    def write(self, out: bytearray, record: tuple[Any, ...]) -> None:
        for step in self.steps:
            step.write(out, record)

    def read(self, reader: JuteReader) -> Any:
        values: list[Any] = []
        for step in self.steps:
            step.read(reader, values)
        return self.record_class(*values)


class _FixedStep:
    def __init__(self, start: int, run: str) -> None:
        self.start, self.stop = start, start + len(run)
        self.layout = struct.Struct(">" + run)

    def write(self, out: bytearray, record: tuple[Any, ...]) -> None:
        out += self.layout.pack(*record[self.start : self.stop])

    def read(self, reader: JuteReader, values: list[Any]) -> None:
        values.extend(reader.unpack(self.layout))


class _VariableStep:
    def __init__(self, index: int, write: Callable[[bytearray, Any], None], read: Callable[[JuteReader], Any]) -> None:
        self.index = index
        self.write_value = write
        self.read_value = read

    def write(self, out: bytearray, record: tuple[Any, ...]) -> None:
        self.write_value(out, record[self.index])

    def read(self, reader: JuteReader, values: list[Any]) -> None:
        values.append(self.read_value(reader))


def _fixed_code(hint: Any) -> str | None:
    """The struct code of a fixed-size field, or None."""
    return _FIXED.get(hint.__metadata__[0] if get_origin(hint) is Annotated else hint)


def _variable_codec(hint: Any) -> tuple[Callable[[bytearray, Any], None], Callable[[JuteReader], Any]]:
    if hint == Ustring:
        return write_string, JuteReader.string
    if hint == Buffer:
        return write_buffer, JuteReader.buffer
    if get_origin(hint) in (list, tuple):
        write, read = _variable_codec(get_args(hint)[0])
        build = get_origin(hint)
        return _vector_writer(write), lambda reader: build(reader.vector(read))
    codec = _codec(hint)
    return codec.write, codec.read


def _vector_writer(write: Callable[[bytearray, Any], None]) -> Callable[[bytearray, Any], None]:
    def write_vector(out: bytearray, values: Any) -> None:
        out += _INT.pack(len(values))
        for value in values:
            write(out, value)

    return write_vector


_CODECS: dict[type, _Codec] = {}


def _codec(record_class: type) -> _Codec:
    codec = _CODECS.get(record_class)
    if codec is None:
        codec = _CODECS[record_class] = _Codec(record_class)
    return codec


def write_record(out: bytearray, record: tuple[Any, ...]) -> None:
    """Append the record's fields to ``out``."""
    _codec(type(record)).write(out, record)


def encode(*records: tuple[Any, ...]) -> bytes:
    """The concatenated bytes of the records."""
    out = bytearray()
    for record in records:
        write_record(out, record)
    return bytes(out)


def read_record(record_class: type[R], reader: JuteReader) -> R:
    """Read one record. Raises ``JuteError`` if the bytes do not match its layout."""
    record: R = _codec(record_class).read(reader)
    return record


def decode(record_class: type[R], data: bytes) -> R:
    """Decode a record at the beginning of ``data``."""
    return read_record(record_class, JuteReader(data))
