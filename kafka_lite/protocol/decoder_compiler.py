"""Generates the decoder of one version of a message, as Python source.

For FindCoordinatorRequest v1, for example, it generates

    def decode(buffer, position):
        end = len(buffer)
        message = new(FindCoordinatorRequest)
        n, = unpack_h(buffer, position)
        position += 2
        stop = position + n
        if n < 0 or stop > end:
            raise bad_length('key', n, end - position)
        message.key = buffer[position:stop].tobytes().decode('utf-8', 'kafka_lite.replace_or_refuse')
        position = stop
        message.key_type, = unpack_b(buffer, position)
        position += 1
        ...
        return message, position

where ``buffer`` is a memoryview.

No claim of a peer causes a large allocation: lengths are compared with the remaining bytes before anything is sliced,
counts with the smallest size that so many elements could have. ``struct`` and indexing raise when the buffer ends. So
time and memory are bounded by the size of the frame, which the network layer limits. A frame of 100 MB could still hold
fifty million elements, each a Python object of a hundred bytes: a request also has a bound for the elements of all of
its arrays, ``Request.MAX_ELEMENTS``, which the generated function has as ``room``. Kafka has none.

Kafka 0.10.2: clients/.../common/protocol/types/Schema.java (read) · book 2.3.5
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any
from uuid import UUID

from kafka_lite.common.sendable import Buffer
from kafka_lite.protocol import wire_types
from kafka_lite.protocol.malformed_text import REPLACE_OR_REFUSE
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.protocol.source_writer import SourceWriter, variable_name
from kafka_lite.protocol.varint import read_unsigned_varint
from kafka_lite.protocol.wire_types import (
    Array,
    Field,
    MessageClass,
    Primitive,
    RawTaggedField,
    Sized,
    StructClass,
    StructType,
    WireType,
)

MAX_UNKNOWN_TAGS = 1000
"""How many unknown tagged fields one struct may have. Two bytes of a frame are enough for one."""


def decoder_source(message: type[MessageClass], version: int) -> tuple[str, dict[str, Any]]:
    """The source of ``decode(buffer, position) -> (message, position)``, and the objects that it refers to."""
    writer = _DecoderWriter(message, version)
    return writer.text(), writer.names


def bad_length(field: str, length: int, remaining: int) -> SchemaError:
    """The error for an impossible length or count."""
    if length < 0:
        return SchemaError(f"{field} is null, or has the length {length}")
    return SchemaError(f"{field} claims {length}, with {remaining} bytes left in the frame")


def too_many(field: str, excess: int) -> SchemaError:
    """The error for an array, or for unknown tagged fields, beyond the bound of the whole message."""
    return SchemaError(f"{field} has {excess} elements more than a request may have")


def read_unknown_tags(buffer: Buffer, position: int) -> tuple[tuple[RawTaggedField, ...], int]:
    """Read a section of unknown tagged fields, with its count; returns copies of them, and the position after it.

    Raises SchemaError for more than ``MAX_UNKNOWN_TAGS``, IndexError if the buffer ends too early.
    """
    count, position = read_unsigned_varint(buffer, position)
    if count > MAX_UNKNOWN_TAGS:
        raise too_many("unknown_tagged_fields", count - MAX_UNKNOWN_TAGS)
    unknown = []
    for _ in range(count):
        tag, position, stop = read_tag(buffer, position)
        unknown.append(RawTaggedField(tag, bytes(buffer[position:stop])))
        position = stop
    return tuple(unknown), position


def read_tag(buffer: Buffer, position: int) -> tuple[int, int, int]:
    """Read the head of a tagged field: its tag, the position of its value, the position after its value.

    Raises SchemaError if the value is longer than the rest of the buffer.
    """
    tag, position = read_unsigned_varint(buffer, position)
    size, position = read_unsigned_varint(buffer, position)
    if size > len(buffer) - position:
        raise bad_length(f"tagged field {tag}", size, len(buffer) - position)
    return tag, position, position + size


class _DecoderWriter(SourceWriter):
    """Walks a message's declaration and emits the code that reads each field."""

    def __init__(self, message: type[MessageClass], version: int) -> None:
        super().__init__()
        self._version = version
        self._flexible = version in message.FLEXIBLE
        self._run: list[tuple[str, str, str | None]] = []  # struct code, target, what to do with it afterwards
        self._bounds_elements = message.MAX_ELEMENTS is not None and _has_arrays(message, version)
        for helper in _HELPERS:
            self.name(helper.__name__, helper)
        self.name("new", object.__new__)
        self.name("unpack_from", struct.unpack_from)
        room = f", room={message.MAX_ELEMENTS}" if self._bounds_elements else ""
        with self.block(f"def decode(buffer, position{room}):"):
            self.line("end = len(buffer)")
            self._struct(message, "message")
            self._flush()
            self.line("return message, position")

    # -- runs of fixed-size fields

    def _fixed(self, code: str, target: str, then: str | None = None) -> None:
        self._run.append((code, target, then))

    def _flush(self) -> None:
        if not self._run:
            return
        codes = "".join(code for code, _, _ in self._run)
        targets = ", ".join(target for _, target, _ in self._run)
        self.line(f"{targets}{',' if len(self._run) == 1 else ''} = {self.unpacker(codes)}(buffer, position)")
        self.line(f"position += {struct.calcsize('>' + codes)}")
        for _, _, then in self._run:
            if then is not None:
                self.line(then)
        self._run.clear()

    # -- structs and fields

    def _struct(self, cls: type[StructClass], variable: str) -> None:
        self.line(f"{variable} = new({self.name(cls.__name__, cls)})")
        for field in cls.FIELDS:
            if field.is_plain_in(self._version):
                self._value(field.type, f"{variable}.{field.name}", field)
            elif field.has_mutable_default():  # absent, or a tagged field that may not be sent
                self._new_default(variable, field)
        if self._flexible:
            self._flush()
            self._tagged_fields(cls, variable)

    def _new_default(self, variable: str, field: Field) -> None:
        new = self.name(f"new_{variable}_{field.name}", field.new_default)
        self.line(f"{variable}.{field.name} = {new}()")

    def _value(self, kind: WireType, target: str, field: Field) -> None:
        if isinstance(kind, Primitive):
            self._primitive(kind, target)
        elif isinstance(kind, Sized):
            self._sized(kind, target, field)
        elif isinstance(kind, Array):
            self._array(kind, target, field)
        else:
            self._nested(kind, target, field)

    def _nested(self, kind: StructType, target: str, field: Field) -> None:
        if self._version in field.nullable:
            self._fixed("b", "n")
        self._flush()

        def read() -> None:
            variable = variable_name(kind.cls)
            self._struct(kind.cls, variable)
            self._flush()
            self.line(f"{target} = {variable}")

        self._or_null(target, field, read)

    def _primitive(self, kind: Primitive, target: str) -> None:
        if kind is wire_types.UUID:
            self.name("UUID", UUID)
            raw = f"raw_{target.replace('.', '_')}"
            self._fixed(kind.code, raw, f"{target} = UUID(bytes={raw})")
        else:
            self._fixed(kind.code, target)

    def _length(self, kind: Sized | Array, field: Field) -> None:
        """Emit the code that reads a length or a count into ``n``, -1 for null.

        A compact one is an unsigned varint, which is one more than ``n``; nearly all have one byte. For a string of
        more than ``MAX_STRING_BYTES`` bytes the code raises SchemaError. One that is not compact is a number: of the
        kind's ``length_code``, for an array an int32. It is read together with the numbers before it.
        """
        code = kind.length_code if isinstance(kind, Sized) else "i"
        if self._is_compact(field):
            self._flush()
            self.line("n = buffer[position]")
            self.line("position += 1")
            with self.block("if n > 127:"):
                self.line("n, position = read_unsigned_varint(buffer, position - 1)")
                if kind is wire_types.STRING:  # (in this branch, which most strings do not take)
                    with self.block(f"if n > {wire_types.MAX_STRING_BYTES + 1}:"):
                        self.line(f"raise SchemaError(f'string field {field.name} had invalid length {{n - 1}}')")
            self.line("n -= 1")
        else:
            self._fixed(code, "n")
            self._flush()

    def _is_compact(self, field: Field) -> bool:
        return self._flexible if field.flexible is None else self._version in field.flexible

    def _or_null(self, target: str, field: Field, read: Callable[[], None]) -> None:
        """Emit the code that reads the value, within a check for null if the version allows null."""
        if self._version not in field.nullable:
            read()
            return
        with self.block("if n < 0:"):
            self.line(f"{target} = None")
        with self.block("else:"):
            read()

    def _sized(self, kind: Sized, target: str, field: Field) -> None:
        """Emit the code that reads a string, bytes or records into ``target``, or null if the version allows it.

        The code raises ``bad_length`` for null that is not allowed, and for more bytes than the frame has.
        """
        self._length(kind, field)

        def read() -> None:
            self.line("stop = position + n")
            negative = "" if self._version in field.nullable else "n < 0 or "  # null was checked before, if allowed
            with self.block(f"if {negative}stop > end:"):
                self.line(f"raise bad_length({field.name!r}, n, end - position)")
            self.line(f"{target} = {_CUT[kind.name]}")
            self.line("position = stop")

        self._or_null(target, field, read)

    def _array(self, kind: Array, target: str, field: Field) -> None:
        """Emit the code that reads a list of elements into ``target``, or null if the version allows it.

        Before any element is read, the code raises ``bad_length`` for null that is not allowed, and for a count of
        elements that cannot be in the rest of the frame, each at least one byte; then it takes the room of the
        elements. Numbers are read by one call of ``struct``, other elements one after the other.
        """
        self._length(kind, field)
        element_size = wire_types.minimum_size(kind.element, self._version, self._flexible)

        def read() -> None:
            with self.block(f"if n < 0 or n * {max(element_size, 1)} > end - position:"):
                self.line(f"raise bad_length({field.name!r}, n, end - position)")
            self._take_room("n", field.name)
            if isinstance(kind.element, Primitive) and kind.element is not wire_types.UUID:
                self.line(f"{target} = list(unpack_from(f'>{{n}}{kind.element.code}', buffer, position))")
                self.line(f"position += n * {kind.element.size}")
            else:
                self._elements(kind.element, target, field)

        self._or_null(target, field, read)

    def _take_room(self, count: str, name: str) -> None:
        """Emit the check of the elements read so far, of all arrays."""
        if self._bounds_elements:
            self.line(f"room -= {count}")
            with self.block("if room < 0:"):
                self.line(f"raise too_many({name!r}, -room)")

    def _elements(self, element: WireType, target: str, field: Field) -> None:
        elements = target.replace(".", "_")
        self.line(f"{target} = {elements} = []")
        self.line(f"{elements}_left = n")  # (creating a range takes as long as counting several elements)
        with self.block(f"while {elements}_left:"):
            self.line(f"{elements}_left -= 1")
            if isinstance(element, StructType):
                variable = variable_name(element.cls)
                self._struct(element.cls, variable)
                self._flush()
                self.line(f"{elements}.append({variable})")
            else:
                self._value(element, "element", wire_types.Field(element, name=field.name))
                self._flush()
                self.line(f"{elements}.append(element)")

    # -- tagged fields: a count, and for each a tag, a size and that many bytes

    def _tagged_fields(self, cls: type[StructClass], variable: str) -> None:
        tagged = [field for field in cls.FIELDS if field.tag is not None]
        with self.block("if buffer[position]:"):
            if tagged:
                self._known_tags(tagged, variable)
            else:
                self.line(f"{variable}.unknown_tagged_fields, position = read_unknown_tags(buffer, position)")
                self._take_room(f"len({variable}.unknown_tagged_fields)", "unknown_tagged_fields")
        with self.block("else:"):
            self.line("position += 1")

    def _known_tags(self, tagged: list[Field], variable: str) -> None:
        """Emit the tagged fields of a struct. A tagged field of another version is an error."""
        behind, unknown = f"{variable}_stop", f"{variable}_unknown"
        self.line(f"{unknown} = []")
        self.line("n, position = read_unsigned_varint(buffer, position)")
        with self.block(f"if n > {len(tagged) + MAX_UNKNOWN_TAGS}:"):
            self.line(f"raise too_many('unknown_tagged_fields', n - {len(tagged) + MAX_UNKNOWN_TAGS})")
        with self.block("for _ in range(n):"):
            self.line(f"tag, position, {behind} = read_tag(buffer, position)")
            for number, field in enumerate(tagged):
                with self.block(f"{'el' if number else ''}if tag == {field.tag}:"):
                    if field.is_tagged_in(self._version):
                        self._value(field.type, f"{variable}.{field.name}", field)
                        self._flush()
                    else:
                        self.line(f"raise SchemaError('tag {field.tag} is not valid for version {self._version}')")
            with self.block("else:"):
                self.line(f"{unknown}.append(RawTaggedField(tag, bytes(buffer[position:{behind}])))")
                self.line(f"position = {behind}")
            with self.block(f"if position != {behind}:"):
                self.line(f"raise SchemaError(f'tagged field {{tag}} of {variable} has another size than it says')")
        with self.block(f"if {unknown}:"):
            self._take_room(f"len({unknown})", "unknown_tagged_fields")
            self.line(f"{variable}.unknown_tagged_fields = tuple({unknown})")


def _has_arrays(cls: type[StructClass], version: int) -> bool:
    """Whether a struct of this version has an array, at any depth."""
    return any(
        isinstance(field.type, Array) or (isinstance(field.type, StructType) and _has_arrays(field.type.cls, version))
        for field in cls.FIELDS
        if field.is_plain_in(version) or field.is_tagged_in(version)
    )


_HELPERS = (bad_length, too_many, read_unsigned_varint, read_unknown_tags, read_tag, RawTaggedField, SchemaError)
"""Objects that every generated decoder may refer to by their own names."""


_CUT = {
    "string": f"buffer[position:stop].tobytes().decode('utf-8', '{REPLACE_OR_REFUSE}')",
    "bytes": "buffer[position:stop].tobytes()",
    "records": "buffer[position:stop]",
}
"""How the bytes from ``position`` to ``stop`` become a value, by type."""
