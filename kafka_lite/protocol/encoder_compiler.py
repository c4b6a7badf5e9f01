"""Generates the encoder of one version of a message, as Python source.

For FindCoordinatorRequest v1, for example, it generates

    def encode(message, add):
        add(texts_h[message.key])
        ...
        add(pack_b(message.key_type))

where ``add`` takes each piece of the encoding in turn, and ``texts_h`` is a :class:`Texts`. Records are added as they
are. If the version does not have a field that is not ignorable, the generated code checks that it has its default
value, because the peer would not receive any other.

A response may have many elements. Its encoder raises ``LongArrayError`` at an array of ``LONG_ARRAY`` elements; then
it is encoded by another one, which is a generator: it pauses after each slice of ``PIECES_OF_SLICE`` pieces or so.

    def encode_slices(message, pieces):
        add = pieces.append
        ...
        for topic in message.topics:
            ...
            if len(pieces) >= 4096:
                yield

Kafka 0.10.2: clients/.../common/protocol/types/Schema.java (write) · book 2.3.5
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Any, Final, NoReturn

from kafka_lite.common.ids.uuids import ZERO_UUID
from kafka_lite.common.sendable import Part, size_of
from kafka_lite.protocol import wire_types
from kafka_lite.protocol.schema_error import UnsupportedVersionError
from kafka_lite.protocol.source_writer import SourceWriter, variable_name
from kafka_lite.protocol.varint import SMALL_VARINTS, unsigned_varint
from kafka_lite.protocol.wire_types import (
    MAX_STRING_BYTES,
    Array,
    Field,
    MessageClass,
    Primitive,
    Sized,
    StructClass,
    StructType,
    WireType,
)

LONG_ARRAY: Final = 0x80
"""Arrays of fewer elements, or of one less if counts are compact, are encoded in one go. Encoders look up the counts of
those, so that the check costs nothing."""
PIECES_OF_SLICE: Final = 4096
"""About half a millisecond, and some fifty kilobytes."""


class LongArrayError(Exception):
    """A response has an array of so many elements that it has to be encoded in slices."""


def encoder_source(
    message: type[MessageClass], version: int, *, refuses_long_arrays: bool = False
) -> tuple[str, dict[str, Any]]:
    """The source of ``encode(message, add)``, and the objects that it refers to."""
    writer = _EncoderWriter(message, version, refuses_long_arrays=refuses_long_arrays)
    return writer.text(), writer.names


def slicing_encoder_source(message: type[MessageClass], version: int) -> tuple[str, dict[str, Any]]:
    """The source of ``encode_slices(message, pieces)``, a generator, and the objects that it refers to.

    It pauses when there is a slice in ``pieces``, which the caller takes out. The last slice is there at its end.
    """
    writer = _EncoderWriter(message, version, in_slices=True)
    return writer.text(), writer.names


def not_in_version(field: str, version: int) -> UnsupportedVersionError:
    """The error for a field that is set but does not exist in the version."""
    return UnsupportedVersionError(f"{field} is set, and version {version} has no such field")


def long_array(count: int) -> NoReturn:
    """Called in place of encoding the count of a long array. Raises ``LongArrayError``."""
    raise LongArrayError(f"an array of {count} elements")


def write_tagged_fields(add: Callable[[Part], None], fields: Iterable[tuple[int, bytes]]) -> None:
    """Write a section of tagged fields, ordered by tag: their number, then tag, size and value of each."""
    ordered = sorted(fields, key=lambda field: field[0])
    add(unsigned_varint(len(ordered)))
    for tag, data in ordered:
        add(unsigned_varint(tag))
        add(unsigned_varint(len(data)))
        add(data)


class Texts(dict[str, bytes]):
    """A cache of encoded strings, with their lengths in front.

    Most strings of the protocol recur: names of topics, groups and hosts. To bound the memory, long ones are not kept,
    and the cache is cleared when it has too many. Looking up a string that is too long, or not valid Unicode, raises
    ValueError.
    """

    MAX_KEPT = 1000
    MAX_KEPT_BYTES = 256

    def __init__(self, encode_length: Callable[[int], bytes]) -> None:
        super().__init__()
        self._encode_length = encode_length

    def __missing__(self, text: str) -> bytes:
        data = text.encode()
        if len(data) > MAX_STRING_BYTES:
            raise ValueError(f"a string of {len(data)} bytes is too long to be serialized")
        data = self._encode_length(len(data)) + data
        if len(data) <= self.MAX_KEPT_BYTES:
            if len(self) >= self.MAX_KEPT:
                self.clear()
            self[text] = data
        return data


TEXTS = Texts(struct.Struct(">h").pack)
COMPACT_TEXTS = Texts(lambda length: unsigned_varint(length + 1))

_SMALL_COUNTS = tuple(struct.pack(">i", count) for count in range(LONG_ARRAY))
"""Precomputed, like ``SMALL_VARINTS``."""


class _EncoderWriter(SourceWriter):
    """Walks a message's declaration and emits the code that writes each field."""

    def __init__(
        self,
        message: type[MessageClass],
        version: int,
        *,
        refuses_long_arrays: bool = False,
        in_slices: bool = False,
    ) -> None:
        super().__init__()
        self._version = version
        self._refuses_long_arrays, self._in_slices = refuses_long_arrays, in_slices
        self._flexible = version in message.FLEXIBLE
        self._run: list[tuple[str, str]] = []  # struct code, expression
        self._add = "add"  # where the pieces go: to the message, or to a tagged field
        for helper in (long_array, not_in_version, size_of, unsigned_varint, write_tagged_fields):
            self.name(helper.__name__, helper)
        self.name("varints", SMALL_VARINTS)
        self.name("counts", _SMALL_COUNTS)
        self.name("texts_h", TEXTS)
        self.name("texts_compact", COMPACT_TEXTS)
        self.name("pack", struct.pack)
        with self.block("def encode_slices(message, pieces):" if in_slices else "def encode(message, add):"):
            if in_slices:
                self.line("add = pieces.append")
                self._pause()  # so that it is a generator, whatever follows
            self._struct(message, "message")
            self._flush()

    # -- runs of fixed-size fields

    def _fixed(self, code: str, expression: str) -> None:
        self._run.append((code, expression))

    def _flush(self) -> None:
        if self._run:
            codes = "".join(code for code, _ in self._run)
            values = ", ".join(expression for _, expression in self._run)
            self.line(f"{self._add}({self.packer(codes)}({values}))")
            self._run.clear()

    def _pause(self) -> None:
        """Emit the end of a slice. What goes to a tagged field has no slices."""
        if self._in_slices and self._add == "add":
            with self.block(f"if len(pieces) >= {PIECES_OF_SLICE}:"):
                self.line("yield")

    # -- structs and fields

    def _struct(self, cls: type[StructClass], variable: str) -> None:
        for field in cls.FIELDS:
            value = f"{variable}.{field.name}"
            if field.is_plain_in(self._version):
                self._value(field.type, value, field)
            elif self._version not in field.versions and not field.ignorable:
                with self.block(f"if {self._differs(value, field)}:"):
                    self.line(f"raise not_in_version({field.name!r}, {self._version})")
        if self._flexible:
            self._flush()
            self._tagged_fields(cls, variable)
        else:
            with self.block(f"if {variable}.unknown_tagged_fields:"):
                self.line(f"raise not_in_version('unknown_tagged_fields', {self._version})")

    def _differs(self, value: str, field: Field) -> str:
        """The condition that a field does not have its default value."""
        if isinstance(field.type, StructType) and not field.may_be_null:
            inner = [self._differs(f"{value}.{inner.name}", inner) for inner in field.type.cls.FIELDS]
            differs = " or ".join([*inner, f"{value}.unknown_tagged_fields"])
            default = self.name(f"default_{variable_name(field.type.cls)}", field.type.cls.default())
            return f"{value} is not {default} and ({differs})"
        if field.default is None:
            return f"{value} is not None"
        if field.default == []:
            return f"{value} or {value} is None"
        if field.type is wire_types.UUID:
            return f"{value} != {self.name('ZERO_UUID', ZERO_UUID)}"
        return f"{value} != {field.default!r}"

    def _value(self, kind: WireType, value: str, field: Field) -> None:
        if isinstance(kind, Primitive):
            self._fixed(kind.code, f"{value}.bytes" if kind is wire_types.UUID else value)
        elif isinstance(kind, Sized):
            self._sized(kind, value, field)
        elif isinstance(kind, Array):
            self._array(kind, value, field)
        else:
            self._nested(kind, value, field)

    def _nested(self, kind: StructType, value: str, field: Field) -> None:
        variable = variable_name(kind.cls)
        self._flush()
        self.line(f"{variable} = {value}")
        if self._version not in field.nullable:
            self._struct(kind.cls, variable)
            return
        with self.block(f"if {variable} is None:"):
            self.line(f"{self._add}({wire_types.NULL_STRUCT!r})")
        with self.block("else:"):
            self.line(f"{self._add}({wire_types.PRESENT_STRUCT!r})")
            self._struct(kind.cls, variable)
            self._flush()

    def _length(self, code: str, length: str, field: Field, *, may_be_refused: bool = False) -> None:
        if self._is_compact(field):
            self._flush()
            self.line(f"n = {length} + 1")
            large = "long_array" if may_be_refused else "unsigned_varint"
            self.line(f"{self._add}(varints[n] if n < {len(SMALL_VARINTS)} else {large}(n))")
        elif code == "i" and not self._run:
            self.line(f"n = {length}")
            large = "long_array" if may_be_refused else self.packer("i")
            self.line(f"{self._add}(counts[n] if n < {len(_SMALL_COUNTS)} else {large}(n))")
        elif may_be_refused:
            self._fixed(code, f"n if (n := {length}) < {LONG_ARRAY} else long_array(n)")
        else:
            self._fixed(code, length)

    def _is_compact(self, field: Field) -> bool:
        return self._flexible if field.flexible is None else self._version in field.flexible

    def _or_null(self, code: str, value: str, field: Field, write: Callable[[], None]) -> None:
        """Emit the code that writes the value, within a check for null if the version allows null."""
        if self._version not in field.nullable:
            write()
            self._flush()
            return
        self._flush()
        with self.block(f"if {value} is None:"):
            null = b"\0" if self._is_compact(field) else struct.pack(f">{code}", -1)
            self.line(f"{self._add}({null!r})")
        with self.block("else:"):
            write()
            self._flush()

    def _sized(self, kind: Sized, value: str, field: Field) -> None:
        def write() -> None:
            if kind is wire_types.STRING:
                self._flush()
                self.line(f"{self._add}({'texts_compact' if self._is_compact(field) else 'texts_h'}[{value}])")
                return
            length = "size_of(data)" if kind is wire_types.RECORDS else "len(data)"
            self.line(f"data = {value}")
            self._length(kind.length_code, length, field)
            self._flush()
            self.line(f"{self._add}(data)")

        self._or_null(kind.length_code, value, field, write)

    def _array(self, kind: Array, value: str, field: Field) -> None:
        is_packed = isinstance(kind.element, Primitive) and kind.element is not wire_types.UUID

        def write() -> None:
            self._length("i", f"len({value})", field, may_be_refused=self._refuses_long_arrays and not is_packed)
            self._flush()
            if isinstance(kind.element, Primitive) and is_packed:
                self.line(f"{self._add}(pack(f'>{{len({value})}}{kind.element.code}', *{value}))")
            else:
                self._elements(kind.element, value, field)

        self._or_null("i", value, field, write)

    def _elements(self, element: WireType, value: str, field: Field) -> None:
        variable = variable_name(element.cls) if isinstance(element, StructType) else "element"
        with self.block(f"for {variable} in {value}:"):
            if isinstance(element, StructType):
                self._struct(element.cls, variable)
            else:
                self._value(element, variable, Field(element, name=field.name))
            self._flush()
            self._pause()

    # -- tagged fields

    def _tagged_fields(self, cls: type[StructClass], variable: str) -> None:
        known = [field for field in cls.FIELDS if field.is_tagged_in(self._version)]
        tagged = f"{variable}.unknown_tagged_fields"
        if known:
            self.line(f"{variable}_tagged = list({tagged})")
            tagged = f"{variable}_tagged"
            for field in known:
                self._known_tag(field, variable, tagged)
        with self.block(f"if {tagged}:"):
            self.line(f"write_tagged_fields({self._add}, {tagged})")
        with self.block("else:"):
            self.line(f"{self._add}(b'\\0')")

    def _known_tag(self, field: Field, variable: str, tagged: str) -> None:
        """Emit the code that encodes a tagged field into its own pieces, because its size precedes it."""
        outer, pieces = self._add, f"{variable}_{field.name}"
        with self.block(f"if {self._differs(f'{variable}.{field.name}', field)}:"):
            self.line(f"{pieces} = []")
            self._add = f"{pieces}.append"
            self._value(field.type, f"{variable}.{field.name}", field)
            self._flush()
            self._add = outer
            self.line(f"{tagged}.append(({field.tag}, b''.join({pieces})))")
