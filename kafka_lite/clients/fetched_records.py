"""The records that a fetch has brought for one partition, measured without decoding them.

Kafka 0.10.2: clients/.../common/record/MemoryRecords.java (validBytes, shallowEntries) · book 3.3.2
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from kafka_lite.common.sendable import Buffer
from kafka_lite.record.record import MAGIC_V2
from kafka_lite.record.record_batch import HEADER_SIZE_UP_TO_MAGIC, RecordBatch
from kafka_lite.record.records import batch_size, batches

_OFFSET = struct.Struct(">q")
_LAST_OFFSET_DELTA = struct.Struct(">i")
_LAST_OFFSET_DELTA_POSITION = 23
_MAGIC_POSITION = HEADER_SIZE_UP_TO_MAGIC - 1


class _Extent(NamedTuple):
    valid_bytes: int
    next_offset: int | None


class FetchedRecords:
    """Batches of any format, the last of which may be cut off where the fetch size ended.

    Only sizes and offsets are read here, straight from the headers: a megabyte of message set may be ten thousand
    messages, and a fetcher needs nothing but the end of the last.
    """

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer if isinstance(buffer, memoryview) else memoryview(buffer)

    @property
    def size_in_bytes(self) -> int:
        """All bytes, those of a batch that was cut off included."""
        return self.buffer.nbytes

    @property
    def valid_bytes(self) -> int:
        """The bytes of whole batches. Raises CorruptRecordError where a size is impossible."""
        return self._extent.valid_bytes

    @property
    def next_offset(self) -> int | None:
        """The offset behind the last whole batch: where the next fetch begins; None when there is none."""
        return self._extent.next_offset

    def batches(self) -> Iterator[RecordBatch]:
        """The whole batches. Raises CorruptRecordError."""
        return batches(self.buffer)

    @cached_property
    def _extent(self) -> _Extent:
        buffer, end, position, last = self.buffer, self.buffer.nbytes, 0, -1
        while end - position >= HEADER_SIZE_UP_TO_MAGIC:
            size = batch_size(buffer, position)
            if size > end - position:
                break
            last, position = position, position + size
        return _Extent(position, None if last < 0 else self._last_offset(last) + 1)

    def _last_offset(self, position: int) -> int:
        """Of the batch there: a message of v0 and v1 is stored with its last offset, a batch of v2 with its first."""
        offset: int = _OFFSET.unpack_from(self.buffer, position)[0]
        if self.buffer[position + _MAGIC_POSITION] != MAGIC_V2:
            return offset
        delta: int = _LAST_OFFSET_DELTA.unpack_from(self.buffer, position + _LAST_OFFSET_DELTA_POSITION)[0]
        return offset + delta
