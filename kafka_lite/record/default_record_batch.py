"""Record batches, the message format v2.

Kafka 0.11: clients/.../common/record/DefaultRecordBatch.java · book 10.3
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, Final, TypeVar

from kafka_lite.common.crc32c import crc32c
from kafka_lite.common.sendable import Buffer
from kafka_lite.record.compression import MAX_DECOMPRESSED_BYTES, decompress
from kafka_lite.record.fast.decode import decode_records
from kafka_lite.record.record import (
    CREATE_TIME,
    LOG_APPEND_TIME,
    MAGIC_V2,
    NO_PARTITION_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    CorruptRecordError,
    InvalidRecordError,
    Record,
    TimestampType,
)
from kafka_lite.record.record_batch import LOG_OVERHEAD, TIMESTAMP_TYPE_MASK, RecordBatch, sized_view

RECORD_BATCH_OVERHEAD: Final = 61
"""Bytes of the header of a batch."""

TRANSACTIONAL_FLAG_MASK: Final = 0x10
CONTROL_FLAG_MASK: Final = 0x20
DELETE_HORIZON_FLAG_MASK = 0x40

# The header, drawn in DefaultRecordBatch, and its parts. Nothing else knows where they are.
HEADER: Final = struct.Struct(">qiibIhiqqqhii")
"""All fields, in the order of the figure."""
CRC_POSITION: Final = 17
CRC_BYTES: Final = 4
CODEC_POSITION: Final = 22
"""The second byte of the attributes, which has the codec."""
EXTENT_BYTES: Final = 43
"""How much of a header ``peek_extent`` needs."""
_ATTRIBUTES_POSITION: Final = 21
_MAX_TIMESTAMP_POSITION: Final = 35
_I32: Final = struct.Struct(">i")
_U32: Final = struct.Struct(">I")
_I64: Final = struct.Struct(">q")
_ATTRIBUTES: Final = struct.Struct(">h")
_OFFSET_LENGTH_AND_EPOCH: Final = struct.Struct(">qii")
_PARTITION_LEADER_EPOCH_POSITION: Final = 12
_PRODUCER: Final = struct.Struct(">qhi")
_PRODUCER_POSITION: Final = 43

# Peeks: some fields of the header at ``position`` of ``buffer``, for callers that cannot afford a view.
_Buffer = bytes | bytearray | memoryview
peek_extent: Final[Callable[[_Buffer, int], tuple[int, int, int, int, int]]] = struct.Struct(">qii7xi8xq").unpack_from
"""Base offset, length, leader epoch, last offset delta, max timestamp: what a walk over a log file needs."""
peek_origin: Final[Callable[[_Buffer, int], tuple[int, int, int, int]]] = struct.Struct(">21xh20xqhi").unpack_from
"""Attributes, producer id, producer epoch, base sequence: who wrote the batch, and whether in a transaction."""
peek_claims: Final[Callable[[_Buffer, int], tuple[int, int, int, int]]] = struct.Struct(">qi4xb4xh").unpack_from
"""Base offset, length, magic, attributes: what Produce checks before it believes the rest."""

_MAX_SEQUENCE: Final = 0x7FFFFFFF
_Decoded = TypeVar("_Decoded", bound=tuple[Any, ...])
_PORTION: Final = 256
"""How many records are decoded ahead: a kilobyte that is compressed well holds millions."""


class DefaultRecordBatch(RecordBatch):
    r"""A batch of format v2.

    ::

         0             8         12        16    17        21          23                  27
        +-------------+---------+---------+-----+---------+-----------+-------------------+---
        | base offset | length  | leader  |magic| crc     | attributes| last offset delta |
        | I64         | I32     | epoch   |  2  | U32     | I16       | I32               |
        |             |         | I32     | I8  |         |           |                   |
        +-------------+---------+---------+-----+---------+-----------+-------------------+---
         27               35              43            51       53         57        61
        +----------------+---------------+-------------+--------+----------+---------+----------
        | base timestamp | max timestamp | producer id | epoch  | base     | record  | records
        | I64            | I64           | I64         | I16    | sequence | count   | (perhaps
        |                |               |             |        | I32      | I32     | compressed)
        +----------------+---------------+-------------+--------+----------+---------+----------

        length       the bytes that follow it
        crc          CRC-32C of everything from the attributes on. The fields that every append changes, base offset
                     and leader epoch, come before them, so the broker sets these without computing it again.
        attributes   bits 0-2 codec, 3 timestamp type, 4 transactional, 5 control batch, 6 the base timestamp is the
                     delete horizon of a compacted batch
        records      drawn in ``default_record``

    """

    __slots__ = (
        "_base_offset",
        "_base_timestamp",
        "_record_count",
        "attributes",
        "base_sequence",
        "crc",
        "last_offset_delta",
        "magic",
        "max_timestamp",
        "partition_leader_epoch",
        "producer_epoch",
        "producer_id",
        "size_in_bytes",
        "view",
    )

    attributes: int
    max_timestamp: int
    last_offset_delta: int
    _base_offset: int
    _base_timestamp: int
    _record_count: int

    def __init__(self, buffer: Buffer, position: int, size: int) -> None:
        """A view of the ``size`` bytes at ``position``; ``CorruptRecordError`` if a header does not fit into them."""
        if size < RECORD_BATCH_OVERHEAD:
            raise CorruptRecordError(f"Record batch of {size} bytes is smaller than its header")
        self.view = sized_view(buffer, position, size)
        self.size_in_bytes = size
        (
            self._base_offset,
            _length,
            self.partition_leader_epoch,
            self.magic,
            self.crc,
            self.attributes,
            self.last_offset_delta,
            self._base_timestamp,
            self.max_timestamp,
            self.producer_id,
            self.producer_epoch,
            self.base_sequence,
            self._record_count,
        ) = HEADER.unpack_from(self.view)

    @property
    def base_offset(self) -> int:
        """Offset of the first record."""
        return self._base_offset

    @property
    def last_offset(self) -> int:
        """Offset of the last record, even if compaction has removed it."""
        return self._base_offset + self.last_offset_delta

    @property
    def record_count(self) -> int:
        """Number of records according to the header."""
        return self._record_count

    @property
    def base_timestamp(self) -> int:
        """The timestamp that the deltas of the records are relative to."""
        return self._base_timestamp

    @property
    def timestamp_type(self) -> TimestampType:
        """Whether the client or the broker set the timestamps."""
        return LOG_APPEND_TIME if self.attributes & TIMESTAMP_TYPE_MASK else CREATE_TIME

    @property
    def is_transactional(self) -> bool:
        """Whether the batch belongs to a transaction."""
        return self.attributes & TRANSACTIONAL_FLAG_MASK != 0

    @property
    def is_control(self) -> bool:
        """Whether the batch holds a transaction marker."""
        return self.attributes & CONTROL_FLAG_MASK != 0

    @property
    def delete_horizon_ms(self) -> int | None:
        """When compaction may drop the tombstones and markers of the batch; None until it has seen them once."""
        return self._base_timestamp if self.attributes & DELETE_HORIZON_FLAG_MASK else None

    @property
    def last_sequence(self) -> int:
        """The producer's sequence number of the last record. Sequence numbers wrap from 2**31 - 1 to 0."""
        if self.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return increment_sequence(self.base_sequence, self.last_offset_delta)

    def compute_crc(self) -> int:
        """CRC-32C from the attributes to the end."""
        checksum: int = crc32c(self.view[_ATTRIBUTES_POSITION:])
        return checksum

    def records_data(self, max_bytes: int = MAX_DECOMPRESSED_BYTES) -> bytes:
        """The encoded records behind the header, decompressed."""
        data = self.view[RECORD_BATCH_OVERHEAD:]
        return decompress(self.compression, data, self.magic, max_bytes) if self.is_compressed else data.tobytes()

    def records(self, max_bytes: int = MAX_DECOMPRESSED_BYTES) -> Iterator[Record]:
        """The records; a batch that compaction emptied has none."""
        if self._record_count == 0:
            return
        timestamp_type = self.timestamp_type
        log_append_time = self.max_timestamp if timestamp_type is LOG_APPEND_TIME else None
        base_offset, base_timestamp = self._base_offset, self._base_timestamp
        data = self.records_data(max_bytes)
        for timestamp_delta, offset_delta, key, value, headers, _end in decode_all(
            data, self._record_count, decode_records
        ):
            timestamp = base_timestamp + timestamp_delta if log_append_time is None else log_append_time
            yield Record(base_offset + offset_delta, timestamp, timestamp_type, key, value, headers)

    def set_last_offset(self, offset: int) -> None:
        """Set the base offset so that the last record gets ``offset``."""
        self._base_offset = offset - self.last_offset_delta
        _I64.pack_into(self.view, 0, self._base_offset)

    def set_partition_leader_epoch(self, epoch: int) -> None:
        """Write the leader's epoch."""
        self.partition_leader_epoch = epoch
        _I32.pack_into(self.view, _PARTITION_LEADER_EPOCH_POSITION, epoch)

    def set_last_offset_and_epoch(self, offset: int, epoch: int) -> None:
        """Set both, in one write, as every append of a leader does."""
        self._base_offset = offset - self.last_offset_delta
        self.partition_leader_epoch = epoch
        _OFFSET_LENGTH_AND_EPOCH.pack_into(self.view, 0, self._base_offset, self.size_in_bytes - LOG_OVERHEAD, epoch)

    def set_max_timestamp(self, timestamp_type: TimestampType, max_timestamp: int) -> None:
        """Write type and largest timestamp, and a new checksum if they changed, since it covers them."""
        if timestamp_type is self.timestamp_type and max_timestamp == self.max_timestamp:
            return
        self.attributes &= ~TIMESTAMP_TYPE_MASK
        if timestamp_type is LOG_APPEND_TIME:
            self.attributes |= TIMESTAMP_TYPE_MASK
        self.max_timestamp = max_timestamp
        _ATTRIBUTES.pack_into(self.view, _ATTRIBUTES_POSITION, self.attributes)
        _I64.pack_into(self.view, _MAX_TIMESTAMP_POSITION, max_timestamp)
        self._set_crc()

    def set_producer_state(self, producer_id: int, producer_epoch: int, base_sequence: int) -> None:
        """Write the producer and its sequence number, and a new checksum, since it covers them."""
        self.producer_id, self.producer_epoch, self.base_sequence = producer_id, producer_epoch, base_sequence
        _PRODUCER.pack_into(self.view, _PRODUCER_POSITION, producer_id, producer_epoch, base_sequence)
        self._set_crc()

    def _set_crc(self) -> None:
        self.crc = self.compute_crc()
        _U32.pack_into(self.view, CRC_POSITION, self.crc)


