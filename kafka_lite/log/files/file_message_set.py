"""The .log file of a segment, and slices of it that are sent without being read.

Kafka 0.10.2: clients/.../common/record/FileRecords.java (LogEntryPosition, TimestampAndOffset); 0.9:
core/.../log/FileMessageSet.scala · book 6.1.3, 1.3.1
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.sendable import Buffer
from kafka_lite.log.files.file_channel import FileChannel
from kafka_lite.log.files.file_log_input_stream import FileChannelRecordBatch, file_batches
from kafka_lite.log.index_entry import TimestampOffset
from kafka_lite.record.record import NO_TIMESTAMP
from kafka_lite.record.record_batch import RecordBatch
from kafka_lite.record.records import batches


class LogEntryPosition(NamedTuple):
    """A batch in the file: its last offset, its position, and its size in bytes."""

    offset: int
    position: int
    size: int


class TimestampAndOffset(NamedTuple):
    """A message found by timestamp, with the leader epoch in which it was written (-1 if unknown)."""

    timestamp: int
    offset: int
    leader_epoch: int = -1


class FileMessageSetSlice:
    """``size_in_bytes`` bytes of a .log file from ``position`` on; the records are not read until they are sent."""

    __slots__ = ("_channel", "position", "size_in_bytes")

    def __init__(self, channel: FileChannel, position: int, size_in_bytes: int) -> None:
        self._channel = channel
        self.position = position
        self.size_in_bytes = size_in_bytes

    def send_to(self, sock: socket.socket, offset: int, length: int) -> int:
        """Send from ``offset`` (within the slice) on: page cache to socket, without a copy in this process.

        Returns the number of bytes sent. Raises BlockingIOError if the socket accepts none, and KafkaError if the file
        has been truncated since; the slice cannot be completed then, and the connection must be closed.
        """
        count = min(length, self.size_in_bytes - offset)
        sent = os.sendfile(sock.fileno(), self._channel.fd, self.position + offset, count)
        if sent == 0 and count > 0:
            raise KafkaError(f"the log has been truncated below position {self.position + self.size_in_bytes}")
        return sent

    def between(self, begin: int, end: int) -> FileMessageSetSlice:
        """A part of the slice: the bytes from ``begin`` to before ``end``, within the slice."""
        return FileMessageSetSlice(self._channel, self.position + begin, min(end, self.size_in_bytes) - begin)

    def to_bytes(self) -> bytes:
        """Read the slice into memory."""
        return self._channel.read(self.position, self.size_in_bytes)

    def first_bytes(self, count: int) -> bytes:
        """Read up to ``count`` bytes from the beginning."""
        return self._channel.read(self.position, min(count, self.size_in_bytes))

    def headers(self) -> Iterator[FileChannelRecordBatch]:
        """The headers of all whole batches in the slice."""
        return file_batches(self._channel, self.position, self.position + self.size_in_bytes)

    def batches(self) -> Iterator[RecordBatch]:
        """Yield the whole batches in the slice, one at a time in memory; fewer if the file is truncated meanwhile."""
        for header in self.headers():
            yield from batches(self._channel.read(header.position, header.size_in_bytes))


_UNKNOWN = -1
"""Flushed size of a file that another process may have written, or that was truncated."""


class FileMessageSet:
    """The messages of one segment: a sequence of batches, stored as they are sent.

    ::

        │ batch │ batch   │ batch │ (free, if preallocated)   │
        0                         size_in_bytes
                                  ▲ append writes here, then increases the size: readers never see a partial write

    Positions are bytes from the beginning of the file. Only one thread may append or truncate; any number may read.
    """

    def __init__(self, file: Path, *, preallocate_bytes: int = 0) -> None:
        """Open ``file``, or create it, preallocating ``preallocate_bytes`` if that is not 0. Raises OSError."""
        newly_created = not file.exists()
        self.file = file
        self._channel = FileChannel(file)
        if newly_created and preallocate_bytes:
            os.ftruncate(self._channel.fd, preallocate_bytes)
        self._size = 0 if newly_created else os.fstat(self._channel.fd).st_size
        self._flushed_size = _UNKNOWN if self._size else 0

    @property
    def size_in_bytes(self) -> int:
        """Total size of the messages in bytes."""
        return self._size

    def read(self, position: int, size: int) -> FileMessageSetSlice:
        """Slice up to ``size`` bytes from ``position`` on, fewer at the end. Nothing is read from disk."""
        if position < 0 or size < 0:
            raise ValueError(f"cannot read {size} bytes from position {position}")
        return FileMessageSetSlice(self._channel, position, max(0, min(size, self._size - position)))

    def append(self, records: Buffer) -> int:
        """Write batches after the last one. Returns the number of bytes written.

        Raises OSError and leaves the file unchanged: if the disk becomes full within a batch, the next one must not be
        written after the fragment.
        """
        try:
            self._channel.write_fully(self._size, records)
        except OSError:
            os.ftruncate(self._channel.fd, self._size)
            raise
        written = len(records)
        self._size += written
        return written

    # -- searching ---------------------------------------------------------------------------------------------------

    def batches_from(self, position: int = 0) -> Iterator[FileChannelRecordBatch]:
        """Iterate over the headers of the batches from ``position`` on. Raises CorruptRecordError if one is invalid."""
        return file_batches(self._channel, position, self._size)

    def load(self, batch: FileChannelRecordBatch) -> RecordBatch:
        """Read a whole batch into memory, to access its records or check its CRC."""
        return next(batches(self._channel.read(batch.position, batch.size_in_bytes)))

    def search_for_offset_with_size(self, target_offset: int, starting_position: int) -> LogEntryPosition | None:
        """Find the first batch from ``starting_position`` on whose last offset is at or after ``target_offset``."""
        for batch in self.batches_from(starting_position):
            if batch.last_offset >= target_offset:
                return LogEntryPosition(batch.last_offset, batch.position, batch.size_in_bytes)
        return None

    def search_for_timestamp(
        self, target_timestamp: int, starting_position: int, starting_offset: int
    ) -> TimestampAndOffset | None:
        """Find the first message at or after both position and offset that is not older than the timestamp (ms).

        Only batches whose max timestamp reaches the target are read and, if necessary, decompressed.
        """
        for batch in self.batches_from(starting_position):
            if batch.max_timestamp < target_timestamp or batch.last_offset < starting_offset:
                continue
            for record in self.load(batch).records():
                if record.timestamp >= target_timestamp and record.offset >= starting_offset:
                    return TimestampAndOffset(record.timestamp, record.offset, batch.partition_leader_epoch)
        return None

    def largest_timestamp_after(self, starting_position: int) -> TimestampOffset:
        """The max timestamp from ``starting_position`` on, and the last offset of the first batch that has it."""
        largest = TimestampOffset(NO_TIMESTAMP, -1)
        for batch in self.batches_from(starting_position):
            if batch.max_timestamp > largest.timestamp:
                largest = TimestampOffset(batch.max_timestamp, batch.last_offset)
        return largest

    # -- the file ----------------------------------------------------------------------------------------------------

    def truncate_to(self, target_size: int) -> int:
        """Truncate to ``target_size`` bytes; returns how many that removes. Raises ValueError if it is smaller."""
        original_size = self._size
        if not 0 <= target_size <= original_size:
            raise ValueError(f"cannot truncate {self.file} to {target_size} bytes, its size is {original_size}")
        if target_size < os.fstat(self._channel.fd).st_size:
            self._size, self._flushed_size = target_size, _UNKNOWN
            os.ftruncate(self._channel.fd, target_size)
        return original_size - target_size

    def trim(self) -> None:
        """Release preallocated space that was not used."""
        self.truncate_to(self._size)

    def flush(self) -> None:
        """Force everything to disk."""
        size = self._size
        os.fsync(self._channel.fd)
        self._flushed_size = size

    def rename_to(self, file: Path) -> None:
        """Rename the file; readers are not affected."""
        os.replace(self.file, file)
        self.file = file

    def last_modified_ms(self) -> int:
        """When the file was last modified, in ms since the epoch."""
        return os.fstat(self._channel.fd).st_mtime_ns // 1_000_000

    def close(self) -> None:
        """Flush and trim; the file stays open as long as slices refer to it.

        Flushing is skipped if everything is on disk already: a broker that stops has thousands of such files.
        """
        if self._flushed_size != self._size:
            self.flush()
        self.trim()

    def delete(self) -> None:
        """Unlink the file; its data is freed when the last slice is gone."""
        self.file.unlink(missing_ok=True)
