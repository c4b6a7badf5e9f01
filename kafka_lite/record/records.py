"""From bytes to batches, whatever their format: the entry point of this package.

Kafka 0.10.2: clients/.../common/record/MemoryRecords.java, ByteBufferLogInputStream.java · book 6.1.2
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kafka_lite.common.sendable import Buffer
from kafka_lite.record.default_record_batch import DefaultRecordBatch
from kafka_lite.record.message_set import RECORD_OVERHEAD, MessageAndOffset
from kafka_lite.record.record import (
    MAGIC_V0,
    MAGIC_V2,
    CorruptRecordError,
    Record,
)
from kafka_lite.record.record_batch import (
    CODEC_MASK,
    HEADER_SIZE_UP_TO_MAGIC,
    LOG_OVERHEAD,
    MAGIC_POSITION,
    OFFSET_AND_LENGTH,
    RecordBatch,
)

_SMALLEST_BATCH: Final = LOG_OVERHEAD + RECORD_OVERHEAD[MAGIC_V0]


def batch_size(buffer: Buffer, position: int = 0, max_message_bytes: int | None = None) -> int:
    """Size, prefix included, of the batch whose first ``LOG_OVERHEAD`` bytes are at ``position``.

    Raises ``CorruptRecordError`` when that is too small for any batch, or above ``max_message_bytes``.
    """
    offset, length = OFFSET_AND_LENGTH.unpack_from(buffer, position)
    size: int = length + LOG_OVERHEAD
    if size < _SMALLEST_BATCH:
        raise CorruptRecordError(f"Record size {length} at offset {offset} is less than the minimum record overhead")
    if max_message_bytes is not None and length > max_message_bytes:
        raise CorruptRecordError(
            f"Record size {length} at offset {offset} exceeds the largest allowed {max_message_bytes}"
        )
    return size


def batch_at(buffer: Buffer, position: int, size: int) -> RecordBatch:
    """The batch of ``size`` bytes at ``position``; ``CorruptRecordError`` for an unknown magic."""
    if buffer[position + MAGIC_POSITION] == MAGIC_V2:
        return DefaultRecordBatch(buffer, position, size)
    return MessageAndOffset(buffer, position, size)


def batches(buffer: Buffer, position: int = 0, max_message_bytes: int | None = None) -> Iterator[RecordBatch]:
    """The batches of a buffer from ``position`` on, one view each.

    The iteration ends at a batch that is incomplete: a fetch is cut off at its size limit, even inside a batch. Raises
    ``CorruptRecordError`` at a batch with an impossible size or magic.
    """
    view = buffer if isinstance(buffer, memoryview) else memoryview(buffer)
    end = len(view)
    while end - position >= HEADER_SIZE_UP_TO_MAGIC:
        size = batch_size(view, position, max_message_bytes)
        if size > end - position:
            return
        yield batch_at(view, position, size)
        position += size


def first_batch(buffer: Buffer, position: int = 0) -> RecordBatch | None:
    """The batch at ``position`` if it is complete: what ``batches`` yields first, in a third of the time."""
    end = len(buffer)
    if end - position < HEADER_SIZE_UP_TO_MAGIC:
        return None
    size = batch_size(buffer, position)
    return batch_at(buffer, position, size) if size <= end - position else None


def last_wrapper(buffer: Buffer) -> RecordBatch | None:
    """The last compressed message of a set in format v0 or v1, or None. Only sizes and attributes are read."""
    end, position = len(buffer), 0
    found, size_of_found = -1, 0
    while end - position >= HEADER_SIZE_UP_TO_MAGIC:
        size = batch_size(buffer, position)
        if size > end - position:
            break
        if buffer[position + HEADER_SIZE_UP_TO_MAGIC] & CODEC_MASK:  # the attributes follow the magic
            found, size_of_found = position, size
        position += size
    return None if found < 0 else batch_at(buffer, found, size_of_found)


def valid_bytes(buffer: Buffer) -> int:
    """How many bytes of the buffer are complete batches."""
    return sum(batch.size_in_bytes for batch in batches(buffer))


def has_matching_magic(buffer: Buffer, magic: int) -> bool:
    """Whether all batches have the format ``magic``."""
    return all(batch.magic == magic for batch in batches(buffer))


def records(buffer: Buffer) -> Iterator[Record]:
    """All records of all batches."""
    for batch in batches(buffer):
        yield from batch.records()
