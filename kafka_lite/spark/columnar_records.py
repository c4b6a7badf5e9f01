"""Decodes the records of format v2 by column instead of by record: no Python object per record.

Kafka 0.10.2: clients/.../clients/consumer/internals/Fetcher.java (parseRecord) · book 4.1.5

Only the chain of the records must be followed one by one, since each begins where the one before it ends. All else is
done for all records at once: numpy decodes a column of varints in as many steps as the longest of them has bytes, and
Arrow gathers keys and values in C.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kafka_lite.record.record import InvalidRecordError
from kafka_lite.record.varint import MAX_VARINT_BYTES, MAX_VARLONG_BYTES, decode_varint

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

_MIN_RECORD_BYTES = 7  # length, attributes, two deltas, no key, no value, no headers


@dataclass(frozen=True)
class Spans:
    """Byte strings that lie in one buffer, in ascending order: where each begins and how long it is (-1: null)."""

    starts: Ints
    lengths: Ints

    def select(self, rows: Ints) -> Spans:
        """Only these rows (ascending)."""
        return Spans(self.starts[rows], self.lengths[rows])

    def gather(self, buffer: bytes) -> pa.Array:
        """The byte strings as an Arrow array of type binary."""
        ends = self.starts + np.maximum(self.lengths, 0)
        if not len(ends):
            return pa.array([], pa.binary())
        # An Arrow array has its strings side by side. So the buffer itself is read as an array whose even elements are
        # the strings and whose odd ones are the gaps between them, and the even ones are then taken out.
        edges = np.empty(2 * len(ends), np.int32)
        edges[0::2], edges[1::2] = self.starts, ends
        parts = [None, pa.py_buffer(edges), pa.py_buffer(buffer)]
        strings_and_gaps = pa.BinaryArray.from_buffers(pa.binary(), len(edges) - 1, parts)
        nulls = self.lengths < 0
        even = pa.array(np.arange(0, len(edges), 2, dtype=np.int32), mask=nulls if nulls.any() else None)
        return strings_and_gaps.take(even)


@dataclass(frozen=True)
class RecordColumns:
    """The fields of many records as columns over the buffer that they lie in."""

    buffer: bytes
    timestamp_deltas: Ints
    offset_deltas: Ints
    keys: Spans
    values: Spans
    header_counts: Ints
    header_positions: Ints
    ends: Ints

    def select(self, rows: Ints) -> RecordColumns:
        """Only these rows (ascending)."""
        return RecordColumns(
            self.buffer,
            self.timestamp_deltas[rows],
            self.offset_deltas[rows],
            self.keys.select(rows),
            self.values.select(rows),
            self.header_counts[rows],
            self.header_positions[rows],
            self.ends[rows],
        )


def decode_columns(buffer: bytes, count: int) -> RecordColumns:
    r"""The ``count`` records that fill ``buffer``, which is shorter than 2 GB.

    ::

        +--------+---------------+-----------------+--------------+------------+-----+--------------+-------+---------
        | length | attributes I8 | timestamp delta | offset delta | key length | key | value length | value | headers
        +--------+---------------+-----------------+--------------+------------+-----+--------------+-------+---------
        ^ starts          ^ + 1 + 1: the cursor then moves through all records in step

    Raises ``InvalidRecordError`` when these are not ``count`` records, or their fields do not fit into them.
    """
    if not 0 <= count * _MIN_RECORD_BYTES <= len(buffer):
        raise InvalidRecordError(f"{len(buffer)} bytes are not {count} records")
    starts = np.fromiter(_starts(buffer, count), np.int64, count)
    cursor = _Cursor(np.frombuffer(buffer, np.uint8), starts)
    lengths = cursor.varints(MAX_VARINT_BYTES)
    ends = cursor.positions + lengths
    if not np.array_equal(ends, np.append(starts[1:], len(buffer))[:count]):
        raise InvalidRecordError(f"{len(buffer)} bytes are not {count} records")
    cursor.positions += 1  # the attributes, which have no meaning yet
    timestamp_deltas = cursor.varints(MAX_VARLONG_BYTES)
    offset_deltas = cursor.varints(MAX_VARINT_BYTES)
    keys = cursor.spans()
    values = cursor.spans()
    header_counts = cursor.varints(MAX_VARINT_BYTES)
    if (cursor.positions > ends).any() or (header_counts < 0).any():
        raise InvalidRecordError("a field is longer than its record")
    return RecordColumns(buffer, timestamp_deltas, offset_deltas, keys, values, header_counts, cursor.positions, ends)


def _starts(buffer: bytes, count: int) -> Iterator[int]:
    """Where each record begins. Lengths of one and two bytes are decoded in place: this is the one loop per record."""
    position = 0
    try:
        for _ in range(count):
            yield position
            byte = buffer[position]
            if byte < 0x80:
                position += 1 + (byte >> 1)
            elif (high := buffer[position + 1]) < 0x80:
                position += 2 + ((byte & 0x7F | high << 7) >> 1)
            else:
                length, position = decode_varint(buffer, position)
                position += max(length, 0)
    except IndexError:
        raise InvalidRecordError(f"{len(buffer)} bytes are less than {count} records") from None


class _Cursor:
    """A position in every record, which all move on together."""

    def __init__(self, buffer: Bytes, positions: Ints) -> None:
        # Zeros behind the end let a varint that is cut short be read like any other; bounds are checked once, later.
        self._buffer = np.append(buffer, np.zeros(MAX_VARLONG_BYTES, np.uint8))
        self.positions = positions.copy()

    def varints(self, max_bytes: int) -> Ints:
        """The varint at every position, which moves behind it."""
        values = np.zeros(len(self.positions), np.uint64)
        unfinished = np.arange(len(self.positions))
        for index in range(max_bytes):
            octets = self._octets(unfinished)
            values[unfinished] |= (octets & 0x7F).astype(np.uint64) << np.uint64(7 * index)
            self.positions[unfinished] += 1
            unfinished = unfinished[octets >= 0x80]
            if not len(unfinished):
                break
        else:
            raise InvalidRecordError(f"a varint is longer than {max_bytes} bytes")
        signs = (values & np.uint64(1)).astype(np.int64)
        return (values >> np.uint64(1)).astype(np.int64) ^ -signs

    def spans(self) -> Spans:
        """The string with its length before it at every position, which moves behind it."""
        lengths = self.varints(MAX_VARINT_BYTES)
        starts = self.positions.copy()
        self.positions += np.maximum(lengths, 0)
        return Spans(starts, lengths)

    def keep(self, rows: Ints) -> None:
        """Go on with these rows only."""
        self.positions = self.positions[rows]

    def _octets(self, rows: Ints) -> Bytes:
        try:
            return self._buffer[self.positions[rows]]
        except IndexError:
            raise InvalidRecordError("a field is longer than its record") from None


@dataclass(frozen=True)
class HeaderColumns:
    """The headers of many records, flat: those of the first record, those of the second, and so on."""

    counts: Ints
    keys: Spans
    values: Spans


def decode_headers(columns: RecordColumns) -> HeaderColumns:
    """The headers of all records, again all at once: first the first header of every record, then the second.

    Raises ``InvalidRecordError`` when they do not end where their records end.
    """
    rows = np.flatnonzero(columns.header_counts)
    cursor = _Cursor(np.frombuffer(columns.buffer, np.uint8), columns.header_positions[rows])
    fields: list[Ints] = []  # of each round: row, key start, key length, value start, value length
    ends = columns.ends
    index = 0
    while len(rows):
        keys, values = cursor.spans(), cursor.spans()
        if (cursor.positions > ends[rows]).any() or (keys.lengths < 0).any():
            raise InvalidRecordError("the headers are longer than their record, or one has no key")
        fields.append(np.stack((rows, keys.starts, keys.lengths, values.starts, values.lengths)))
        index += 1
        unfinished = np.flatnonzero(columns.header_counts[rows] > index)
        cursor.keep(unfinished)
        rows = rows[unfinished]
    flat = np.concatenate(fields, axis=1) if fields else np.empty((5, 0), np.int64)
    flat = flat[:, np.argsort(flat[1])]  # by position in the buffer, which is by record and then by header
    return HeaderColumns(columns.header_counts, Spans(flat[1], flat[2]), Spans(flat[3], flat[4]))
