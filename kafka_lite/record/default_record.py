r"""Records of the message format v2, as they lie inside a batch.

::

    +--------+---------------+-----------------+--------------+------------+-----+--------------+-------+---------
    | length | attributes I8 | timestamp delta | offset delta | key length | key | value length | value | headers
    |        | 0             |                 |              | -1: null   |     | -1: null     |       |
    +--------+---------------+-----------------+--------------+------------+-----+--------------+-------+---------
    headers: count, then for each: key length, key (UTF-8), value length (-1: null), value

    The numbers are zig-zag varints (``varint``). The length counts the bytes that follow it. Timestamp and offset are
    relative to the base timestamp and the base offset of the batch.

Kafka 0.11: clients/.../common/record/DefaultRecord.java · book 10.3
"""

from __future__ import annotations

from kafka_lite.common.sendable import Buffer
from kafka_lite.record.record import Header, InvalidRecordError
from kafka_lite.record.varint import MAX_VARLONG_BYTES, decode_varint, encode_varint

_NULL_LENGTH = encode_varint(-1)

DecodedRecord = tuple[int, int, bytes | None, bytes | None, tuple[Header, ...], int]
"""Timestamp delta, offset delta, key, value, headers, and the position behind the record."""


def decode_record(data: bytes, position: int) -> DecodedRecord:
    """One record; ``InvalidRecordError`` when its parts do not add up to its length."""
    length, position = decode_varint(data, position)
    end = position + length
    if length <= 0 or end > len(data):
        raise InvalidRecordError(f"Record of {length} bytes, {len(data) - position} are left")
    timestamp_delta, position = decode_varint(data, position + 1, MAX_VARLONG_BYTES)  # 1: the attributes
    offset_delta, position = decode_varint(data, position)
    key, position = _decode_bytes(data, position, end)
    value, position = _decode_bytes(data, position, end)
    headers: tuple[Header, ...] = ()
    if position + 1 == end and data[position] == 0:  # by far the most have no headers
        position = end
    else:
        headers, position = decode_headers(data, position, end)
    if position != end:
        raise InvalidRecordError(f"Record of {length} bytes ends {abs(position - end)} bytes off")
    return timestamp_delta, offset_delta, key, value, headers, position


def _decode_bytes(data: bytes, position: int, end: int) -> tuple[bytes | None, int]:
    length, position = decode_varint(data, position)
    if length < 0:
        return None, position
    field_end = position + length
    if field_end > end:
        raise InvalidRecordError(f"Field of {length} bytes in a record that has {end - position} left")
    return data[position:field_end], field_end


def decode_headers(data: bytes, position: int, end: int) -> tuple[tuple[Header, ...], int]:
    """The headers at ``position`` and the position behind them; ``InvalidRecordError`` when they are none."""
    count, position = decode_varint(data, position)
    if count == 0:
        return (), position
    if not 0 <= count <= end - position:  # a header takes at least two bytes: a larger count is a lie
        raise InvalidRecordError(f"Record claims {count} headers in {end - position} bytes")
    headers = []
    for _ in range(count):
        key, position = _decode_bytes(data, position, end)
        if key is None:
            raise InvalidRecordError("Header without a key")
        value, position = _decode_bytes(data, position, end)
        headers.append(Header(key.decode("utf-8", "replace"), value))
    return tuple(headers), position


def encode_record(
    timestamp_delta: int, offset_delta: int, key: Buffer | None, value: Buffer | None, headers: tuple[Header, ...]
) -> bytes:
    """One record of the figure above."""
    parts: list[Buffer] = [b"\x00", encode_varint(timestamp_delta), encode_varint(offset_delta)]
    parts += _encode_bytes(key)
    parts += _encode_bytes(value)
    parts.append(encode_varint(len(headers)))
    for header in headers:
        parts += _encode_bytes(header.key.encode())
        parts += _encode_bytes(header.value)
    body = b"".join(parts)
    return encode_varint(len(body)) + body


def _encode_bytes(field: Buffer | None) -> tuple[Buffer, ...]:
    return (_NULL_LENGTH,) if field is None else (encode_varint(len(field)), field)
