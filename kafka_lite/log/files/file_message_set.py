"""The .log file of a segment, and slices of it that go to a socket unread.

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
    """A batch in the file: its last offset, where it begins, how long it is (bytes)."""

    offset: int
    position: int
    size: int


class TimestampAndOffset(NamedTuple):
    """A message that was searched by time, with the epoch of the leader that wrote it (-1: not known)."""

    timestamp: int
    offset: int
    leader_epoch: int = -1


class FileMessageSetSlice:
    """``size_in_bytes`` bytes of a .log file from ``position`` on: records that nobody reads until they are sent."""

    __slots__ = ("_channel", "position", "size_in_bytes")

    def __init__(self, channel: FileChannel, position: int, size_in_bytes: int) -> None:
        self._channel = channel
        self.position = position
        self.size_in_bytes = size_in_bytes

    def send_to(self, sock: socket.socket, offset: int, length: int) -> int:
        """Send from ``offset`` (within the slice) on: page cache to socket, without a copy in this process.

        Returns the bytes sent; raises BlockingIOError when the socket takes none, KafkaError when the file has been
        truncated since, so that the slice cannot be completed and the connection must be closed.
        """
        count = min(length, self.size_in_bytes - offset)
        sent = os.sendfile(sock.fileno(), self._channel.fd, self.position + offset, count)
        if sent == 0 and count > 0:
            raise KafkaError(f"the log has been truncated below position {self.position + self.size_in_bytes}")
        return sent

    def to_bytes(self) -> bytes:
        """The slice in memory."""
        return self._channel.read(self.position, self.size_in_bytes)

    def first_bytes(self, count: int) -> bytes:
        """Up to ``count`` bytes from the beginning."""
        return self._channel.read(self.position, min(count, self.size_in_bytes))

    def headers(self) -> Iterator[FileChannelRecordBatch]:
        """The headers of the whole batches of the slice."""
        return file_batches(self._channel, self.position, self.position + self.size_in_bytes)

    def batches(self) -> Iterator[RecordBatch]:
        """The whole batches of the slice, one at a time in memory; fewer if the file is truncated meanwhile."""
        for header in self.headers():
            yield from batches(self._channel.read(header.position, header.size_in_bytes))


_UNKNOWN = -1
"""How much of a file is on disk that another process may have written, or that was truncated."""


class FileMessageSet:
    """The messages of one segment: batches one after the other, as they came, as they will be sent.

    ::

        │ batch │ batch   │ batch │ (room, when preallocated) │
        0                         size_in_bytes
                                  ▲ append writes here, then the size grows: readers never see half of it

    Positions are bytes from the beginning of the file. Only one thread appends or truncates; any number may read.
    """

    def __init__(self, file: Path, *, preallocate_bytes: int = 0) -> None:
        """Open ``file``, or create it, with room for ``preallocate_bytes`` if that is not 0. Raises OSError."""
        newly_created = not file.exists()
        self.file = file
        self._channel = FileChannel(file)
        if newly_created and preallocate_bytes:
            os.ftruncate(self._channel.fd, preallocate_bytes)
        self._size = 0 if newly_created else os.fstat(self._channel.fd).st_size
        self._flushed_size = _UNKNOWN if self._size else 0

    @property
    def size_in_bytes(self) -> int:
        """How many bytes of messages there are."""
        return self._size

    def read(self, position: int, size: int) -> FileMessageSetSlice:
        """Up to ``size`` bytes from ``position`` on, less at the end. Nothing is read from the disk."""
        if position < 0 or size < 0:
            raise ValueError(f"cannot read {size} bytes from position {position}")
        return FileMessageSetSlice(self._channel, position, max(0, min(size, self._size - position)))

    def append(self, records: Buffer) -> int:
        """Write batches behind the last one; returns the bytes written.

        Raises OSError, and then the file is what it was before: a disk that is full in the middle of a batch must not
        leave half of it behind, on which the next one would be written.
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
        """The headers of the batches from ``position`` on; raises CorruptRecordError where there is none."""
        return file_batches(self._channel, position, self._size)

    def load(self, batch: FileChannelRecordBatch) -> RecordBatch:
        """Read a whole batch into memory, to look at its records or to check its CRC."""
        return next(batches(self._channel.read(batch.position, batch.size_in_bytes)))

    def search_for_offset_with_size(self, target_offset: int, starting_position: int) -> LogEntryPosition | None:
        """The first batch from ``starting_position`` on whose last offset is not before ``target_offset``."""
        for batch in self.batches_from(starting_position):
            if batch.last_offset >= target_offset:
                return LogEntryPosition(batch.last_offset, batch.position, batch.size_in_bytes)
        return None

    def search_for_timestamp(
        self, target_timestamp: int, starting_position: int, starting_offset: int
    ) -> TimestampAndOffset | None:
        """The first message at or behind both the position and the offset that is not older than the timestamp (ms).

        Only a batch whose largest timestamp reaches the target is read and, if need be, decompressed.
        """
        for batch in self.batches_from(starting_position):
            if batch.max_timestamp < target_timestamp or batch.last_offset < starting_offset:
                continue
            for record in self.load(batch).records():
                if record.timestamp >= target_timestamp and record.offset >= starting_offset:
                    return TimestampAndOffset(record.timestamp, record.offset, batch.partition_leader_epoch)
        return None

    def largest_timestamp_after(self, starting_position: int) -> TimestampOffset:
        """The largest timestamp from ``starting_position`` on, and the last offset of the first batch that has it."""
        largest = TimestampOffset(NO_TIMESTAMP, -1)
        for batch in self.batches_from(starting_position):
            if batch.max_timestamp > largest.timestamp:
                largest = TimestampOffset(batch.max_timestamp, batch.last_offset)
        return largest

    # -- the file ----------------------------------------------------------------------------------------------------

    def truncate_to(self, target_size: int) -> int:
        """Cut off all bytes beyond ``target_size``; returns how many. Raises ValueError when there are not as many."""
        original_size = self._size
        if not 0 <= target_size <= original_size:
            raise ValueError(f"cannot truncate {self.file} to {target_size} bytes, its size is {original_size}")
        if target_size < os.fstat(self._channel.fd).st_size:
            self._size, self._flushed_size = target_size, _UNKNOWN
            os.ftruncate(self._channel.fd, target_size)
        return original_size - target_size

    def trim(self) -> None:
        """Give back what was preallocated and not used."""
        self.truncate_to(self._size)

    def flush(self) -> None:
        """Force everything to disk."""
        size = self._size
        os.fsync(self._channel.fd)
        self._flushed_size = size

    def rename_to(self, file: Path) -> None:
        """Give the file another name; who reads it does not notice."""
        os.replace(self.file, file)
        self.file = file

    def last_modified_ms(self) -> int:
        """When the file was last written to, ms since the epoch."""
        return os.fstat(self._channel.fd).st_mtime_ns // 1_000_000

    def close(self) -> None:
        """Flush and trim; the file itself stays open as long as there are slices of it.

        What is on disk is not waited for once more: a broker that stops has thousands of such files.
        """
        if self._flushed_size != self._size:
            self.flush()
        self.trim()

    def delete(self) -> None:
        """Remove the file's name; its bytes go when the last slice is gone."""
        self.file.unlink(missing_ok=True)
