"""The bytes of a request and of its response, field by field. Book 1.3.2.

The bytes went through a socket, to a broker and back. Their names and types are those of the message declarations
(``kafka_lite/protocol/messages/``): ``FieldWalk`` reads the same ``FIELDS`` as the compilers of the codecs, so a table
is never older than the protocol.
"""

from __future__ import annotations

import functools
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from kafka_learn.recording.run_brokers import FIRST_TIMESTAMP, TOPIC, running_broker
from kafka_lite.protocol.api_keys import API_SPECS
from kafka_lite.protocol.framing import encode_request
from kafka_lite.protocol.messages.api_00_produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafka_lite.protocol.messages.headers import RequestHeader, ResponseHeader
from kafka_lite.protocol.schema import Message, Request
from kafka_lite.protocol.varint import read_unsigned_varint
from kafka_lite.protocol.wire_types import (
    NULL_STRUCT,
    Array,
    Field,
    Primitive,
    Sized,
    StructClass,
    StructType,
    WireType,
)
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import memory_records

VERSION = 3
"""The first version whose records are batches of today's format."""
CLIENT_ID = "shop"
CORRELATION_ID = 7
_SIZE = struct.Struct(">i")
_SHOWN_BYTES = 12
_HEADS = {
    "en": "| at | bytes | field | type | value |",
    "zh": "| 位置 | 字节 | 字段 | 类型 | 值 |",
}


@dataclass(frozen=True)
class Piece:
    """Some bytes of a frame: their position, the path of the field, its type on the wire, and the value they give."""

    position: int
    data: bytes
    name: str
    kind: str
    value: str

    def row(self) -> str:
        """The piece as a row of a Markdown table."""
        shown = self.data[:_SHOWN_BYTES].hex(" ") + (" …" if len(self.data) > _SHOWN_BYTES else "")
        name = f"`{self.name}`" if self.name else ""
        return f"| {self.position} | `{shown}` | {name} | {self.kind} | {self.value} |"


class FieldWalk:
    """Walks through an encoded message by its declaration. ``position`` is that of the next byte of ``data``."""

    def __init__(self, data: bytes, position: int = 0) -> None:
        self._data = data
        self.position = position

    def message(self, cls: type[Message], version: int) -> Iterator[Piece]:
        """The pieces of a message in a version."""
        yield from self._struct(cls, version, version in cls.FLEXIBLE, "")

    def _struct(self, cls: type[StructClass], version: int, flexible: bool, path: str) -> Iterator[Piece]:
        for field in cls.FIELDS:
            if field.is_plain_in(version):
                yield from self._value(field.type, field, version, flexible, path + field.name)
        if flexible:
            yield from self._tagged(path)

    def _value(self, kind: WireType, field: Field, version: int, flexible: bool, name: str) -> Iterator[Piece]:
        compact = flexible if field.flexible is None else version in field.flexible
        if isinstance(kind, Primitive):
            (value,) = struct.unpack_from(f">{kind.code}", self._data, self.position)
            yield self._take(kind.size, name, kind.name, _shown(value))
        elif isinstance(kind, StructType):
            yield from self._nested(kind, field, version, flexible, name)
        elif isinstance(kind, Array):
            counting = self._length(name, "count", "i", compact)
            yield counting
            for index in range(int(counting.value) if counting.value != "null" else 0):
                yield from self._value(kind.element, field, version, flexible, f"{name}[{index}]")
        else:
            length = self._length(name, "length", kind.length_code, compact)
            yield length
            if length.value not in ("null", "0"):
                yield self._sized(kind, int(length.value), name)

    def _nested(self, kind: StructType, field: Field, version: int, flexible: bool, name: str) -> Iterator[Piece]:
        if version in field.nullable and not isinstance(field.type, Array):
            yield (there := self._take(1, name, "int8: struct", "null" if self._is_null_struct() else "present"))
            if there.value == "null":
                return
        yield from self._struct(kind.cls, version, flexible, f"{name}.")

    def _is_null_struct(self) -> bool:
        return self._data[self.position : self.position + 1] == NULL_STRUCT

    def _sized(self, kind: Sized, size: int, name: str) -> Piece:
        data = self._data[self.position : self.position + size]
        return self._take(size, name, kind.name, f"`{data.decode()}`" if kind.name == "string" else f"{size} bytes")

    def _length(self, name: str, what: str, code: str, compact: bool) -> Piece:
        """A length or count: in compact form it is a varint, and one more than it means, so that 0 is null."""
        if compact:
            value, end = read_unsigned_varint(self._data, self.position)
            return self._take(end - self.position, name, f"varint: {what} + 1", str(value - 1) if value else "null")
        (value,) = struct.unpack_from(f">{code}", self._data, self.position)
        kind = f"{'int16' if code == 'h' else 'int32'}: {what}"
        return self._take(struct.calcsize(code), name, kind, str(value) if value >= 0 else "null")

    def _tagged(self, path: str) -> Iterator[Piece]:
        name = f"{path}tagged_fields"
        count, end = read_unsigned_varint(self._data, self.position)
        yield self._take(end - self.position, name, "varint: count", str(count))
        for _ in range(count):
            tag, end = read_unsigned_varint(self._data, self.position)
            size, end = read_unsigned_varint(self._data, end)
            yield self._take(end + size - self.position, name, "tag, size, bytes", f"tag {tag}, {size} bytes")

    def _take(self, size: int, name: str, kind: str, value: str) -> Piece:
        piece = Piece(self.position, self._data[self.position : self.position + size], name, kind, value)
        self.position += size
        return piece


