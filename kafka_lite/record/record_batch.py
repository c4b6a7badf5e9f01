"""A batch, whatever the format that it is stored in.

Kafka 0.10.2: clients/.../common/record/LogEntry.java; since 0.11 DefaultRecordBatch.java · book 6.1.2
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Final

from kafka_lite.common.sendable import Buffer
from kafka_lite.record.compression import MAX_DECOMPRESSED_BYTES, CompressionType
from kafka_lite.record.record import (
    NO_PARTITION_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    CorruptRecordError,
    Record,
    TimestampType,
)

OFFSET_AND_LENGTH: Final = struct.Struct(">qi")
"""The prefix that all formats share: offset I64, size of the rest I32."""
LOG_OVERHEAD: Final = 12
"""Bytes of that prefix."""

HEADER_SIZE_UP_TO_MAGIC: Final = 17
"""Bytes to read before the format of a batch is known: the magic byte is the last of them in every format."""

MAGIC_POSITION: Final = 16
CODEC_MASK: Final = 0x07
_NO_COMPRESSION: Final = CompressionType.NONE  # looked up once, see record.record
TIMESTAMP_TYPE_MASK: Final = 0x08


class RecordBatch(ABC):
    """A view of one batch: the unit that is checked, appended, indexed and fetched as a whole.

    In format v2 that is a ``DefaultRecordBatch``. In v0 and v1 it is a message: a plain one is a batch of one record, a
    compressed one holds a set of messages. A view costs one ``struct`` call and copies nothing. ``set_...`` methods
    write to the buffer below, which then must be writable.
    """

    __slots__ = ()

    view: memoryview
    """All bytes of the batch, the prefix included."""
    magic: int
    size_in_bytes: int
    crc: int
    """The checksum that the batch carries; ``is_valid`` computes it."""
    attributes: int
    max_timestamp: int
    """The largest timestamp of the records; -1 in v0."""

    # Fields of v2 only. Older formats have the values that Kafka gives them.
    partition_leader_epoch: int = NO_PARTITION_LEADER_EPOCH
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH
    base_sequence: int = NO_SEQUENCE

    @property
    @abstractmethod
    def base_offset(self) -> int:
        """Offset of the first record. For a compressed message of v0 or v1 this takes a decompression."""

    @property
    @abstractmethod
    def last_offset(self) -> int:
        """Offset of the last record; in v2 even if compaction has removed that record."""

    @property
    def next_offset(self) -> int:
        """The offset that follows the batch."""
        return self.last_offset + 1

    @property
    @abstractmethod
    def record_count(self) -> int | None:
        """Number of records according to the header; None for a compressed message of v0 or v1."""

    @property
    @abstractmethod
    def base_timestamp(self) -> int:
        """The timestamp that the deltas of the records are relative to; in v1 the message's own, in v0 -1."""

    @property
    @abstractmethod
    def timestamp_type(self) -> TimestampType:
        """Whether the client or the broker set the timestamps."""

    @property
    def compression(self) -> CompressionType:
        """The codec; raises ``CorruptRecordError`` for an unknown code."""
        code = self.attributes & CODEC_MASK
        return CompressionType.from_code(code) if code else _NO_COMPRESSION

    @property
    def is_compressed(self) -> bool:
        """Whether a codec was used."""
        return self.attributes & CODEC_MASK != 0

    @property
    def is_transactional(self) -> bool:
        """Whether the batch belongs to a transaction."""
        return False

    @property
    def is_control(self) -> bool:
        """Whether the batch holds a marker that the broker wrote (commit, abort), and no data."""
        return False

    @property
    def has_producer_id(self) -> bool:
        """Whether an idempotent or transactional producer wrote the batch."""
        return self.producer_id > NO_PRODUCER_ID

    @abstractmethod
    def compute_crc(self) -> int:
        """The checksum that the batch should carry."""

    def is_valid(self) -> bool:
        """Whether the checksum matches the bytes."""
        return self.crc == self.compute_crc()

    def ensure_valid(self) -> None:
        """Raise ``CorruptRecordError`` unless ``is_valid``."""
        if not self.is_valid():
            raise CorruptRecordError(
                f"Record is corrupt (stored crc = {self.crc}, computed crc = {self.compute_crc()}, "
                f"magic {self.magic}, {self.size_in_bytes} bytes)"
            )

    @abstractmethod
    def records(self, max_bytes: int = MAX_DECOMPRESSED_BYTES) -> Iterator[Record]:
        """The records, decoded one by one.

        Raises ``CorruptRecordError`` or ``InvalidRecordError`` at bytes that are not a record. The checksum is not
        verified.
        """

    @abstractmethod
    def set_last_offset(self, offset: int) -> None:
        """Assign offsets so that the last record gets ``offset``. The checksum does not cover them."""

    @abstractmethod
    def set_max_timestamp(self, timestamp_type: TimestampType, max_timestamp: int) -> None:
        """Write type and largest timestamp, and a new checksum if they changed."""

    @abstractmethod
    def set_partition_leader_epoch(self, epoch: int) -> None:
        """Write the epoch of the leader that appends the batch, if the format has that field."""


def sized_view(buffer: Buffer, position: int, size: int) -> memoryview:
    """The ``size`` bytes at ``position`` without copying them."""
    view = buffer if isinstance(buffer, memoryview) else memoryview(buffer)
    return view if size == len(view) else view[position : position + size]
