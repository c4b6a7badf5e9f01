"""The codec that messages would have without generated code: it walks the declaration of a message each time.

It is slow and obvious, in Kafka's words of the protocol guide, so tests compare the compiled codecs with it.
"""

from __future__ import annotations

import struct
import uuid
from typing import Any

from kafka_lite.protocol import wire_types
from kafka_lite.protocol.schema import Message, Struct
from kafka_lite.protocol.wire_types import Array, Field, Primitive, RawTaggedField, Sized, StructType, WireType


def plain_varint(value: int) -> bytes:
    """Seven bits per byte, the lowest first."""
    return bytes([value]) if value < 0x80 else bytes([value % 0x80 + 0x80]) + plain_varint(value // 0x80)


class PlainEncoder:
    """Encodes one version of a message."""

    def __init__(self, message: Message, version: int) -> None:
        self.version = version
        self.flexible = version in message.FLEXIBLE
        self.bytes = self.struct(message)

    def struct(self, value: Struct) -> bytes:
        present = [field for field in value.FIELDS if self.version in field.versions]
        plain = [field for field in present if self.version not in field.tagged]
        out = b"".join(self.value(field.type, getattr(value, field.name), field) for field in plain)
        return out + self.tags(value, [field for field in present if field not in plain]) if self.flexible else out

    def tags(self, value: Struct, fields: list[Field]) -> bytes:
        tagged: dict[int, bytes] = dict(value.unknown_tagged_fields)
        for field in fields:
            given = getattr(value, field.name)
            if given != field.new_default():
                assert field.tag is not None
                tagged[field.tag] = self.value(field.type, given, field)
        sections = [plain_varint(tag) + plain_varint(len(tagged[tag])) + tagged[tag] for tag in sorted(tagged)]
        return plain_varint(len(tagged)) + b"".join(sections)

    def length(self, code: str, length: int, field: Field) -> bytes:
        compact = self.flexible if field.flexible is None else self.version in field.flexible
        return plain_varint(length + 1) if compact else struct.pack(f">{code}", length)

    def value(self, kind: WireType, value: Any, field: Field) -> bytes:
        if isinstance(kind, StructType):
            if self.version not in field.nullable:
                return self.struct(value)
            return b"\xff" if value is None else b"\1" + self.struct(value)
        if isinstance(kind, Primitive):
            return value.bytes if kind is wire_types.UUID else struct.pack(f">{kind.code}", value)
        code = kind.length_code if isinstance(kind, Sized) else "i"
        if value is None:
            return self.length(code, -1, field)
        if isinstance(kind, Array):
            element = Field(kind.element)
            return self.length(code, len(value), field) + b"".join(
                self.value(kind.element, each, element) for each in value
            )
        data = value.encode() if kind is wire_types.STRING else bytes(value)
        return self.length(code, len(data), field) + data


class PlainDecoder:
    """Decodes one version of a message from bytes that are valid."""

    def __init__(self, message: type[Message], data: bytes, version: int) -> None:
        self.version = version
        self.flexible = version in message.FLEXIBLE
        self.data, self.position = data, 0
        self.message = self.struct(message)

    def take(self, length: int) -> bytes:
        assert self.position + length <= len(self.data)
        self.position += length
        return self.data[self.position - length : self.position]

    def varint(self) -> int:
        (byte,) = self.take(1)
        return int(byte) if byte < 0x80 else byte - 0x80 + 0x80 * self.varint()

    def struct(self, cls: Any) -> Any:
        made = cls()
        tagged = {}
        for field in cls.FIELDS:
            if self.version in field.versions:
                if self.version in field.tagged:
                    tagged[field.tag] = field
                else:
                    setattr(made, field.name, self.value(field.type, field))
        unknown = []
        for _ in range(self.varint() if self.flexible else 0):
            tag, size = self.varint(), self.varint()
            if tag in tagged:
                setattr(made, tagged[tag].name, self.value(tagged[tag].type, tagged[tag]))
            else:
                unknown.append(RawTaggedField(tag, self.take(size)))
        if unknown:
            made.unknown_tagged_fields = tuple(unknown)
        return made

    def length(self, code: str, field: Field) -> int:
        compact = self.flexible if field.flexible is None else self.version in field.flexible
        return self.varint() - 1 if compact else int(self.number(code))

    def number(self, code: str) -> Any:
        return struct.unpack(f">{code}", self.take(struct.calcsize(f">{code}")))[0]

    def value(self, kind: WireType, field: Field) -> Any:
        if isinstance(kind, StructType):
            is_null = self.version in field.nullable and self.number("b") < 0
            return None if is_null else self.struct(kind.cls)
        if isinstance(kind, Primitive):
            found = self.number(kind.code)
            return uuid.UUID(bytes=found) if kind is wire_types.UUID else found
        length = self.length(kind.length_code if isinstance(kind, Sized) else "i", field)
        if length < 0:
            return None
        if isinstance(kind, Array):
            return [self.value(kind.element, Field(kind.element)) for _ in range(length)]
        data = self.take(length)
        return data.decode() if kind is wire_types.STRING else data
