"""Records in, one encoded batch out.

Kafka 0.10.2: clients/.../common/record/MemoryRecordsBuilder.java · book 2.1.1
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafka_lite.common.errors import Errors
from kafka_lite.common.sendable import Buffer
from kafka_lite.record.compression import CompressionType, compress
from kafka_lite.record.default_record_batch import (
    CONTROL_FLAG_MASK,
    DELETE_HORIZON_FLAG_MASK,
    RECORD_BATCH_OVERHEAD,
    TRANSACTIONAL_FLAG_MASK,
    encode_batch,
)
from kafka_lite.record.fast.encode import encode_record
from kafka_lite.record.message_set import RECORD_OVERHEAD, encode_message
from kafka_lite.record.record import (
    CURRENT_MAGIC,
    MAGIC_V0,
    MAGIC_V1,
    MAGIC_V2,
    NO_PARTITION_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    Header,
    TimestampType,
)
from kafka_lite.record.record_batch import LOG_OVERHEAD, TIMESTAMP_TYPE_MASK

_MAX_I64 = (1 << 63) - 1


class MemoryRecordsBuilder:
    """Collects records and encodes them: a batch of v2, or a message set of v0 or v1 (one wrapper if compressed).

    Offsets count up from ``base_offset`` unless ``append`` is given one. They must ascend, and may have gaps, as after
    a compaction. With LOG_APPEND_TIME ``log_append_time_ms`` holds for all records. A record is encoded when it is
    appended, so ``estimated_size_in_bytes`` is known at any time; ``build`` compresses.
    """

    def __init__(
        self,
        magic: int = CURRENT_MAGIC,
        compression: CompressionType = CompressionType.NONE,
        timestamp_type: TimestampType = TimestampType.CREATE_TIME,
        base_offset: int = 0,
        producer_id: int = NO_PRODUCER_ID,
        producer_epoch: int = NO_PRODUCER_EPOCH,
        base_sequence: int = NO_SEQUENCE,
        *,
        log_append_time_ms: int = NO_TIMESTAMP,
        is_transactional: bool = False,
        is_control: bool = False,
        partition_leader_epoch: int = NO_PARTITION_LEADER_EPOCH,
        delete_horizon_ms: int | None = None,
        compression_level: int | None = None,
    ) -> None:
        if compression is CompressionType.ZSTD and magic < MAGIC_V2:
            raise Errors.UNSUPPORTED_COMPRESSION_TYPE.exception("ZStandard compression needs message format v2")
        if magic < MAGIC_V2 and (is_transactional or is_control or producer_id != NO_PRODUCER_ID):
            raise Errors.UNSUPPORTED_FOR_MESSAGE_FORMAT.exception(f"Format v{magic} has no producer ids")
        self.magic = magic
        self.compression = compression
        self.timestamp_type = TimestampType.NO_TIMESTAMP_TYPE if magic == MAGIC_V0 else timestamp_type
        self.base_offset = base_offset
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.base_sequence = base_sequence
        self.log_append_time_ms = log_append_time_ms
        self.is_transactional = is_transactional
        self.is_control = is_control
        self.partition_leader_epoch = partition_leader_epoch
        self.delete_horizon_ms = delete_horizon_ms
        self.compression_level = compression_level
        self.record_count = 0
        self.last_offset = base_offset - 1
        self.max_timestamp = NO_TIMESTAMP
        self.offset_of_max_timestamp = -1
        """Offset of the first record with ``max_timestamp``."""
        self._base_timestamp: int | None = delete_horizon_ms
        self._records = bytearray()

    def append(
        self,
        timestamp: int,
        key: Buffer | None,
        value: Buffer | None,
        headers: Iterable[Header | tuple[str, bytes | None]] = (),
        offset: int | None = None,
    ) -> int:
        """Add a record and return its offset.

        Raises ``ApiError`` for a negative timestamp other than -1, an offset that does not ascend, headers before v2.
        """
        offset = self._checked_offset(offset)
        timestamp = self._stored_timestamp(timestamp)
        if self.magic >= MAGIC_V2:
            self._append_record(offset, timestamp, key, value, tuple(Header(*header) for header in headers))
        else:
            if tuple(headers):
                raise Errors.UNSUPPORTED_FOR_MESSAGE_FORMAT.exception(f"Format v{self.magic} has no headers")
            self._append_message(offset, timestamp, key, value)
        if self._stamped:
            timestamp = self.log_append_time_ms
        if timestamp > self.max_timestamp:
            self.max_timestamp, self.offset_of_max_timestamp = timestamp, offset
        self.record_count += 1
        self.last_offset = offset
        return offset

    def _checked_offset(self, offset: int | None) -> int:
        if offset is None:
            return self.last_offset + 1
        if offset <= self.last_offset:
            raise Errors.INVALID_RECORD.exception(f"Offset {offset} follows {self.last_offset}")
        return offset

    @property
    def _stamped(self) -> bool:
        return self.timestamp_type is TimestampType.LOG_APPEND_TIME

    def _stored_timestamp(self, timestamp: int) -> int:
        """The timestamp to write with the record. That of a stamped batch is in its header only, as in Kafka."""
        if self.timestamp_type is TimestampType.NO_TIMESTAMP_TYPE:
            return NO_TIMESTAMP
        if self._stamped and self.magic == MAGIC_V1 and self.compression is CompressionType.NONE:
            return self.log_append_time_ms
        if not NO_TIMESTAMP <= timestamp <= _MAX_I64:
            raise Errors.INVALID_TIMESTAMP.exception(f"Invalid timestamp {timestamp}")
        return timestamp

    def _append_record(
        self, offset: int, timestamp: int, key: Buffer | None, value: Buffer | None, headers: tuple[Header, ...]
    ) -> None:
        if self._base_timestamp is None:
            self._base_timestamp = timestamp
        self._records += encode_record(timestamp - self._base_timestamp, offset - self.base_offset, key, value, headers)

    def _append_message(self, offset: int, timestamp: int, key: Buffer | None, value: Buffer | None) -> None:
        compressed = self.compression is not CompressionType.NONE
        # Inside a wrapper of v1 offsets are relative, and the timestamp type is the producer's, CreateTime.
        stored_offset = offset - self.base_offset if compressed and self.magic == MAGIC_V1 else offset
        attributes = 0 if compressed else self._timestamp_flag()
        self._records += encode_message(self.magic, stored_offset, attributes, timestamp, key, value)

    def _timestamp_flag(self) -> int:
        return TIMESTAMP_TYPE_MASK if self._stamped else 0

    @property
    def estimated_size_in_bytes(self) -> int:
        """The size of what ``build`` returns, before compression."""
        if self.magic >= MAGIC_V2:
            return RECORD_BATCH_OVERHEAD + len(self._records)
        if self.compression is CompressionType.NONE:
            return len(self._records)
        return LOG_OVERHEAD + RECORD_OVERHEAD[self.magic] + len(self._records)

    def build(self, last_offset: int | None = None) -> bytes:
        """The encoded batch; b"" without records, unless the format is v2 and ``last_offset`` is given.

        ``last_offset`` keeps the offset range of a batch whose last records were compacted away.
        """
        if self.magic >= MAGIC_V2:
            if self.record_count == 0 and last_offset is None:
                return b""
            return self._build_batch(self.last_offset if last_offset is None else max(last_offset, self.last_offset))
        if self.compression is CompressionType.NONE or self.record_count == 0:
            return bytes(self._records)
        return self._build_wrapper()

    def _build_batch(self, last_offset: int) -> bytes:
        attributes = self.compression.code | self._timestamp_flag()
        attributes |= TRANSACTIONAL_FLAG_MASK if self.is_transactional else 0
        attributes |= CONTROL_FLAG_MASK if self.is_control else 0
        attributes |= DELETE_HORIZON_FLAG_MASK if self.delete_horizon_ms is not None else 0
        return encode_batch(
            compress(self.compression, self._records, self.magic, self.compression_level),
            base_offset=self.base_offset,
            last_offset_delta=last_offset - self.base_offset,
            attributes=attributes,
            base_timestamp=NO_TIMESTAMP if self._base_timestamp is None else self._base_timestamp,
            max_timestamp=self.max_timestamp,
            producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
            base_sequence=self.base_sequence,
            partition_leader_epoch=self.partition_leader_epoch,
            record_count=self.record_count,
        )

    def _build_wrapper(self) -> bytes:
        value = compress(self.compression, self._records, self.magic, self.compression_level)
        attributes = self.compression.code | self._timestamp_flag()
        return encode_message(self.magic, self.last_offset, attributes, self.max_timestamp, None, value)


def memory_records(
    magic: int,
    compression: CompressionType,
    records: Iterable[Sequence[Buffer | None]],
    *,
    timestamp: int = NO_TIMESTAMP,
    base_offset: int = 0,
) -> bytes:
    """A batch of ``(key, value)`` pairs that all have the same timestamp: a short cut for tests and tools."""
    builder = MemoryRecordsBuilder(magic, compression, base_offset=base_offset)
    for key, value in records:
        builder.append(timestamp, key, value)
    return builder.build()
