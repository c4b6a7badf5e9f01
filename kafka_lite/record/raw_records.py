"""The records of a v2 batch as slices of its bytes: what the log cleaner looks at, and moves, without decoding them.

Kafka 2.4: clients/.../common/record/PartialDefaultRecord.java · book 10.3
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_lite.record.record import InvalidRecordError
from kafka_lite.record.varint import MAX_VARLONG_BYTES, decode_varint, encode_varint

RawRecord = tuple[int, int, int, int, bytes | None, bool]
"""Where it begins and ends in the data, timestamp delta, offset delta, key, and whether it has a value."""

_NULL = 1  # zig-zag of the length -1


def raw_records(data: bytes, record_count: int) -> Iterator[RawRecord]:
    """The ``record_count`` records in ``data``, which are all of it; of headers and value only the lengths are read.

    Raises ``InvalidRecordError`` when the bytes do not add up.
    """
    position = 0
    for _ in range(record_count):
        record = _usual_record(data, position) or _any_record(data, position)
        yield record
        position = record[1]
    if position != len(data):
        raise InvalidRecordError(f"{len(data) - position} bytes follow the {record_count} records of the batch")


def _usual_record(data: bytes, start: int) -> RawRecord | None:
    """``_any_record`` written out for small positive numbers, three times as fast; None when there is another one."""
    try:
        length, at = data[start], start + 1
        if length >= 0x80:
            length, at = length & 0x7F | data[at] << 7, at + 1
        end = at + (length >> 1)
        timestamp_delta, at = data[at + 1], at + 2  # behind the attributes
        if timestamp_delta >= 0x80:
            timestamp_delta, at = timestamp_delta & 0x7F | data[at] << 7, at + 1
        offset_delta, at = data[at], at + 1
        if offset_delta >= 0x80:
            offset_delta, at = offset_delta & 0x7F | data[at] << 7, at + 1
            if offset_delta >= 0x4000:
                offset_delta, at = offset_delta & 0x3FFF | data[at] << 14, at + 1
        key_length, at = data[at], at + 1
        key_end = at + (key_length >> 1)
        value_length = data[key_end]
    except IndexError:
        return None
    if (
        (length | timestamp_delta) > 0x3FFF  # a third byte follows
        or offset_delta > 0x1FFFFF
        or (length | timestamp_delta | offset_delta | key_length) & 1  # negative; of a key: null
        or (value_length & 1 and value_length != _NULL)
        or key_length >= 0x80
        or not key_end < end <= len(data)
    ):
        return None
    return start, end, timestamp_delta >> 1, offset_delta >> 1, data[at:key_end], value_length != _NULL


def _any_record(data: bytes, start: int) -> RawRecord:
    length, position = decode_varint(data, start)
    end = position + length
    if length <= 0 or end > len(data):
        raise InvalidRecordError(f"Record of {length} bytes, {len(data) - position} are left")
    timestamp_delta, position = decode_varint(data, position + 1, MAX_VARLONG_BYTES)  # 1: the attributes
    offset_delta, position = decode_varint(data, position)
    key_length, position = decode_varint(data, position)
    key_end = position + max(key_length, 0)
    if key_end >= end:
        raise InvalidRecordError(f"Key of {key_length} bytes in a record that has {end - position} left")
    value_length, _ = decode_varint(data, key_end)
    key = data[position:key_end] if key_length >= 0 else None
    return start, end, timestamp_delta, offset_delta, key, value_length >= 0


def with_timestamp_delta(data: bytes, record: RawRecord, timestamp_delta: int) -> bytes:
    """The bytes of a record in ``data`` with another timestamp delta; all behind it stays as it is."""
    start, end, *_ = record
    _, attributes_at = decode_varint(data, start)
    _, rest_at = decode_varint(data, attributes_at + 1, MAX_VARLONG_BYTES)
    body = data[attributes_at : attributes_at + 1] + encode_varint(timestamp_delta) + data[rest_at:end]
    return encode_varint(len(body)) + body
