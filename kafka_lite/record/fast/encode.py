"""The fast twin of ``default_record.encode_record``: how producers and the broker write records.

Small numbers are looked up instead of encoded, and a record without headers is joined from its parts in one call.

Kafka 0.11: clients/.../common/record/DefaultRecord.java (writeTo) · book 10.3
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kafka_lite.common.sendable import Buffer
from kafka_lite.record import default_record
from kafka_lite.record.varint import encode_varint

_SMALL: Final = 4096
_VARINTS = tuple(encode_varint(number) for number in range(_SMALL))
_NULL: Final = b"\x01"  # the length -1


def encode_record(
    timestamp_delta: int,
    offset_delta: int,
    key: Buffer | None,
    value: Buffer | None,
    headers: Sequence[tuple[str, bytes | None]],
) -> bytes:
    """One record; see ``default_record.encode_record``."""
    if headers or not 0 <= timestamp_delta < _SMALL or not 0 <= offset_delta < _SMALL:
        return default_record.encode_record(timestamp_delta, offset_delta, key, value, headers)
    return _sized(b"".join((
        b"\0",
        _VARINTS[timestamp_delta],
        _VARINTS[offset_delta],
        _NULL if key is None else _sized(key),
        _NULL if value is None else _sized(value),
        b"\0",
    )))  # fmt: skip


def _sized(data: Buffer) -> bytes:
    size = len(data)
    return (_VARINTS[size] if size < _SMALL else encode_varint(size)) + data
