"""Iterates over the batches of a .log file by their headers, without reading the records.

Kafka 0.10.2: clients/.../common/record/FileLogInputStream.java · book 6.1.3
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, Protocol

from kafka_lite.record.default_record_batch import EXTENT_BYTES, RECORD_BATCH_OVERHEAD, peek_extent
from kafka_lite.record.message_set import RECORD_OVERHEAD
from kafka_lite.record.record import MAGIC_V0, MAGIC_V2, NO_PARTITION_LEADER_EPOCH, NO_TIMESTAMP, CorruptRecordError
from kafka_lite.record.record_batch import LOG_OVERHEAD, MAGIC_POSITION

MIN_RECORD_SIZE: Final = RECORD_OVERHEAD[MAGIC_V0]
"""The smallest possible message: format v0, no key, no value."""
HEADER_SIZE: Final = LOG_OVERHEAD + MIN_RECORD_SIZE
READ_AHEAD_BYTES: Final = 4096
"""The default distance between two index entries, so most lookups read the file once."""

_LEGACY: Final = struct.Struct(">qi6xq")
"""Offset, size, timestamp."""


class Channel(Protocol):
    """A file to iterate over."""

    def read(self, position: int, length: int) -> bytes:
        """Read up to ``length`` bytes from byte ``position`` on."""
        ...


class FileChannelRecordBatch:
    """The header of a batch in a file, with its position: the fields that are useful in all three formats.

    ::

        bytes   0               8         12           16      17
        v0, v1  offset I64      │ size I32 │ crc U32    │ magic │ attributes I8 │ timestamp I64 (v1) │ ...
        v2      base offset I64 │ size I32 │ epoch I32  │ magic │ crc U32 │ attributes I16 │ last offset delta I32
                │ base timestamp I64 │ max timestamp I64 │ ...

    ``size`` is the number of bytes after it. The offset of a compressed v0 or v1 message is that of the last message in
    it, so the last offset of a batch is known in every format, but the first only in v2.
    """

    __slots__ = (
        "first_or_last_offset",
        "last_offset",
        "magic",
        "max_timestamp",
        "partition_leader_epoch",
        "position",
        "size_in_bytes",
    )

    def __init__(
        self,
        position: int,
        size_in_bytes: int,
        magic: int,
        first_or_last_offset: int,
        last_offset: int,
        max_timestamp: int,
        partition_leader_epoch: int,
    ) -> None:
        self.position = position
        self.size_in_bytes = size_in_bytes
        self.magic = magic
        self.first_or_last_offset = first_or_last_offset
        """The base offset for v2, the last offset for v0 and v1."""
        self.last_offset = last_offset
        self.max_timestamp = max_timestamp
        """-1 in v0, which has no timestamps."""
        self.partition_leader_epoch = partition_leader_epoch

    @property
    def next_offset(self) -> int:
        """The offset after the batch."""
        return self.last_offset + 1


def file_batches(channel: Channel, start: int, end: int) -> Iterator[FileChannelRecordBatch]:
    """Yield the batches from position ``start`` to ``end``; a batch that does not end by ``end`` is left out.

    Raises CorruptRecordError if a header is invalid.
    """
    window, window_start, position = b"", start, start
    while end - position >= HEADER_SIZE:
        at = position - window_start
        if len(window) - at < EXTENT_BYTES:
            window, window_start, at = channel.read(position, min(READ_AHEAD_BYTES, end - position)), position, 0
            if len(window) < HEADER_SIZE:
                return  # the file has been truncated in the meantime
        batch = _parse_header(window, at, position)
        if batch is None or position + batch.size_in_bytes > end:
            return
        yield batch
        position += batch.size_in_bytes


def _parse_header(window: bytes, at: int, position: int) -> FileChannelRecordBatch | None:
    """Parse the header at ``at`` in ``window``, at ``position`` in the file. Returns None if it does not fit."""
    offset: int
    size: int
    epoch: int
    last_offset_delta: int
    timestamp: int
    magic = window[at + MAGIC_POSITION]
    if magic == MAGIC_V2 and len(window) - at >= EXTENT_BYTES:
        offset, size, epoch, last_offset_delta, timestamp = peek_extent(window, at)
        _check_header(offset, size, magic, position)
        last_offset = offset + last_offset_delta
        return FileChannelRecordBatch(position, LOG_OVERHEAD + size, magic, offset, last_offset, timestamp, epoch)
    offset, size, timestamp = _LEGACY.unpack_from(window, at)
    _check_header(offset, size, magic, position)
    if magic == MAGIC_V2:
        return None
    if magic == MAGIC_V0:
        timestamp = NO_TIMESTAMP
    return FileChannelRecordBatch(
        position, LOG_OVERHEAD + size, magic, offset, offset, timestamp, NO_PARTITION_LEADER_EPOCH
    )


def _check_header(offset: int, size: int, magic: int, position: int) -> None:
    if size < MIN_RECORD_SIZE or offset < 0 or magic > MAGIC_V2:
        raise CorruptRecordError(f"no batch at position {position}: offset {offset}, size {size}, magic {magic}")
    if magic == MAGIC_V2 and LOG_OVERHEAD + size < RECORD_BATCH_OVERHEAD:
        raise CorruptRecordError(f"the batch at position {position} has only {size} bytes")
