"""Encodes records into a buffer of the pool, which becomes the batch without being copied.

Kafka 0.10.2: clients/.../common/record/MemoryRecordsBuilder.java · book 2.1.1
"""

from __future__ import annotations

from collections.abc import Sequence

from kafka_lite.common.sendable import Buffer
from kafka_lite.record.compression import CompressionType, compress
from kafka_lite.record.default_record_batch import RECORD_BATCH_OVERHEAD, TRANSACTIONAL_FLAG_MASK, write_header
from kafka_lite.record.fast.encode import encode_record
from kafka_lite.record.message_set import RECORD_OVERHEAD, encode_message
from kafka_lite.record.record import (
    MAGIC_V2,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
)
from kafka_lite.record.record_batch import LOG_OVERHEAD

Headers = Sequence[tuple[str, bytes | None]]

_MAX_VARINTS_BYTES = 5 + 1 + 10 + 5 + 5 + 5 + 5
"""Of a record of v2: length, attributes, timestamp delta, offset delta, lengths of key and value, count of headers."""


class RecordsBuffer:
    """Appends records to ``buffer`` as long as they fit, and makes a batch of them.

    ::

        v2      [ room for the header │ record │ record │ … free … ]      61 bytes are left free at the front
        v0, v1  [ message │ message │ … free … ]

    Without compression the batch *is* the buffer. Compressed records overwrite the plain ones. The limit counts plain
    bytes, as in librdkafka, so a batch never outgrows the memory that was allocated for it, unless compression makes it
    larger. (Java's producer estimates the ratio, and lets the buffer grow if the estimate was wrong.)
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
        """Number of records."""
        self.max_record_size = 0
        """Size of the largest record in bytes, before compression."""
        self._buffer = buffer
        self._compression = compression
        self._level = compression_level
        self._first_position = RECORD_BATCH_OVERHEAD if magic >= MAGIC_V2 else 0
        self._position = self._first_position
        self._base_timestamp = self._max_timestamp = NO_TIMESTAMP

    @staticmethod
    def estimate_size(magic: int, key: bytes | None, value: bytes | None, headers: Headers) -> int:
        """An upper bound for the size in bytes of a batch with this record alone."""
        payload = (0 if key is None else len(key)) + (0 if value is None else len(value))
        if magic < MAGIC_V2:
            return LOG_OVERHEAD + RECORD_OVERHEAD[magic] + payload
        for name, content in headers:
            payload += 10 + 4 * len(name) + (0 if content is None else len(content))
        return RECORD_BATCH_OVERHEAD + _MAX_VARINTS_BYTES + payload

    @property
    def estimated_size_in_bytes(self) -> int:
        """Size of the batch before compression."""
        return self._position

    @property
    def is_full(self) -> bool:
        """Whether not even an empty record would surely fit."""
        return self._position + _MAX_VARINTS_BYTES >= len(self._buffer)

    def trim(self) -> None:
        """Cut the buffer to its content, so that nothing more fits."""
        del self._buffer[self._position :]

    def append(self, timestamp: int, key: bytes | None, value: bytes | None, headers: Headers) -> bool:
        """Add a record; false if it does not fit."""
        if self.magic >= MAGIC_V2:
            timestamp_delta = timestamp - self._base_timestamp if self.count else 0
            encoded = encode_record(timestamp_delta, self.count, key, value, headers)
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

    def build(
        self,
        producer_id: int = NO_PRODUCER_ID,
        producer_epoch: int = NO_PRODUCER_EPOCH,
        base_sequence: int = NO_SEQUENCE,
        is_transactional: bool = False,
    ) -> Buffer:
        """The batch. Nothing may be appended afterwards."""
        records = memoryview(self._buffer)[self._first_position : self._position]
        if self.magic < MAGIC_V2:
            return self._build_message_set(records)
        if self._compression is not CompressionType.NONE:
            records = memoryview(compress(self._compression, records, self.magic, self._level))
        size = RECORD_BATCH_OVERHEAD + len(records)
        batch = self._buffer
        if size > len(batch):  # data that cannot be compressed gets larger
            batch = bytearray(size)
        if batch is not self._buffer or self._compression is not CompressionType.NONE:
            batch[RECORD_BATCH_OVERHEAD:size] = records
        view = memoryview(batch)[:size]
        write_header(
            view,
            base_offset=0,
            last_offset_delta=self.count - 1,
            attributes=self._compression.code | (TRANSACTIONAL_FLAG_MASK if is_transactional else 0),
            base_timestamp=self._base_timestamp,
            max_timestamp=self._max_timestamp,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            base_sequence=base_sequence,
            record_count=self.count,
        )
        return view

    def _build_message_set(self, records: memoryview) -> Buffer:
        if self._compression is CompressionType.NONE:
            return records
        value = compress(self._compression, records, self.magic, self._level)
        # A wrapper has the offset of its last message.
        return encode_message(self.magic, self.count - 1, self._compression.code, self._max_timestamp, None, value)
