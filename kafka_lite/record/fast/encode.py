"""The fast twin of ``default_record.encode_record``: how producers and the broker write records.

Small numbers are looked up instead of encoded, and a small record without headers is joined from its parts in one call.

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
_SMALL_RECORD: Final = _SMALL - 32
"""How long key and value may be in all, so that the record's length, with all that is beside them, is small, too."""


def encode_record(
    timestamp_delta: int,
    offset_delta: int,
    key: Buffer | None,
    value: Buffer | None,
    headers: Sequence[tuple[str, bytes | None]],
) -> bytes:
    """One record; see ``default_record.encode_record``."""
    key_size = 0 if key is None else len(key)
    value_size = 0 if value is None else len(value)
    if (
        headers
        or not 0 <= timestamp_delta < _SMALL
        or not 0 <= offset_delta < _SMALL
        or key_size + value_size > _SMALL_RECORD
    ):
        return default_record.encode_record(timestamp_delta, offset_delta, key, value, headers)
    head = _VARINTS[timestamp_delta] + _VARINTS[offset_delta] + (_NULL if key is None else _VARINTS[key_size])
    value_length = _NULL if value is None else _VARINTS[value_size]
    size = 2 + len(head) + key_size + len(value_length) + value_size
    return b"".join((_VARINTS[size], b"\0", head, key or b"", value_length, value or b"", b"\0"))
