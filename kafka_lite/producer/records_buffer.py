"""Encoded records in a buffer of the pool, which leaves as a batch without having been copied.

Kafka 0.10.2: clients/.../common/record/MemoryRecordsBuilder.java · book 2.1.1
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from kafka_lite.common.crc32c import crc32c
from kafka_lite.common.sendable import Buffer
from kafka_lite.record.compression import CompressionType, compress
from kafka_lite.record.default_record import encode_record
from kafka_lite.record.default_record_batch import HEADER, RECORD_BATCH_OVERHEAD
from kafka_lite.record.message_set import RECORD_OVERHEAD, encode_message
from kafka_lite.record.record import (
    MAGIC_V2,
    NO_PARTITION_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    Header,
)
from kafka_lite.record.record_batch import LOG_OVERHEAD
from kafka_lite.record.varint import encode_varint

Headers = Sequence[tuple[str, bytes | None]]

_CRC = struct.Struct(">I")
_CRC_POSITION = 17
_CRC_COVERS_FROM = 21
_MAX_VARINTS_BYTES = 5 + 1 + 10 + 5 + 5 + 5 + 5
"""Of a record of v2: length, attributes, timestamp delta, offset delta, lengths of key and value, count of headers."""
_VARINTS = tuple(encode_varint(number) for number in range(4096))
_SMALL = len(_VARINTS)


class RecordsBuffer:
    """Appends records to ``buffer`` until they fit no more, and makes a batch of them.

    ::

        v2      [ room for the header │ record │ record │ … free … ]      61 bytes are left free at the front
        v0, v1  [ message │ message │ … free … ]

    Without compression the batch *is* the buffer. Compressed records are written back over the plain ones. The limit
    counts plain bytes, as in librdkafka: so the memory that is handed out for a batch bounds it in either case. (Java's
    producer estimates the ratio, and lets a buffer grow when the estimate was wrong.)
    """

    __slots__ = (
        "_base_timestamp", "_buffer", "_compression", "_first_position", "_level", "_max_timestamp", "_position",
        "count", "magic", "max_record_size",
    )  # fmt: skip

    def __init__(
        self, buffer: bytearray, magic: int, compression: CompressionType, compression_level: int | None = None
    ) -> None:
        self.magic = magic
        self.count = 0
        """Records so far."""
        self.max_record_size = 0
        """Bytes of the largest of them, before compression."""
        self._buffer = buffer
        self._compression = compression
        self._level = compression_level
        self._first_position = RECORD_BATCH_OVERHEAD if magic >= MAGIC_V2 else 0
        self._position = self._first_position
        self._base_timestamp = self._max_timestamp = NO_TIMESTAMP

    @staticmethod
    def estimate_size(magic: int, key: bytes | None, value: bytes | None, headers: Headers) -> int:
        """Bytes that a batch of this record alone needs at most."""
        payload = (0 if key is None else len(key)) + (0 if value is None else len(value))
        if magic < MAGIC_V2:
            return LOG_OVERHEAD + RECORD_OVERHEAD[magic] + payload
        for name, content in headers:
            payload += 10 + 4 * len(name) + (0 if content is None else len(content))
        return RECORD_BATCH_OVERHEAD + _MAX_VARINTS_BYTES + payload

    @property
    def estimated_size_in_bytes(self) -> int:
        """Of the batch, before compression."""
        return self._position

    @property
    def is_full(self) -> bool:
        """Whether nothing more fits for sure."""
        return self._position + _MAX_VARINTS_BYTES >= len(self._buffer)

    def trim(self) -> None:
        """Make the buffer as small as its content: nothing more fits."""
        del self._buffer[self._position :]

    def append(self, timestamp: int, key: bytes | None, value: bytes | None, headers: Headers) -> bool:
        """Add a record; false when it does not fit."""
        if self.magic >= MAGIC_V2:
            encoded = self._encode(timestamp, key, value, headers)
        else:
            encoded = encode_message(self.magic, self.count, 0, timestamp, key, value)
        size = len(encoded)
        end = self._position + size
        if end > len(self._buffer):
            return False
        self._buffer[self._position : end] = encoded
        self._position = end
        if size > self.max_record_size:
            self.max_record_size = size
        if self.count == 0:
            self._base_timestamp = timestamp
        if timestamp > self._max_timestamp:
            self._max_timestamp = timestamp
        self.count += 1
        return True

    def _encode(self, timestamp: int, key: bytes | None, value: bytes | None, headers: Headers) -> bytes:
        """The figure of DefaultRecordBatch, with the common case spelt out: this runs for every record that is sent."""
        timestamp_delta = timestamp - self._base_timestamp if self.count else 0
        if headers or not 0 <= timestamp_delta < _SMALL or self.count >= _SMALL:
            every = tuple(Header(name, content) for name, content in headers)
            return encode_record(timestamp_delta, self.count, key, value, every)
        body = b"".join((
            b"\0",
            _VARINTS[timestamp_delta],
            _VARINTS[self.count],
            b"\1" if key is None else _sized(key),
            b"\1" if value is None else _sized(value),
            b"\0",
        ))  # fmt: skip
        return _sized(body)

    def build(
        self,
        producer_id: int = NO_PRODUCER_ID,
        producer_epoch: int = NO_PRODUCER_EPOCH,
        base_sequence: int = NO_SEQUENCE,
    ) -> Buffer:
        """The batch. Nothing can be appended afterwards; ``stamp`` may still change whose it is."""
        records = memoryview(self._buffer)[self._first_position : self._position]
        if self.magic < MAGIC_V2:
            return self._build_message_set(records)
        if self._compression is not CompressionType.NONE:
            records = memoryview(compress(self._compression, records, self.magic, self._level))
        size = RECORD_BATCH_OVERHEAD + len(records)
        batch = self._buffer
        if size > len(batch):  # what cannot be compressed comes out larger than it went in
            batch = bytearray(size)
        if batch is not self._buffer or self._compression is not CompressionType.NONE:
            batch[RECORD_BATCH_OVERHEAD:size] = records
        HEADER.pack_into(
            batch, 0, 0, size - LOG_OVERHEAD, NO_PARTITION_LEADER_EPOCH, MAGIC_V2, 0, self._compression.code,
            self.count - 1, self._base_timestamp, self._max_timestamp, producer_id, producer_epoch, base_sequence,
            self.count,
        )  # fmt: skip
        return checksummed(memoryview(batch)[:size])

    def _build_message_set(self, records: memoryview) -> Buffer:
        if self._compression is CompressionType.NONE:
            return records
        value = compress(self._compression, records, self.magic, self._level)
        # A wrapper has the offset of its last message.
        return encode_message(self.magic, self.count - 1, self._compression.code, self._max_timestamp, None, value)


_PRODUCER = struct.Struct(">qhi")
_PRODUCER_POSITION = 43


def stamp(batch: Buffer, producer_id: int, producer_epoch: int, base_sequence: int) -> None:
    """Write another producer's state into a batch of v2 that was built before."""
    view = memoryview(batch)
    _PRODUCER.pack_into(view, _PRODUCER_POSITION, producer_id, producer_epoch, base_sequence)
    checksummed(view)


def checksummed(batch: memoryview) -> memoryview:
    """Write the checksum of a batch of v2 into it."""
    _CRC.pack_into(batch, _CRC_POSITION, crc32c(batch[_CRC_COVERS_FROM:]))
    return batch


def _sized(data: bytes) -> bytes:
    size = len(data)
    return (_VARINTS[size] if size < _SMALL else encode_varint(size)) + data
