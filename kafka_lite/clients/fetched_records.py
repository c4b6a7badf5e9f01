"""The records of one partition in a fetch response, measured without being decoded.

Kafka 0.10.2: clients/.../common/record/MemoryRecords.java (validBytes, shallowEntries) · book 3.3.2
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from kafka_lite.common.sendable import Buffer
from kafka_lite.record.record_batch import HEADER_SIZE_UP_TO_MAGIC, RecordBatch
from kafka_lite.record.records import batch_at, batch_size, batches


class _Extent(NamedTuple):
    valid_bytes: int
    next_offset: int | None


class FetchedRecords:
    """Batches of any format, the last of which may be truncated at the fetch size.

    A message set of a megabyte may hold ten thousand messages, and a fetcher only needs the end of the last one. So
    only the sizes are read, and the header of the last batch.
    """

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer if isinstance(buffer, memoryview) else memoryview(buffer)

    @property
    def size_in_bytes(self) -> int:
        """All bytes, including those of a truncated batch."""
        return self.buffer.nbytes

    @property
    def valid_bytes(self) -> int:
        """The bytes of complete batches. Raises CorruptRecordError for an impossible size."""
        return self._extent.valid_bytes

    @property
    def next_offset(self) -> int | None:
        """The offset after the last complete batch, where the next fetch starts; None without a complete batch.

        Raises CorruptRecordError if that batch has no valid header.
        """
        return self._extent.next_offset

    def batches(self) -> Iterator[RecordBatch]:
        """The complete batches. Raises CorruptRecordError."""
        return batches(self.buffer)

    @cached_property
    def _extent(self) -> _Extent:
        buffer, end, position, last = self.buffer, self.buffer.nbytes, 0, -1
        while end - position >= HEADER_SIZE_UP_TO_MAGIC:
            size = batch_size(buffer, position)
            if size > end - position:
                break
            last, position = position, position + size
        return _Extent(position, None if last < 0 else batch_at(buffer, last, position - last).next_offset)