def _shown(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class Exchange:
    """A request and its response as they were on the wire, each with its size in front."""

    request: Request
    version: int
    sent: bytes
    received: bytes

    def sent_pieces(self) -> list[Piece]:
        """Size, header and body of the request."""
        spec = API_SPECS[self.request.API_KEY]
        return _pieces(self.sent, RequestHeader, spec.request_header_version(self.version), spec.request, self.version)

    def received_pieces(self) -> list[Piece]:
        """Size, header and body of the response."""
        spec = API_SPECS[self.request.API_KEY]
        header_version = spec.response_header_version(self.version)
        return _pieces(self.received, ResponseHeader, header_version, spec.response, self.version)


def _pieces(frame: bytes, header: type[Message], header_version: int, body: type[Message], version: int) -> list[Piece]:
    size = Piece(0, frame[: _SIZE.size], "size", "int32", str(_SIZE.unpack_from(frame)[0]))
    walk = FieldWalk(frame, _SIZE.size)
    return [size, *walk.message(header, header_version), *walk.message(body, version)]


def produce_request(version: int, value: bytes = b"hello") -> ProduceRequest:
    """A request for one record, in the format that this version of Produce has."""
    magic = 2 if version >= 3 else version // 2
    records = memory_records(magic, CompressionType.NONE, [(None, value)], timestamp=FIRST_TIMESTAMP)
    data = [TopicProduceData(name=TOPIC, partition_data=[PartitionProduceData(index=0, records=records)])]
    return ProduceRequest(acks=1, timeout_ms=1_000, topic_data=data)


@functools.cache
def exchanges(*versions: int) -> tuple[Exchange, ...]:
    """Produce requests in these versions, sent to one broker in this order, with its responses."""
    with (
        running_broker() as server,
        socket.create_connection(("127.0.0.1", server.bound_port())) as connection,
        connection.makefile("wb") as sending,
        connection.makefile("rb") as receiving,
    ):
        return tuple(_exchange(sending, receiving, produce_request(version), version) for version in versions)


def _exchange(sending: IO[bytes], receiving: IO[bytes], request: Request, version: int) -> Exchange:
    frame = encode_request(request, version, CORRELATION_ID, CLIENT_ID)
    sent = _SIZE.pack(len(frame)) + frame
    sending.write(sent)
    sending.flush()
    size = receiving.read(_SIZE.size)
    return Exchange(request, version, sent, size + receiving.read(*_SIZE.unpack(size)))


def table(pieces: list[Piece], language: str) -> str:
    """The pieces as a Markdown table."""
    return "\n".join([_HEADS[language], "|---|---|---|---|---|", *(piece.row() for piece in pieces)]) + "\n"


def request_table(language: str) -> str:
    """The request of the page."""
    return table(exchanges(VERSION)[0].sent_pieces(), language)


def response_table(language: str) -> str:
    """Its response."""
    return table(exchanges(VERSION)[0].received_pieces(), language)