def decode_all(
    data: bytes, record_count: int, decode: Callable[[bytes, int, int], list[_Decoded]]
) -> Iterator[_Decoded]:
    """The ``record_count`` records that ``data`` consists of, as ``decode`` reads them, a portion at a time.

    Raises ``InvalidRecordError`` at a record that cannot be read, and at the end if bytes are left.
    """
    return chain.from_iterable(_portions(data, record_count, decode))


def _portions(
    data: bytes, record_count: int, decode: Callable[[bytes, int, int], list[_Decoded]]
) -> Iterator[list[_Decoded]]:
    position, remaining = 0, record_count
    while remaining > 0:
        portion = decode(data, position, min(remaining, _PORTION))
        yield portion
        *_, position = portion[-1]
        remaining -= len(portion)
    if position != len(data):
        raise InvalidRecordError(f"{len(data) - position} bytes follow the {record_count} records of the batch")


def increment_sequence(sequence: int, increment: int) -> int:
    """The sequence number that is ``increment`` records after ``sequence``."""
    return (sequence + increment) % (_MAX_SEQUENCE + 1)


def encode_batch(
    records: Buffer,
    *,
    base_offset: int,
    last_offset_delta: int,
    attributes: int,
    base_timestamp: int,
    max_timestamp: int,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    base_sequence: int = NO_SEQUENCE,
    partition_leader_epoch: int = NO_PARTITION_LEADER_EPOCH,
    record_count: int,
) -> bytes:
    """A batch of ``records``, which are already encoded, and compressed if the attributes say so."""
    batch = bytearray(RECORD_BATCH_OVERHEAD + len(records))
    batch[RECORD_BATCH_OVERHEAD:] = records
    write_header(
        memoryview(batch),
        base_offset=base_offset,
        last_offset_delta=last_offset_delta,
        attributes=attributes,
        base_timestamp=base_timestamp,
        max_timestamp=max_timestamp,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        partition_leader_epoch=partition_leader_epoch,
        record_count=record_count,
    )
    return bytes(batch)


def write_header(
    batch: memoryview,
    *,
    base_offset: int,
    last_offset_delta: int,
    attributes: int,
    base_timestamp: int,
    max_timestamp: int,
    producer_id: int,
    producer_epoch: int,
    base_sequence: int,
    partition_leader_epoch: int = NO_PARTITION_LEADER_EPOCH,
    record_count: int,
) -> None:
    """Write the header of ``batch``, checksum included. The records are in place already."""
    HEADER.pack_into(
        batch,
        0,
        base_offset,
        len(batch) - LOG_OVERHEAD,
        partition_leader_epoch,
        MAGIC_V2,
        0,
        attributes,
        last_offset_delta,
        base_timestamp,
        max_timestamp,
        producer_id,
        producer_epoch,
        base_sequence,
        record_count,
    )
    _U32.pack_into(batch, CRC_POSITION, crc32c(batch[_ATTRIBUTES_POSITION:]))
