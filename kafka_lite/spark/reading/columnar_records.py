"""Decodes records of format v2 by column instead of by record, for Arrow's columnar arrays.

Only the record boundaries are found one by one, since each record begins where the previous one ends. Everything else
is done for all records at once: numpy decodes a column of varints in as many steps as the longest one has bytes, and
Arrow gathers keys and values in C. No Python object is created per record, so this takes less than half the time of the
consumer's loop (``record.fast.decode``) plus Arrow arrays built from its objects. A property test compares it with the
plain decoder.

Kafka 0.10.2: clients/.../clients/consumer/internals/Fetcher.java (parseRecord) · book 4.1.5
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
    """Byte strings within one buffer, in ascending order: start and length of each (length -1: null)."""

    starts: Ints
    lengths: Ints

    def select(self, rows: Ints) -> Spans:
        """A selection of rows (ascending)."""
        return Spans(self.starts[rows], self.lengths[rows])

    def gather(self, buffer: bytes) -> pa.Array:
        """The byte strings as an Arrow array of type binary."""
        ends = self.starts + np.maximum(self.lengths, 0)
        if not len(ends):
            return pa.array([], pa.binary())
        # Arrow stores an array's strings contiguously. So interpret the buffer as an array whose even elements are the
        # strings and whose odd elements are the gaps between them, then take the even ones.
        edges = np.empty(2 * len(ends), np.int32)
        edges[0::2], edges[1::2] = self.starts, ends
        parts = [None, pa.py_buffer(edges), pa.py_buffer(buffer)]
        strings_and_gaps = pa.BinaryArray.from_buffers(pa.binary(), len(edges) - 1, parts)
        nulls = self.lengths < 0
        even = pa.array(np.arange(0, len(edges), 2, dtype=np.int32), mask=nulls if nulls.any() else None)
        return strings_and_gaps.take(even)


@dataclass(frozen=True)
class RecordColumns:
    """The fields of many records as columns over the buffer that contains them."""

    buffer: bytes
    timestamp_deltas: Ints
    offset_deltas: Ints
    keys: Spans
    values: Spans
    headers_at: Ints
    """Positions of the headers, behind their count."""
    header_counts: Ints
    ends: Ints

    def select(self, rows: Ints) -> RecordColumns:
        """A selection of rows (ascending)."""
        return RecordColumns(
            self.buffer,
            self.timestamp_deltas[rows],
            self.offset_deltas[rows],
            self.keys.select(rows),
            self.values.select(rows),
            self.headers_at[rows],
            self.header_counts[rows],
            self.ends[rows],
        )


def decode_columns(buffer: bytes, count: int) -> RecordColumns:
    """Decode the ``count`` records that fill ``buffer`` (under 2 GB); ``default_record`` has a figure of the format.

    Raises ``InvalidRecordError`` if these are not ``count`` records or a record's fields do not match its length.
    Headers are only counted here; ``default_record.decode_headers`` decodes them if needed.
    """
    if not 0 <= count * _MIN_RECORD_BYTES <= len(buffer):
        raise InvalidRecordError(f"{len(buffer)} bytes are not {count} records")
    starts = np.fromiter(_starts(buffer, count), np.int64, count)
    cursor = _Cursor(np.frombuffer(buffer, np.uint8), starts)
    lengths = cursor.varints(MAX_VARINT_BYTES)
    ends = cursor.positions + lengths
    if not np.array_equal(np.append(0, ends), np.append(starts, len(buffer))):
        raise InvalidRecordError(f"{len(buffer)} bytes are not {count} records")
    cursor.positions += 1  # skip the attributes, which are unused
    timestamp_deltas = cursor.varints(MAX_VARLONG_BYTES)
    offset_deltas = cursor.varints(MAX_VARINT_BYTES)
    keys = cursor.spans()
    values = cursor.spans()
    headers_at = cursor.positions.copy()
    header_counts = cursor.varints(MAX_VARINT_BYTES)
    has_headers = header_counts != 0  # a record without headers must end here
    if (cursor.positions > ends).any() or (cursor.positions < ends)[~has_headers].any() or (header_counts < 0).any():
        raise InvalidRecordError("the fields of a record do not add up to its length")
    return RecordColumns(buffer, timestamp_deltas, offset_deltas, keys, values, headers_at, header_counts, ends)


def _starts(buffer: bytes, count: int) -> Iterator[int]:
    """Start of each record. One- and two-byte lengths are decoded inline: this is the only per-record loop."""
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
    """A position in every record; all positions advance together."""

    def __init__(self, buffer: Bytes, positions: Ints) -> None:
        # Zero padding lets truncated varints be decoded like any other; bounds are checked once, later.
        self._buffer = np.append(buffer, np.zeros(MAX_VARLONG_BYTES, np.uint8))
        self.positions = positions.copy()

    def varints(self, max_bytes: int) -> Ints:
        """Decode the varint at every position and advance past it."""
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
        """The length-prefixed string at every position; advances past it."""
        lengths = self.varints(MAX_VARINT_BYTES)
        starts = self.positions.copy()
        self.positions += np.maximum(lengths, 0)
        return Spans(starts, lengths)

    def _octets(self, rows: Ints) -> Bytes:
        try:
            return self._buffer[self.positions[rows]]
        except IndexError:
            raise InvalidRecordError("a field is longer than its record") from None
