r"""Records of the message format v2, as they lie inside a batch.

::

    +--------+---------------+-----------------+--------------+------------+-----+--------------+-------+---------
    | length | attributes I8 | timestamp delta | offset delta | key length | key | value length | value | headers
    |        | 0             |                 |              | -1: null   |     | -1: null     |       |
    +--------+---------------+-----------------+--------------+------------+-----+--------------+-------+---------
    headers: count, then for each: key length, key (UTF-8), value length (-1: null), value

The numbers are zig-zag varints (see ``varint``). The length counts the bytes that follow it. The deltas are relative to
the base timestamp and the base offset of the batch.

Kafka 0.11: clients/.../common/record/DefaultRecord.java, since 2.4 PartialDefaultRecord.java · book 10.3
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from kafka_lite.common.sendable import Buffer
from kafka_lite.record.record import Header, InvalidRecordError
from kafka_lite.record.varint import MAX_VARLONG_BYTES, decode_varint, encode_varint

DecodedRecord = tuple[int, int, bytes | None, bytes | None, tuple[Header, ...], int]
"""Timestamp delta, offset delta, key, value, headers, and the position where the record ends."""

PartialRecord = tuple[int, int, bytes | None, bool, int]
"""Timestamp delta, offset delta, key, whether there is a value, and the position where the record ends."""

_Decoded = TypeVar("_Decoded", bound=tuple[Any, ...])
_NULL_LENGTH = encode_varint(-1)


def decode_records(data: bytes, position: int, limit: int) -> list[DecodedRecord]:
    """The records from ``position`` on, at most ``limit``. The fast twin is ``fast.decode.decode_records``.

    Raises ``InvalidRecordError`` if the first of them cannot be read. If a later one cannot be read, the list ends
    before it.
    """
    return _decode_up_to(limit, decode_record, data, position)


def decode_partial_records(data: bytes, position: int, limit: int) -> list[PartialRecord]:
    """The same without values and headers, which a log cleaner does not need.

    The fast twin is ``fast.decode.decode_partial_records``.
    """
    return _decode_up_to(limit, decode_partial_record, data, position)


def _decode_up_to(limit: int, decode: Callable[[bytes, int], _Decoded], data: bytes, position: int) -> list[_Decoded]:
    records: list[_Decoded] = []
    while len(records) < limit:
        try:
            record = decode(data, position)
        except InvalidRecordError:
            if not records:
                raise
            break
        records.append(record)
        *_, position = record
    return records


def decode_record(data: bytes, position: int) -> DecodedRecord:
    """The record at ``position``; raises ``InvalidRecordError`` if its parts do not add up to its length."""
    length, position = decode_varint(data, position)
    end = position + length
    if length <= 0 or end > len(data):
        raise InvalidRecordError(f"Record of {length} bytes, {len(data) - position} are left")
    timestamp_delta, position = decode_varint(data, position + 1, MAX_VARLONG_BYTES)  # 1: the attributes
    offset_delta, position = decode_varint(data, position)
    key, position = _decode_bytes(data, position, end)
    value, position = _decode_bytes(data, position, end)
    headers, position = decode_headers(data, position, end)
    if position != end:
        raise InvalidRecordError(f"Record of {length} bytes ends {abs(position - end)} bytes off")
    return timestamp_delta, offset_delta, key, value, headers, position


def decode_partial_record(data: bytes, position: int) -> PartialRecord:
    """The record at ``position`` up to its key; of the length of the value only the sign is read.

    Raises ``InvalidRecordError`` if that much does not fit into the record.
    """
    length, position = decode_varint(data, position)
    end = position + length
    if length <= 0 or end > len(data):
        raise InvalidRecordError(f"Record of {length} bytes, {len(data) - position} are left")
    timestamp_delta, position = decode_varint(data, position + 1, MAX_VARLONG_BYTES)  # 1: the attributes
    offset_delta, position = decode_varint(data, position)
    key, position = _decode_bytes(data, position, end)
    if position >= end:
        raise InvalidRecordError(f"Record of {length} bytes ends before its value")
    has_value = data[position] & 1 == 0  # the lowest bit of a zig-zag varint is the sign
    return timestamp_delta, offset_delta, key, has_value, end


def decode_headers(data: bytes, position: int, end: int) -> tuple[tuple[Header, ...], int]:
    """The headers at ``position``, and the position behind them.

    Raises ``InvalidRecordError`` if they reach beyond ``end``, where the record ends, or one has no key.
    """
    count, position = decode_varint(data, position)
    if not 0 <= count <= end - position:  # a header takes at least two bytes, so more cannot be there
        raise InvalidRecordError(f"Record claims {count} headers in {end - position} bytes")
    headers = []
    for _ in range(count):
        key, position = _decode_bytes(data, position, end)
        if key is None:
            raise InvalidRecordError("Header without a key")
        value, position = _decode_bytes(data, position, end)
        headers.append(Header(key.decode("utf-8", "replace"), value))
    return tuple(headers), position


def skip_headers(data: bytes, position: int) -> int:
    """Where the headers at ``position`` end; their keys and values are not looked at.

    Raises ``InvalidRecordError`` if one has no key or their lengths cannot be read.
    """
    count, position = decode_varint(data, position)
    if not 0 <= count <= len(data) - position:
        raise InvalidRecordError(f"Record claims {count} headers in {len(data) - position} bytes")
    for _ in range(count):
        key_length, position = decode_varint(data, position)
        if key_length < 0:
            raise InvalidRecordError("Header without a key")
        value_length, position = decode_varint(data, position + key_length)
        position += max(value_length, 0)
    return position


def _decode_bytes(data: bytes, position: int, end: int) -> tuple[bytes | None, int]:
    length, position = decode_varint(data, position)
    if length < 0:
        return None, position
    field_end = position + length
    if field_end > end:
        raise InvalidRecordError(f"Field of {length} bytes in a record that has {end - position} left")
    return data[position:field_end], field_end


def decode_offset_delta(data: bytes, position: int) -> tuple[int, int]:
    """The offset delta of the record at ``position``, and where the record ends; nothing behind the delta is read.

    So a reader can step over a record that ``decode_record`` refuses. Raises ``InvalidRecordError`` if not even that
    much can be read.
    """
    length, start = decode_varint(data, position)
    if length <= 0:
        raise InvalidRecordError(f"Record of {length} bytes")
    _timestamp_delta, position = decode_varint(data, start + 1, MAX_VARLONG_BYTES)  # 1: the attributes
    offset_delta, _ = decode_varint(data, position)
    return offset_delta, start + length


def encode_record(
    timestamp_delta: int,
    offset_delta: int,
    key: Buffer | None,
    value: Buffer | None,
    headers: Sequence[tuple[str, bytes | None]],
) -> bytes:
    """One record. The fast twin is ``fast.encode.encode_record``."""
    parts: list[Buffer] = [b"\x00", encode_varint(timestamp_delta), encode_varint(offset_delta)]
    parts += _encode_bytes(key)
    parts += _encode_bytes(value)
    parts.append(encode_varint(len(headers)))
    for name, content in headers:
        parts += _encode_bytes(name.encode())
        parts += _encode_bytes(content)
    body = b"".join(parts)
    return encode_varint(len(body)) + body


def _encode_bytes(field: Buffer | None) -> tuple[Buffer, ...]:
    return (_NULL_LENGTH,) if field is None else (encode_varint(len(field)), field)


def with_timestamp_delta(record: bytes, timestamp_delta: int) -> bytes:
    """The encoded ``record`` with another timestamp delta; all that follows the delta stays as it is."""
    _length, attributes_at = decode_varint(record, 0)
    _old_delta, offset_delta_at = decode_varint(record, attributes_at + 1, MAX_VARLONG_BYTES)
    body = record[attributes_at : attributes_at + 1] + encode_varint(timestamp_delta) + record[offset_delta_at:]
    return encode_varint(len(body)) + body
