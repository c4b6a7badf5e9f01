"""Walks over the batches of a .log file by their headers, without reading what is in them.

Kafka 0.10.2: clients/.../common/record/FileLogInputStream.java · book 6.1.3
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Protocol

from kafka_lite.record.record import MAGIC_V0, MAGIC_V2, NO_PARTITION_LEADER_EPOCH, NO_TIMESTAMP, CorruptRecordError

LOG_OVERHEAD = 12
"""Bytes of offset and size, which come before every batch in every format."""
MIN_RECORD_SIZE = 14
"""The smallest message there is: format v0, no key, no value."""
HEADER_SIZE = LOG_OVERHEAD + MIN_RECORD_SIZE
BATCH_V2_OVERHEAD = 61
READ_AHEAD_BYTES = 4096
"""As much as lies between two index entries: most lookups read the file once."""

_LEGACY = struct.Struct(">qiIbbq")
_V2 = struct.Struct(">qiibIhiqq")


class Channel(Protocol):
    """What the walk needs of a file."""

    def read(self, position: int, length: int) -> bytes:
        """Up to ``length`` bytes from ``position`` (bytes from the beginning of the file) on."""
        ...


class FileChannelRecordBatch:
    """The header of a batch in a file, and where it is; the useful part of the three formats.

    ::

        bytes   0               8         12           16      17
        v0, v1  offset I64      │ size I32 │ crc U32    │ magic │ attributes I8 │ timestamp I64 (v1) │ ...
        v2      base offset I64 │ size I32 │ epoch I32  │ magic │ crc U32 │ attributes I16 │ last offset delta I32
                │ base timestamp I64 │ max timestamp I64 │ ...

    ``size`` counts what follows it. The offset of a compressed message of v0 and v1 is that of the last message in it,
    so the last offset of a batch is known for every format, the first only for v2.
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
        """-1 for v0, which has no timestamps."""
        self.partition_leader_epoch = partition_leader_epoch

    @property
    def next_offset(self) -> int:
        """The offset behind the batch."""
        return self.last_offset + 1


def file_batches(channel: Channel, start: int, end: int) -> Iterator[FileChannelRecordBatch]:
    """The batches from position ``start`` to ``end``; one that does not end before ``end`` is left out.

    Raises CorruptRecordError at what cannot be a header.
    """
    window, window_start, position = b"", start, start
    while end - position >= HEADER_SIZE:
        at = position - window_start
        if len(window) - at < _V2.size:
            window, window_start, at = channel.read(position, min(READ_AHEAD_BYTES, end - position)), position, 0
            if len(window) < HEADER_SIZE:
                return  # the file has been truncated meanwhile
        batch = _parse_header(window, at, position)
        if batch is None or position + batch.size_in_bytes > end:
            return
        yield batch
        position += batch.size_in_bytes


def _parse_header(window: bytes, at: int, position: int) -> FileChannelRecordBatch | None:
    """The header at ``at`` in ``window``, which is ``position`` in the file; None when the window cuts it."""
    offset, size, _, magic, _, timestamp = _LEGACY.unpack_from(window, at)
    if size < MIN_RECORD_SIZE or offset < 0 or not MAGIC_V0 <= magic <= MAGIC_V2:
        raise CorruptRecordError(f"no batch at position {position}: offset {offset}, size {size}, magic {magic}")
    if magic < MAGIC_V2:
        max_timestamp = NO_TIMESTAMP if magic == MAGIC_V0 else timestamp
        return FileChannelRecordBatch(
            position, LOG_OVERHEAD + size, magic, offset, offset, max_timestamp, NO_PARTITION_LEADER_EPOCH
        )
    if LOG_OVERHEAD + size < BATCH_V2_OVERHEAD:
        raise CorruptRecordError(f"the batch at position {position} has only {size} bytes")
    if len(window) - at < _V2.size:
        return None
    _, _, epoch, _, _, _, last_offset_delta, _, max_timestamp = _V2.unpack_from(window, at)
    return FileChannelRecordBatch(
        position, LOG_OVERHEAD + size, magic, offset, offset + last_offset_delta, max_timestamp, epoch
    )
