"""Integers of variable length, as in flexible versions and record batches v2.

Seven bits per byte, the lowest first. The high bit says that another byte follows:

    300 = 0b10_0101100  ->  1_0101100  0_0000010  =  ac 02

Signed ones are zigzag-encoded first, so that small negative numbers stay short (0, -1, 1, -2 become 0, 1, 2, 3).

Kafka 0.10.2: clients/.../common/utils/ByteUtils.java (today's version) · book 10.2
"""

from __future__ import annotations

from kafka_lite.common.sendable import Buffer
from kafka_lite.protocol.schema_error import SchemaError

MAX_LENGTH = 0x7FFF_FFFF
"""The largest length and tag: the maximum of Java's int."""

SMALL_VARINTS = tuple(bytes((value,)) for value in range(0x80))
"""The precomputed encodings of one byte, which cover nearly all lengths."""


def unsigned_varint(value: int) -> bytes:
    """Encode a non-negative number."""
    if value < 0x80:
        return SMALL_VARINTS[value]
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_unsigned_varint(buffer: Buffer, position: int) -> tuple[int, int]:
    """Decode at a position; returns the value and the position after it.

    Raises ``IndexError`` if the buffer ends too early, ``SchemaError`` for a value beyond an int32.
    """
    value = shift = 0
    while True:
        byte = buffer[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift > 28:
            raise SchemaError("a varint of more than five bytes")
    if value > MAX_LENGTH:
        raise SchemaError(f"the varint {value} is beyond an int32")
    return value, position
