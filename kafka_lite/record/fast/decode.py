"""The fast twins of ``decode_records`` and ``decode_partial_records`` in ``default_record``.

Consumers and conversions read whole records, the log cleaner partial ones.

The plain decoder calls a function for each number and each field, which costs several times what the work in it costs.
Here the calls are written out in one loop, for numbers that are not negative and take up to two bytes (deltas: three).
Numbers stay as they are stored, twice what they mean, until the end: the lowest bit of a negative one is set.

Kafka 0.11: clients/.../common/record/DefaultRecord.java (readFrom) · book 10.3
"""

from __future__ import annotations

from typing import Final

from kafka_lite.record.default_record import (
    DecodedRecord,
    PartialRecord,
    decode_headers,
    decode_partial_record,
    decode_record,
)
from kafka_lite.record.record import Header, InvalidRecordError

_NULL: Final = 1  # the length -1, as it is stored
_ODD_OR_LONGER: Final = 0x4001  # bits of a negative number, and of one with a third byte
_ODD_OR_LONGEST: Final = 0x200001  # the same of a delta, which may have three bytes


def decode_records(data: bytes, position: int, limit: int) -> list[DecodedRecord]:
    """The records from ``position`` on, at most ``limit``; see ``default_record.decode_records``."""
    records: list[DecodedRecord] = []
    while len(records) < limit:
        position = _decode_usual_records(data, position, limit, records)
        if len(records) < limit:
            try:
                record = decode_record(data, position)
            except InvalidRecordError:
                if not records:
                    raise
                break
            records.append(record)
            position = record[5]
    return records


def _decode_usual_records(data: bytes, position: int, limit: int, records: list[DecodedRecord]) -> int:
    """Append records until there are ``limit`` of them or one is in any way unusual; returns where that one begins."""
    append = records.append
    key: bytes | None
    value: bytes | None
    try:
        for _ in range(limit - len(records)):
            length, at = data[position], position + 1
            if length >= 0x80:
                length, at = length & 0x7F | data[at] << 7, at + 1
            end = at + (length >> 1)
            timestamp_delta, at = data[at + 1], at + 2  # behind the attributes
            if timestamp_delta >= 0x80:
                timestamp_delta, at = timestamp_delta & 0x7F | data[at] << 7, at + 1
                if timestamp_delta >= 0x4000:
                    timestamp_delta, at = timestamp_delta & 0x3FFF | data[at] << 14, at + 1
            offset_delta, at = data[at], at + 1
            if offset_delta >= 0x80:
                offset_delta, at = offset_delta & 0x7F | data[at] << 7, at + 1
                if offset_delta >= 0x4000:
                    offset_delta, at = offset_delta & 0x3FFF | data[at] << 14, at + 1
            key_length, at = data[at], at + 1
            if key_length == _NULL:
                key_length, key = 0, None
            else:
                if key_length >= 0x80:
                    key_length, at = key_length & 0x7F | data[at] << 7, at + 1
                key = data[at : at + (key_length >> 1)]
                at += key_length >> 1
            value_length, at = data[at], at + 1
            if value_length == _NULL:
                value_length, value = 0, None
            else:
                if value_length >= 0x80:
                    value_length, at = value_length & 0x7F | data[at] << 7, at + 1
                value = data[at : at + (value_length >> 1)]
                at += value_length >> 1
            lengths, deltas = length | key_length | value_length, timestamp_delta | offset_delta
            if lengths & _ODD_OR_LONGER or deltas & _ODD_OR_LONGEST:
                break  # a negative number, or a longer one, so that what was read behind it means nothing
            headers: tuple[Header, ...] = ()
            if at + 1 != end or data[at]:  # most records have no headers
                headers, at = decode_headers(data, at, end)
                if at != end or end > len(data):
                    break
            append((timestamp_delta >> 1, offset_delta >> 1, key, value, headers, end))
            position = end
    except (IndexError, InvalidRecordError):
        pass  # the data is cut short or broken, and the plain decoder will say how
    return position


def decode_partial_records(data: bytes, position: int, limit: int) -> list[PartialRecord]:
    """The same without values and headers; see ``default_record.decode_partial_records``."""
    records: list[PartialRecord] = []
    while len(records) < limit:
        position = _decode_usual_partial_records(data, position, limit, records)
        if len(records) < limit:
            try:
                record = decode_partial_record(data, position)
            except InvalidRecordError:
                if not records:
                    raise
                break
            records.append(record)
            position = record[4]
    return records


def _decode_usual_partial_records(data: bytes, position: int, limit: int, records: list[PartialRecord]) -> int:
    """The loop above without values and headers; keys are usual up to 63 bytes."""
    append, size = records.append, len(data)
    key: bytes | None
    try:
        for _ in range(limit - len(records)):
            length, at = data[position], position + 1
            if length >= 0x80:
                length, at = length & 0x7F | data[at] << 7, at + 1
            end = at + (length >> 1)
            timestamp_delta, at = data[at + 1], at + 2  # behind the attributes
            if timestamp_delta >= 0x80:
                timestamp_delta, at = timestamp_delta & 0x7F | data[at] << 7, at + 1
                if timestamp_delta >= 0x4000:
                    timestamp_delta, at = timestamp_delta & 0x3FFF | data[at] << 14, at + 1
            offset_delta, at = data[at], at + 1
            if offset_delta >= 0x80:
                offset_delta, at = offset_delta & 0x7F | data[at] << 7, at + 1
                if offset_delta >= 0x4000:
                    offset_delta, at = offset_delta & 0x3FFF | data[at] << 14, at + 1
            key_length, at = data[at], at + 1
            if key_length == _NULL:
                key_length, key = 0, None
            else:
                key = data[at : at + (key_length >> 1)]
                at += key_length >> 1
            has_value = data[at] & 1 == 0  # the length of the value is not negative
            if (length | timestamp_delta | offset_delta | key_length) & 1:
                break  # a negative number
            if length >= 0x4000 or key_length >= 0x80 or (timestamp_delta | offset_delta) >= 0x200000:
                break  # a longer number, so what was read behind it means nothing
            if not at < end <= size:
                break
            append((timestamp_delta >> 1, offset_delta >> 1, key, has_value, end))
            position = end
    except IndexError:
        pass  # the data is cut short, and the plain decoder will say where
    return position
