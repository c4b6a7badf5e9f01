"""Runs of records that are alike, found by comparing columns of bytes: for ``scan``, in the interpreter only.

Records of one batch are often *alike*: all their lengths are the same, so they have the same size, and their fields lie
in the same columns::

    length   attr  ts delta  offset delta  key len  key    value len  value          headers
    d4 01    00    00        7e            06       k 0 1  c8 01      ............   00
    d4 01    00    02        80 ...                        (offset deltas get longer here, and a new run begins)

A column is a slice with a step, ``data[at::size]``, and comparing slices is C's work: ten comparisons say of a hundred
records what takes the interpreter a hundred turns of a loop. The columns of lengths must hold the same byte in every
record, those of the offset deltas must count up, and those of the timestamp deltas must be varints of one width. The
result is exact: each record of the run begins where the one before it ends, and nothing is sampled.

Kafka 2.4: clients/.../common/record/PartialDefaultRecord.java · book 10.3
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Final, NamedTuple

from kafka_lite.record.record import InvalidRecordError
from kafka_lite.record.varint import MAX_VARLONG_BYTES, decode_varint

_LONGEST_RUN: Final = 4096
_LONGEST_OFFSET_VARINT: Final = 3  # up to offset delta 2**20
_LONGEST_TIMESTAMP_VARINT: Final = 8
_CONTINUED = bytes(range(0x80, 0x100))  # bytes of a varint that are not its last
_LAST = bytes(range(0x80))
_EVEN = bytes(range(0, 0x100, 2))  # first bytes of numbers that are not negative


class Run(NamedTuple):
    """Records that are alike."""

    record_count: int
    end: int
    """The position behind the last of them."""
    min_timestamp_delta: int
    max_timestamp_delta: int
    has_key: bool


class _Layout(NamedTuple):
    """One record: where its parts begin, and what there is to know of it."""

    timestamp_at: int
    offset_at: int
    key_length_at: int
    lengths_at: list[int]
    """Each byte of the lengths of the record, its key, its value and its headers, and of the number of headers."""
    timestamp_delta: int
    offset_delta: int
    has_key: bool


def find_run(data: bytes, position: int, index: int, limit: int) -> Run | None:
    """The run that begins at ``position`` with the offset delta ``index``, of at most ``limit`` records.

    None if there are not at least two, or the first is not valid.
    """
    try:
        length, attributes_at = decode_varint(data, position)
        end = attributes_at + length
        size = end - position
        # A cheap look before the thorough one: most records that are not alike differ in length.
        if length <= 0 or data[position:attributes_at] != data[end : attributes_at + size]:
            return None
        layout = _layout(data, position, attributes_at, end)
    except InvalidRecordError:
        return None
    if layout is None or layout.offset_delta != index:
        return None
    count = min(limit, _LONGEST_RUN, (len(data) - position) // size)
    for at in layout.lengths_at:
        byte, column = data[at : at + 1], data[at : position + count * size : size]
        if column != byte * count:
            count = _leading(column, byte)
    times_differ = False
    for at in range(layout.timestamp_at, layout.offset_at):
        byte, column = data[at : at + 1], data[at : position + count * size : size]
        if column != byte * count:
            times_differ = True
            count = _leading(column, _LAST if at == layout.offset_at - 1 else _CONTINUED)
    count = _expected_offsets(data, layout, index, count, size)
    if count < 2:
        return None
    end = position + count * size
    least = most = layout.timestamp_delta
    if times_differ:
        least, most = _extremes([data[at:end:size] for at in range(layout.timestamp_at, layout.offset_at)])
    return Run(count, end, least, most, layout.has_key)


def _layout(data: bytes, start: int, attributes_at: int, end: int) -> _Layout | None:
    """The record from ``start`` to ``end``; None, or ``InvalidRecordError``, if its parts do not add up to that."""
    timestamp_at = attributes_at + 1
    timestamp_delta, offset_at = decode_varint(data, timestamp_at, MAX_VARLONG_BYTES)
    offset_delta, key_length_at = decode_varint(data, offset_at)
    key_length, key_at = decode_varint(data, key_length_at)
    value_length_at = key_at + max(key_length, 0)
    value_length, value_at = decode_varint(data, value_length_at)
    headers_at = value_at + max(value_length, 0)
    lengths_at = [*range(start, attributes_at), *range(key_length_at, key_at), *range(value_length_at, value_at)]
    header_count, position = decode_varint(data, headers_at)
    if not 0 <= header_count <= end - position:
        return None
    lengths_at += range(headers_at, position)
    for _ in range(header_count):
        name_length_at = position
        name_length, position = decode_varint(data, position)
        if name_length < 0:
            return None
        lengths_at += range(name_length_at, position)
        content_length_at = position + name_length
        content_length, position = decode_varint(data, content_length_at)
        lengths_at += range(content_length_at, position)
        position += max(content_length, 0)
    if position != end:
        return None
    return _Layout(timestamp_at, offset_at, key_length_at, lengths_at, timestamp_delta, offset_delta, key_length >= 0)


def _leading(column: bytes, allowed: bytes) -> int:
    """How many bytes at the beginning of ``column`` are ``allowed``."""
    return len(column) - len(column.lstrip(allowed))


def _expected_offsets(data: bytes, layout: _Layout, index: int, count: int, size: int) -> int:
    """``count`` if the offset deltas are ``index`` and those that must follow, cut where they get longer by a byte.

    0 if they are others.
    """
    width = layout.key_length_at - layout.offset_at
    if width > _LONGEST_OFFSET_VARINT:
        return 0
    count = min(count, 64 * 128 ** (width - 1) - index)
    for digit in range(width):
        at = layout.offset_at + digit
        cycle, period = _digits(digit, is_last=digit == width - 1)
        first = index % period
        if data[at : at + count * size : size] != cycle[first : first + count]:
            return 0
    return count


@cache
def _digits(digit: int, *, is_last: bool) -> tuple[bytes, int]:
    """Byte number ``digit`` of the varints of 0, 1, 2, ..., and after how many of them it begins again.

    As many as one period and the longest run have.
    """
    flag = 0 if is_last else 0x80
    if digit == 0:  # a zig-zag varint of a positive number counts by two
        cycle = bytes(value | flag for value in range(0, 0x80, 2))
    else:
        cycle = b"".join(bytes((value | flag,)) * (64 * 128 ** (digit - 1)) for value in range(0x80))
    return cycle * (2 + _LONGEST_RUN // len(cycle)), len(cycle)


def _extremes(columns: list[bytes]) -> tuple[int, int]:
    """The least and the largest of the timestamp deltas whose varint bytes are ``columns``.

    The columns are laid side by side as integers of eight bytes, and only those among them that differ are decoded.
    """
    if len(columns) > _LONGEST_TIMESTAMP_VARINT:
        deltas = {decode_varint(bytes(varint), 0, MAX_VARLONG_BYTES)[0] for varint in zip(*columns, strict=True)}
        return min(deltas), max(deltas)
    side_by_side = bytearray(8 * len(columns[0]))
    for place, column in enumerate(columns):
        side_by_side[place if sys.byteorder == "little" else 7 - place :: 8] = column
    numbers = set(memoryview(side_by_side).cast("Q"))
    if columns[0].translate(None, _EVEN):  # there are negative ones
        deltas = {_delta_of(number) for number in numbers}
        return min(deltas), max(deltas)
    return _delta_of(min(numbers)), _delta_of(max(numbers))  # all of one width, so they sort like what they encode


def _delta_of(number: int) -> int:
    return decode_varint(number.to_bytes(8, "little"), 0, MAX_VARLONG_BYTES)[0]
