"""How a record is cut into its fields by one call, once a record of the same lengths has been seen.

Kafka 0.11: clients/.../common/record/DefaultRecord.java (readFrom) · book 10.3

To read a record field by field takes the interpreter a hundred steps. But when the first bytes of a record say how long
it is and how long its key is, and it has no headers, then all its fields stand where they stand in every such record::

    offset   0      2     3                4             5        6       11           13                     1013
            +------+-----+----------------+-------------+--------+-------+------------+----------------------+---------+
            |length|attr |timestamp delta |offset delta |key     |key    |value length|value                 |header   |
            |f0 0f |     |                |             |length  |       |d0 0f       |                      |count    |
            |      |     |                |             |0a      |       |            |                      |0        |
            +------+-----+----------------+-------------+--------+-------+------------+----------------------+---------+
             ^^^^^                                       ^^ these bytes are the key of a shape
    struct   3x           B                B             x        5s      H            1000s                  B

A varint of two bytes is read as one number, as it lies (``H``): to know whether it is the one that is expected it need
not be decoded. The widths of the deltas change with nearly every batch, once or twice: so there are shapes for each
pair of widths, and who reads takes those of the record that it is at, until a delta is of another width.

Only the interpreter needs this: when the reader has been compiled, it reads field by field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from struct import Struct
from typing import Any, NamedTuple

from kafka_lite.common.sendable import Buffer
from kafka_lite.record.varint import encode_varint

_NULL = 1  # zig-zag of the length -1
_ONE_BYTE, _TWO_BYTES = 64, 8192
"""From this length or delta on, its varint takes one byte more."""
_FIELDS = {1: "B", 2: "H", 3: "3s"}


def _as_it_lies(number: int) -> int:
    """What the varint of a number from 0 to 8191 is when its bytes are read as one little-endian number."""
    doubled = number << 1
    return doubled if number < _ONE_BYTE else doubled & 0x7F | 0x80 | doubled >> 7 << 8


_VARINTS = tuple(map(_as_it_lies, range(_TWO_BYTES)))


@lru_cache(maxsize=16)
def _long_varints(block: int) -> tuple[bytes, ...]:
    """Of the numbers from 8192 times ``block`` on, which is not 0."""
    return tuple(map(encode_varint, range(block * _TWO_BYTES, (block + 1) * _TWO_BYTES)))


def varints_from(first: int, limit: int) -> tuple[int, ...] | tuple[bytes, ...]:
    """``first``, ``first`` + 1, ...: their varints as they lie; at most ``limit``, and as many as are of one width."""
    if first < _TWO_BYTES:
        return _VARINTS[first : min(first + limit, _ONE_BYTE if first < _ONE_BYTE else _TWO_BYTES)]
    at = first % _TWO_BYTES
    return _long_varints(first // _TWO_BYTES)[at : at + limit]


class RecordShape(NamedTuple):
    """All records of this length and this length of key."""

    cut: Callable[[bytes, int], tuple[Any, ...]]
    """``cut(data, position)``: timestamp delta, offset delta, key, value length, value, number of headers.

    Numbers are varints as they lie; raises struct.error when the data ends before the record.
    """
    size: int
    """Bytes of the record, its length included."""
    key_size: int
    """-1 without a key; ``cut`` gives an empty one."""
    value_size: int
    """Unless there are headers: then what ``cut`` says of the value length is another than ``value_length``."""
    value_length: int
    """The varint of ``value_size``."""
    cut_all: Callable[[Buffer], Iterator[tuple[Any, ...]]]
    """``cut`` of each record of ``data`` that is nothing but records of this shape."""


class RecordShapes(dict[int, RecordShape]):
    """The shapes of records whose deltas have these widths, by ``length | next byte << 8 | length of the key << 16``.

    The numbers in it are bytes as they lie; the next byte is the second of the length, or the attributes, which are 0.
    Shapes are made when they are asked for. Raises KeyError for records that have none: long ones (of 8 KB), those with
    long keys (of 64 bytes), broken ones; and for new shapes when there are ``MAX_SHAPES``.
    """

    MAX_SHAPES = 2048
    """Of a kilobyte each. Where lengths differ more than that, most records are read field by field."""

    def __init__(self, timestamp_width: int, offset_width: int) -> None:
        super().__init__()
        self._deltas = _FIELDS[timestamp_width] + _FIELDS[offset_width]
        self.deltas_size = timestamp_width + offset_width
        """Bytes between the attributes and the length of the key."""
        self.timestamp_begins = bytes(range(0x80)) if timestamp_width == 1 else bytes(range(0x80, 0x100))
        """What the first byte of a timestamp delta may be."""
        self.timestamp_mask, self.timestamp_flags = (0x81, 0) if timestamp_width == 1 else (0x8081, 0x80)
        """What the mask leaves of a timestamp delta of this width that is not negative."""

    def __missing__(self, key: int) -> RecordShape:
        shape = self._shape(key & 0xFF, key >> 8 & 0xFF, key >> 16)
        if shape is None or len(self) >= self.MAX_SHAPES:
            raise KeyError(key)
        self[key] = shape
        return shape

    def _shape(self, low: int, high: int, key_length: int) -> RecordShape | None:
        length, width = (low, 1) if low < 0x80 else (low & 0x7F | high << 7, 2)
        is_two_bytes = high < 0x80 if width == 2 else high == 0
        if not is_two_bytes or length & 1 or key_length >= 0x80 or (key_length & 1 and key_length != _NULL):
            return None
        key_size = key_length >> 1
        # Without the attributes, the length of the key and the number of headers, a byte each:
        rest = (length >> 1) - self.deltas_size - key_size - 3
        value_width = 1 if rest - 1 < _ONE_BYTE else 2
        value_size = rest - value_width
        if not 0 <= value_size < _TWO_BYTES or (value_width == 2 and value_size < _ONE_BYTE):
            return None
        fields = Struct(f"<{width + 1}x{self._deltas}x{key_size}s{_FIELDS[value_width]}{value_size}sB")
        if key_length == _NULL:
            key_size = -1
        return RecordShape(
            fields.unpack_from, fields.size, key_size, value_size, _VARINTS[value_size], fields.iter_unpack
        )


_BY_WIDTHS = {(timestamp, offset): RecordShapes(timestamp, offset) for timestamp in (1, 2) for offset in (1, 2, 3)}


def shapes_at(data: bytes, position: int) -> tuple[RecordShapes, int]:
    """The shapes to look into for the record at ``position``, and its offset delta, if it has any shape.

    Raises IndexError at the end of the data.
    """
    at = position + (2 if data[position] < 0x80 else 3)
    timestamp_width = 1 if data[at] < 0x80 else 2
    at += timestamp_width
    offset = data[at]
    if offset < 0x80:
        return _BY_WIDTHS[timestamp_width, 1], offset >> 1
    offset = offset & 0x7F | data[at + 1] << 7
    if offset < 0x4000:
        return _BY_WIDTHS[timestamp_width, 2], offset >> 1
    return _BY_WIDTHS[timestamp_width, 3], (offset & 0x3FFF | data[at + 2] << 14) >> 1


def timestamp_delta(varint: int) -> int:
    """The number whose varint of one or two bytes lies so; not negative."""
    return varint >> 1 & 0x3F | varint >> 2 & 0x1FC0
