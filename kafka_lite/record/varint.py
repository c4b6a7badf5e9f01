"""Integers of variable length: the smaller the number, of either sign, the fewer its bytes.

Kafka 0.11: clients/.../common/utils/ByteUtils.java · book 10.3
"""

from __future__ import annotations

from kafka_lite.common.sendable import Buffer
from kafka_lite.record.record import InvalidRecordError

MAX_VARINT_BYTES = 5
MAX_VARLONG_BYTES = 10

_MAX_U64 = (1 << 64) - 1
_ONE_BYTE = tuple(bytes((value,)) for value in range(0x80))


def encode_varint(value: int) -> bytes:
    r"""A signed integer of up to 64 bits as Kafka's VARINT or VARLONG (they differ in range only).

    ::

        zig-zag:   0 -> 0, -1 -> 1, 1 -> 2, -2 -> 3, ...        (the sign becomes the lowest bit)
        then       7 bits per byte, the lowest first; the highest bit of a byte says that another follows
    """
    rest = value << 1 if value >= 0 else (~value << 1) | 1
    if rest < 0x80:
        return _ONE_BYTE[rest]
    encoded = bytearray()
    while rest >= 0x80:
        encoded.append(rest & 0x7F | 0x80)
        rest >>= 7
    encoded.append(rest)
    return bytes(encoded)


def size_of_varint(value: int) -> int:
    """How many bytes ``encode_varint`` writes for a value."""
    rest = value << 1 if value >= 0 else (~value << 1) | 1
    return max(1, (rest.bit_length() + 6) // 7)


def decode_varint(buffer: Buffer, position: int, max_bytes: int = MAX_VARINT_BYTES) -> tuple[int, int]:
    """The value at ``position`` and the position behind it.

    Raises ``InvalidRecordError`` if the buffer ends inside the value, or the value is longer than ``max_bytes``.
    """
    try:
        byte = buffer[position]
        if byte < 0x80:  # most values
            return byte >> 1 ^ -(byte & 1), position + 1
        rest = byte & 0x7F
        for shift in range(7, 7 * max_bytes, 7):
            position += 1
            byte = buffer[position]
            rest |= (byte & 0x7F) << shift
            if byte < 0x80:
                rest &= _MAX_U64
                return rest >> 1 ^ -(rest & 1), position + 1
    except IndexError:
        raise InvalidRecordError("Varint is cut short") from None
    raise InvalidRecordError(f"Varint is longer than {max_bytes} bytes")
