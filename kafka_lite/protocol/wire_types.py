"""The types of message fields, and the declaration of a field.

    type          bytes on the wire                              in flexible versions ("compact")
    bool, int8    1                                              the same
    int16         2, big endian like all numbers                 the same
    int32         4                                              the same
    int64 float64 8                                              the same
    uuid          16                                             the same
    string        int16 length, UTF-8                            varint length + 1, UTF-8
    bytes         int32 length, bytes                            varint length + 1, bytes
    records       int32 length, record batches                   varint length + 1, record batches
    array         int32 count, elements                          varint count + 1, elements
    null          length or count -1                             length or count 0
    struct        its fields one after the other                 the same, then its tagged fields
                  a nullable one: int8 -1 for null, or 1 in front

Kafka 0.10.2: clients/.../common/protocol/types/Type.java, Field.java, ArrayOf.java · book 2.3.5
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

from kafka_lite.protocol.versions import ALL_VERSIONS, NO_VERSIONS, Versions

NULL_STRUCT, PRESENT_STRUCT = b"\xff", b"\1"
"""The byte of a nullable struct: null, or followed by the struct."""
MAX_STRING_BYTES = 0x7FFF
"""The longest string. An int16 length allows no more, and Kafka has the same limit where the length is compact."""


class StructClass(Protocol):
    """The part of a class of structs that types and compilers use: its fields. ``schema.Struct`` is their base."""

    FIELDS: ClassVar[tuple[Field, ...]]

    @classmethod
    def default(cls) -> Any:
        """The shared struct with all default values, which must not be changed."""
        ...


class MessageClass(StructClass, Protocol):
    """The part of a class of messages that the compilers use. ``schema.Message`` is their base."""

    FLEXIBLE: ClassVar[Versions]
    MAX_ELEMENTS: ClassVar[int | None]


@dataclass(frozen=True)
class Primitive:
    """A type of fixed size. ``code`` is its letter in Python's ``struct``."""

    name: str
    code: str

    @property
    def size(self) -> int:
        """Bytes on the wire."""
        return struct.calcsize(f">{self.code}")


@dataclass(frozen=True)
class Sized:
    """A length, followed by that many bytes. ``length_code`` is the letter of a length that is not compact."""

    name: str
    length_code: str


@dataclass(frozen=True)
class Array:
    """A count, followed by that many elements."""

    element: WireType


@dataclass(frozen=True)
class StructType:
    """The fields of a class, in order."""

    cls: type[StructClass]


WireType = Primitive | Sized | Array | StructType

BOOL = Primitive("bool", "?")
INT8 = Primitive("int8", "b")
INT16 = Primitive("int16", "h")
INT32 = Primitive("int32", "i")
INT64 = Primitive("int64", "q")
FLOAT64 = Primitive("float64", "d")
UUID = Primitive("uuid", "16s")
STRING = Sized("string", "h")
BYTES = Sized("bytes", "i")
RECORDS = Sized("records", "i")


@dataclass(frozen=True)
class Field:
    """One line of a message's declaration.

    ``versions`` have the field. In ``nullable`` versions it may be null. In ``tagged`` versions it is a tagged field
    with this ``tag``, only sent if it differs from ``default``. In versions without the field, its value must be the
    default, unless the field is ``ignorable``. ``flexible`` overrides the versions in which its length is compact.
    """

    type: WireType
    versions: Versions = ALL_VERSIONS
    nullable: Versions = NO_VERSIONS
    default: Any = None
    tag: int | None = None
    tagged: Versions = NO_VERSIONS
    ignorable: bool = False
    flexible: Versions | None = None
    name: str = ""

    def named(self, name: str) -> Field:
        """A copy with a name. (``dataclasses.replace`` takes ten times as long, for each of a thousand fields.)"""
        field = object.__new__(Field)
        field.__dict__.update(self.__dict__, name=name)
        return field

    def has_mutable_default(self) -> bool:
        """Whether each message needs its own default value: an empty list or a struct."""
        return self.default == [] or (isinstance(self.type, StructType) and not self.may_be_null)

    @property
    def may_be_null(self) -> bool:
        """Whether any version allows null."""
        return self.nullable != NO_VERSIONS

    def new_default(self) -> Any:
        """A default value for the field."""
        if isinstance(self.type, StructType) and not self.may_be_null:
            return self.type.cls()
        return [] if self.default == [] else self.default

    def is_tagged_in(self, version: int) -> bool:
        """Whether the field is a tagged one in this version."""
        return version in self.versions and version in self.tagged

    def is_plain_in(self, version: int) -> bool:
        """Whether the field has a fixed position in this version."""
        return version in self.versions and version not in self.tagged


class RawTaggedField(NamedTuple):
    """A tagged field that the schema does not know: kept as received, and sent on with the message."""

    tag: int
    data: bytes


def minimum_size(kind: WireType, version: int, flexible: bool) -> int:
    """The smallest size of a value of the type, in bytes, which bounds the count of an array that is not read yet.

    Of a string, bytes, records or array that is the size of its length; of a struct, that of its plain fields in the
    version, and of the count of tagged fields that ends it in a ``flexible`` one. A nullable struct may be one byte.
    """
    if isinstance(kind, Primitive):
        return kind.size
    if isinstance(kind, Array):
        return 1 if flexible else 4
    if isinstance(kind, Sized):
        return 1 if flexible else struct.calcsize(kind.length_code)
    plain = (field for field in kind.cls.FIELDS if field.is_plain_in(version))
    return sum(_minimum_size_of(field, version, flexible) for field in plain) + flexible


def _minimum_size_of(field: Field, version: int, flexible: bool) -> int:
    is_null = isinstance(field.type, StructType) and version in field.nullable
    return len(NULL_STRUCT) if is_null else minimum_size(field.type, version, flexible)


def has_records(kind: WireType) -> bool:
    """Whether a value of the type may contain records, at any depth."""
    if isinstance(kind, StructType):
        return any(has_records(field.type) for field in kind.cls.FIELDS)
    return has_records(kind.element) if isinstance(kind, Array) else kind is RECORDS
