"""What the broker must know about the records of a batch, at a fraction of what decoding them costs.

Kafka 2.4: clients/.../common/record/PartialDefaultRecord.java · book 10.3

Kafka looks at every record of a batch that is produced: do the lengths add up, are the offset deltas 0, 1, 2, ...,
which timestamp is the largest, has it a key. In Python that is a microsecond for each record, more than all the rest of
an append. But records of one batch are often *alike*: all their lengths are the same, so they have the same size, and
their fields lie in the same columns::

    length   attr  ts delta  offset delta  key len  key    value len  value          headers
    d4 01    00    00        7e            06       k 0 1  c8 01      ............   00
    d4 01    00    02        80 ...                        (here offset deltas get longer, and a new run begins)

A column is a slice with a step (``data[at::size]``), and comparing slices is C's work. So the scan reads one record,
then asks how many of those that follow are like it. What it finds is exact: the record after a record of the same
length bytes starts one size further on, and so on; nothing is sampled. Records that are not alike are read one by one.

When this module has been compiled (by mypyc, from this very source), reading them one by one is twenty times as fast
as it is in the interpreter, and there is no better way; then columns are not looked at.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Final, NamedTuple

from kafka_lite.record.record import InvalidRecordError
from kafka_lite.record.varint import MAX_VARLONG_BYTES, decode_varint

MAX_OUT_OF_ORDER = 100_000
"""Batches of more records must have the offset deltas 0, 1, 2, ...: to bring others into order all records are built
anew, and a kilobyte that is compressed well holds millions."""

_NULL: Final = 1  # zig-zag of the length -1
_FIRST_WINDOW: Final = 512  # how far to look for records that are alike; more when all of a window were
_SHORT_RUN = 8
_FEW: Final = 8  # so many repeated lengths may be a run
_WORTH_A_LOOK = 12  # so few records are read faster one by one, whatever they are
_LARGEST_WINDOW = 4096
_COMPILED: Final = not __file__.endswith(".py")
_LONGEST_OFFSET_VARINT = 3  # runs end at offset delta 2**20
_LONGEST_TIMESTAMP_VARINT = 8
_CONTINUED = bytes(range(0x80, 0x100))  # bytes of a varint that are not its last
_LAST = bytes(range(0x80))
_ODD_OR_LONGER: Final = 0x4001  # bits of a negative number, and of one with a third byte
_EVEN = bytes(range(0, 0x100, 2))  # the first bytes of numbers that are not negative


class RecordScan:
    """The summary of a batch's records."""

    __slots__ = ("first_null_key", "max_timestamp_delta", "min_timestamp_delta", "offsets_are_consecutive")

    def __init__(
        self,
        min_timestamp_delta: int,
        max_timestamp_delta: int,
        offsets_are_consecutive: bool,
        first_null_key: int | None,
    ) -> None:
        self.min_timestamp_delta = min_timestamp_delta
        self.max_timestamp_delta = max_timestamp_delta
        self.offsets_are_consecutive = offsets_are_consecutive
        """Whether the offset deltas are 0, 1, 2, ..."""
        self.first_null_key = first_null_key
        """Index of the first record without a key."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RecordScan) and self._as_tuple() == other._as_tuple()

    def _as_tuple(self) -> tuple[object, ...]:
        deltas = (self.min_timestamp_delta, self.max_timestamp_delta)
        return (*deltas, self.offsets_are_consecutive, self.first_null_key)

    def __repr__(self) -> str:
        return f"RecordScan{self._as_tuple()}"


class RecordLayout(NamedTuple):
    """One record: where its parts begin, and what the scan wants to know of it."""

    start: int
    timestamp_at: int
    offset_at: int
    key_length_at: int
    key_at: int
    value_length_at: int
    value_at: int
    headers_at: int
    end: int
    timestamp_delta: int
    offset_delta: int
    has_key: bool


def scan_records(data: bytes, record_count: int) -> RecordScan:
    """Check that ``data`` is ``record_count`` well-formed records and nothing else, and sum them up.

    Raises ``InvalidRecordError`` otherwise, and for more than ``MAX_OUT_OF_ORDER`` records that are out of order.
    """
    scanner = _Scanner(data, record_count)
    scanner.scan()
    return RecordScan(scanner.oldest, scanner.newest, scanner.consecutive, scanner.first_null_key)


class _Scanner:
    """One scan: where it is, and what it has found so far."""

    def __init__(self, data: bytes, record_count: int) -> None:
        self.data = data
        self.record_count = record_count
        self.position = self.index = 0
        self.oldest: int = 1 << 64
        self.newest: int = -1 << 64
        self.consecutive = True
        self.first_null_key: int | None = None

    def scan(self) -> None:
        window = _FIRST_WINDOW
        if _COMPILED or self.record_count < _WORTH_A_LOOK:
            self._add_differing()
        while self.index < self.record_count:
            layout = read_layout(self.data, self.position)
            self._add(layout)
            run = 0 if _COMPILED else self._add_alike(layout, min(window, self.record_count - self.index))
            if run == window:
                window = min(window * 8, _LARGEST_WINDOW)
            elif run < _SHORT_RUN and self.index < self.record_count:
                window = _FIRST_WINDOW
                self._add_differing()
            if not self.consecutive and self.record_count > MAX_OUT_OF_ORDER:
                raise InvalidRecordError(f"Offsets out of order in a batch of {self.record_count} records")
        if self.position != len(self.data):
            rest = len(self.data) - self.position
            raise InvalidRecordError(f"{rest} bytes follow the {self.record_count} records of the batch")

    def _add(self, layout: RecordLayout) -> None:
        self.oldest = min(self.oldest, layout.timestamp_delta)
        self.newest = max(self.newest, layout.timestamp_delta)
        self.consecutive = self.consecutive and layout.offset_delta == self.index
        if self.first_null_key is None and not layout.has_key:
            self.first_null_key = self.index
        self.index += 1
        self.position = layout.end

    def _add_alike(self, layout: RecordLayout, limit: int) -> int:
        """Take the run of at most ``limit`` records that are like the one at ``layout``; how many there were."""
        run, times_differ = alike_records(self.data, layout, self.index, limit)
        if times_differ:
            oldest, newest = _extremes(timestamp_columns(self.data, layout, run))
            self.oldest = min(self.oldest, oldest)
            self.newest = max(self.newest, newest)
        self.index += run
        self.position += run * (layout.end - layout.start)
        return run

    def _add_differing(self) -> None:
        """Take records until some in a row are of one length, or one is in any way unusual.

        This is ``read_layout`` written out for records that have a value, whose key is shorter than 64 bytes and whose
        other numbers take up to two bytes (the offset delta three): several times as fast. Numbers stay as they are
        stored, twice what they mean; an odd one would be negative.
        """
        data, position, count, compiled = self.data, self.position, self.record_count, _COMPILED
        consecutive, first_null_key = self.consecutive, self.first_null_key
        least, most, last_delta = 0x4000, -1, -1
        last_length, repeated, worth_a_look = -1, 0, _WORTH_A_LOOK
        index = self.index
        try:
            for index in range(self.index, count):
                length, at = data[position], position + 1
                if length >= 0x80:
                    length, at = length & 0x7F | data[at] << 7, at + 1
                if not compiled and length == last_length:
                    repeated += 1
                    if repeated == _FEW and count - index >= worth_a_look:
                        break
                last_length = length
                end = at + (length >> 1)
                delta, at = data[at + 1], at + 2  # behind the attributes
                if delta >= 0x80:
                    delta, at = delta & 0x7F | data[at] << 7, at + 1
                offset, at = data[at], at + 1
                if offset >= 0x80:
                    offset, at = offset & 0x7F | data[at] << 7, at + 1
                    if offset >= 0x4000:
                        offset, at = offset & 0x3FFF | data[at] << 14, at + 1
                key_length = data[at]
                at += (key_length >> 1) + 1
                value_length, at = data[at], at + 1
                if value_length >= 0x80:
                    value_length, at = value_length & 0x7F | data[at] << 7, at + 1
                at += value_length >> 1
                if (length | delta | value_length) & _ODD_OR_LONGER or (key_length & 0x81 and key_length != _NULL):
                    break  # of a longer number nothing is known yet
                if (at + 1 != end or data[at]) and (at >= end or _skip_headers(data, at) != end):
                    break
                if offset != index << 1 or offset >= 0x200000:
                    if offset & 1 or offset >= 0x200000:
                        break
                    consecutive = False
                    if count > MAX_OUT_OF_ORDER:
                        break
                if key_length == _NULL and first_null_key is None:
                    first_null_key = index
                if delta != last_delta:
                    last_delta = delta
                    least, most = min(least, delta), max(most, delta)
                position = end
            else:
                index = count
        except IndexError:
            pass  # the end of the data: read_layout will tell what is there
        if most >= 0:
            self.oldest, self.newest = min(self.oldest, least >> 1), max(self.newest, most >> 1)
        self.position, self.index, self.consecutive, self.first_null_key = position, index, consecutive, first_null_key


def read_layout(data: bytes, start: int) -> RecordLayout:
    """Read the record at ``start``; ``InvalidRecordError`` when its parts do not add up to its length."""
    length, position = decode_varint(data, start)
    end = position + length
    timestamp_at = position + 1  # behind the attributes
    if length <= 0 or end > len(data):
        raise InvalidRecordError(f"Record of {length} bytes, {len(data) - position} are left")
    timestamp_delta, offset_at = decode_varint(data, timestamp_at, MAX_VARLONG_BYTES)
    offset_delta, key_length_at = decode_varint(data, offset_at)
    key_length, key_at = decode_varint(data, key_length_at)
    value_length_at = key_at + max(key_length, 0)
    value_length, value_at = decode_varint(data, value_length_at)
    headers_at = value_at + max(value_length, 0)
    if headers_at >= end or _skip_headers(data, headers_at) != end:
        raise InvalidRecordError(f"The parts of a record of {length} bytes do not add up to its length")
    return RecordLayout(
        start,
        timestamp_at,
        offset_at,
        key_length_at,
        key_at,
        value_length_at,
        value_at,
        headers_at,
        end,
        timestamp_delta,
        offset_delta,
        key_length >= 0,
    )


def _skip_headers(data: bytes, position: int) -> int:
    """The position behind the headers at ``position``."""
    count, position = decode_varint(data, position)
    if not 0 <= count <= len(data) - position:
        raise InvalidRecordError(f"Record claims {count} headers")
    for _ in range(count):
        key_length, position = decode_varint(data, position)
        if key_length < 0:
            raise InvalidRecordError("Header without a key")
        value_length, position = decode_varint(data, position + key_length)
        position += max(value_length, 0)
    return position


def _header_columns(data: bytes, position: int) -> list[int]:
    """Where the count and the lengths of the headers at ``position`` stand, byte by byte."""
    count, end = decode_varint(data, position)
    columns = list(range(position, end))
    for _ in range(2 * count):  # a key and a value each
        length, position = decode_varint(data, end)
        columns += range(end, position)
        end = position + max(length, 0)
    return columns


def alike_records(data: bytes, layout: RecordLayout, index: int, limit: int) -> tuple[int, bool]:
    """How many records after ``layout`` are like it, at most ``limit``, and whether some of them have other timestamps.

    Alike: the same lengths (also of the headers), varints of the same width, offset deltas that count up.
    """
    start, end, timestamp_at, offset_at = layout.start, layout.end, layout.timestamp_at, layout.offset_at
    size = end - start
    # A cheap look before the thorough one: most records that are not alike differ in length.
    if data[start : timestamp_at - 1] != data[end : timestamp_at - 1 + size]:
        return 0, False
    run = min(limit, (len(data) - end) // size)
    for at in (
        *range(start, timestamp_at - 1),
        *range(layout.key_length_at, layout.key_at),
        *range(layout.value_length_at, layout.value_at),
        *_header_columns(data, layout.headers_at),
    ):
        byte, column = data[at : at + 1], data[at + size : end + run * size : size]
        if column != byte * run:
            run = _leading(column, byte)
    times_differ = False
    for at in range(timestamp_at, offset_at):
        column = data[at + size : end + run * size : size]
        if column != data[at : at + 1] * run:
            times_differ = True
            run = _leading(column, _LAST if at == offset_at - 1 else _CONTINUED)
    run = _expected_offsets(data, layout, index, run)
    return (run, times_differ) if run > 0 else (0, False)


def timestamp_columns(data: bytes, layout: RecordLayout, run: int) -> list[bytes]:
    """The bytes of the timestamp deltas of the ``run`` records after ``layout`` that are like it: first, second, ..."""
    size, end = layout.end - layout.start, layout.end + run * (layout.end - layout.start)
    return [data[at + size : end : size] for at in range(layout.timestamp_at, layout.offset_at)]


def _leading(column: bytes, allowed: bytes) -> int:
    """How many bytes at the beginning of ``column`` are ``allowed``."""
    return len(column) - len(column.lstrip(allowed))


def _expected_offsets(data: bytes, layout: RecordLayout, index: int, run: int) -> int:
    """``run`` if the offset deltas are those that must follow, cut where they grow by a byte; 0 if they are others."""
    size = layout.end - layout.start
    width = layout.key_length_at - layout.offset_at
    if width > _LONGEST_OFFSET_VARINT:
        return 0
    run = min(run, 64 * 128 ** (width - 1) - index)
    if run <= 0:
        return 0
    for digit in range(width):
        at = layout.offset_at + digit + size
        cycle, period = _digits(digit, last=digit == width - 1)
        first = index % period
        if data[at : at + run * size : size] != cycle[first : first + run]:
            return 0
    return run


@cache
def _digits(digit: int, *, last: bool) -> tuple[bytes, int]:
    """Byte number ``digit`` of the varints of 0, 1, 2, ...: one period of them and a window more, and the period."""
    flag = 0 if last else 0x80
    if digit == 0:  # a zig-zag varint of a positive number counts by two
        cycle = bytes(value | flag for value in range(0, 0x80, 2))
    else:
        cycle = b"".join(bytes((value | flag,)) * (64 * 128 ** (digit - 1)) for value in range(0x80))
    return cycle * (2 + _LARGEST_WINDOW // len(cycle)), len(cycle)


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
    return _delta_of(min(numbers)), _delta_of(max(numbers))  # of one width: ordered as what they encode


def _delta_of(number: int) -> int:
    return decode_varint(number.to_bytes(8, "little"), 0, MAX_VARLONG_BYTES)[0]
