"""One segment of a log: a .log file and its indexes.

Kafka 0.10.2: core/.../log/LogSegment.scala · book 6.1.3
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path

from kafka_lite.common.sendable import Buffer
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.log.abstract_index import InvalidOffsetError
from kafka_lite.log.fetch_data_info import FetchDataInfo
from kafka_lite.log.files.file_log_input_stream import FileChannelRecordBatch
from kafka_lite.log.files.file_message_set import FileMessageSet, LogEntryPosition, TimestampAndOffset
from kafka_lite.log.index_entry import OffsetPosition, TimestampOffset
from kafka_lite.log.leader_epoch_file_cache import LeaderEpochFileCache
from kafka_lite.log.log_append_info import LogAppendInfo
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_file_utils import log_file, offset_index_file, time_index_file, transaction_index_file
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.log.offset_index import OffsetIndex
from kafka_lite.log.producers.aborted_txn import AbortedTxn
from kafka_lite.log.producers.transaction_index import TransactionIndex
from kafka_lite.log.producers.transaction_replay import TransactionReplay
from kafka_lite.log.time_index import TimeIndex
from kafka_lite.metrics.timer import Timer
from kafka_lite.record.record import MAGIC_V2, NO_TIMESTAMP, CorruptRecordError, InvalidRecordError
from kafka_lite.record.record_batch import RecordBatch

logger = logging.getLogger(__name__)

log_flush_timer = Timer(SYSTEM_TIME)
"""Rate and duration of segment flushes (LogFlushStats), shared by all logs of the process."""


_FILES = (log_file, offset_index_file, time_index_file, transaction_index_file)


class LogSegment:
    """The messages from a base offset up to the next segment's base offset.

    ::

        00000000000000000020.log        the messages with offsets 20, 21, ...
        00000000000000000020.index      offset    → position in the .log file
        00000000000000000020.timeindex  timestamp → offset
        00000000000000000020.txnindex   aborted transactions, if there are any

    All offsets in it are at or above the base offset and greater than those in the previous segment. One thread at a
    time writes, under the log's lock; any number of threads may read.
    """

    def __init__(
        self,
        log: FileMessageSet,
        offset_index: OffsetIndex,
        time_index: TimeIndex,
        txn_index: TransactionIndex,
        base_offset: int,
        index_interval_bytes: int,
        roll_jitter_ms: int,
        time: Time,
    ) -> None:
        self.log = log
        self.offset_index = offset_index
        self.time_index = time_index
        self.txn_index = txn_index
        self.base_offset = base_offset
        self.roll_jitter_ms = roll_jitter_ms
        self._index_interval_bytes = index_interval_bytes
        self._time = time
        self._created_ms = time.milliseconds()
        self._bytes_since_last_index_entry = 0
        self._rolling_based_timestamp: int | None = None
        # Two numbers instead of a TimestampOffset, because almost every append changes them.
        self._max_timestamp_so_far, self._offset_of_max_timestamp_so_far = time_index.last_entry
        self._last_index_entry: OffsetPosition | None = None
        """Set if an entry was written since opening: most readers are near the end, and so skip the index search."""

    @classmethod
    def open(
        cls,
        directory: Path,
        base_offset: int,
        config: LogConfig,
        time: Time,
        suffix: str = "",
        index_interval_bytes: int | None = None,
    ) -> LogSegment:
        """Open the files of a segment, or create them. Raises OSError.

        ``index_interval_bytes`` overrides the configured one.
        """
        return cls(
            FileMessageSet(
                log_file(directory, base_offset, suffix),
                preallocate_bytes=config.segment_bytes if config.preallocate else 0,
            ),
            OffsetIndex(offset_index_file(directory, base_offset, suffix), base_offset, config.segment_index_bytes),
            TimeIndex(time_index_file(directory, base_offset, suffix), base_offset, config.segment_index_bytes),
            TransactionIndex(transaction_index_file(directory, base_offset, suffix)),
            base_offset,
            config.index_interval_bytes if index_interval_bytes is None else index_interval_bytes,
            config.random_segment_jitter_ms(),
            time,
        )

    @staticmethod
    def delete_if_exists(directory: Path, base_offset: int, suffix: str = "") -> None:
        """Delete existing files that are in the way of a new segment. Raises OSError."""
        for file in _FILES:
            path = file(directory, base_offset, suffix)
            if path.exists():
                logger.warning("The file %s of a new segment already exists; deleting it first", path)
                path.unlink()

    @staticmethod
    def delete_files(directory: Path, base_offset: int, suffix: str = "") -> None:
        """Delete the remains of a segment that could not be opened. Raises OSError."""
        for file in _FILES:
            file(directory, base_offset, suffix).unlink(missing_ok=True)

    @property
    def size(self) -> int:
        """Size of the messages in bytes."""
        return self.log.size_in_bytes

    # -- appending ---------------------------------------------------------------------------------------------------

    def append(self, info: LogAppendInfo, records: Buffer, aborted: Sequence[AbortedTxn] = ()) -> None:
        """Append the batches ``records``, described by ``info``, and add index entries if due.

        ``aborted`` are the transactions that markers among the batches abort.

        An entry is added to the indexes if more than ``index.interval.bytes`` were written since the last one. It
        points to this append. Its offset is the first one of the appended set up to message format v1, as in Kafka
        0.10, and the last one from v2 on, as in Kafka since 2.0 (because a follower learns the first offset of a
        compressed message only by decompressing it). Lookups work either way: the batch that contains the offset begins
        at the position.

        Raises OSError; nothing has been appended then.
        """
        position = self.log.size_in_bytes
        if not self.can_convert_to_relative_offset(info.last_offset):
            raise ValueError(f"offset {info.last_offset} is too far from the base offset {self.base_offset}")
        needs_index_entry = self._bytes_since_last_index_entry > self._index_interval_bytes
        if needs_index_entry:
            # Reserve now: a full disk must be detected before the messages are written, not between them and the entry.
            self.offset_index.reserve()
            self.time_index.reserve()
        if aborted:
            self.txn_index.append(aborted)
        try:
            written = self.log.append(records)
        except OSError:
            if aborted:
                self.txn_index.truncate_to(aborted[0].last_offset)
            raise
        if position == 0:
            self._rolling_based_timestamp = info.max_timestamp
        if info.max_timestamp > self._max_timestamp_so_far:
            self._max_timestamp_so_far = info.max_timestamp
            self._offset_of_max_timestamp_so_far = info.offset_of_max_timestamp
        if needs_index_entry:
            self._append_index_entries(info.last_offset if info.magic >= MAGIC_V2 else info.first_offset, position)
        self._bytes_since_last_index_entry += written

    def _append_index_entries(self, offset: int, position: int) -> None:
        self.offset_index.append(offset, position)
        self.time_index.maybe_append(self._max_timestamp_so_far, self._offset_of_max_timestamp_so_far)
        self._last_index_entry = OffsetPosition(offset, position)
        self._bytes_since_last_index_entry = 0

    def _append_last_time_index_entry(self) -> None:
        largest, offset = self._max_timestamp_so_far, self._offset_of_max_timestamp_so_far
        self.time_index.maybe_append(largest, offset, skip_full_check=True)

    def can_convert_to_relative_offset(self, offset: int) -> bool:
        """Whether the offset can be stored in the indexes, relative to the base offset."""
        return self.offset_index.can_append_offset(offset)

    def should_roll(self, config: LogConfig, info: LogAppendInfo, size_in_bytes: int, now_ms: int) -> bool:
        """Whether an append of ``size_in_bytes`` must go to a new segment.

        That is the case if the offset cannot be stored here, or if the segment is not empty and would exceed
        ``segment.bytes``, is older than ``max_segment_ms`` (minus its jitter), or has a full index.
        """
        if not self.can_convert_to_relative_offset(info.last_offset):
            return True
        size = self.log.size_in_bytes
        if size == 0:
            return False
        return (
            size > config.segment_bytes - size_in_bytes
            or self.time_waited_for_roll(now_ms, info.max_timestamp) > config.max_segment_ms - self.roll_jitter_ms
            or self.offset_index.is_full
            or self.time_index.is_full
        )

    def time_waited_for_roll(self, now_ms: int, message_timestamp: int) -> int:
        """Age of the segment in ms, measured by its messages: from the first message's timestamp to the new one's.

        Without timestamps (message format v0), it is the time since the segment was created or opened.
        """
        first = self.first_batch_timestamp
        return now_ms - self._created_ms if first < 0 else message_timestamp - first

    @property
    def first_batch_timestamp(self) -> int:
        """The max timestamp of the first batch, in ms, or -1 if there is none."""
        if self._rolling_based_timestamp is None:
            first = next(self.log.batches_from(), None)
            if first is None:
                return NO_TIMESTAMP
            self._rolling_based_timestamp = first.max_timestamp
        return self._rolling_based_timestamp

    # -- reading -----------------------------------------------------------------------------------------------------

    def translate_offset(self, offset: int, starting_position: int = 0) -> LogEntryPosition | None:
        """Find the first batch whose last offset is at or after ``offset``, or None if there is none.

        ``starting_position`` is a position known to be at or before it, possibly closer than that of the index.
        """
        mapping = self._last_index_entry
        if mapping is None or offset < mapping.offset:
            mapping = self.offset_index.lookup(offset)
        return self.log.search_for_offset_with_size(offset, max(mapping.position, starting_position))

    def read(
        self,
        start_offset: int,
        max_size: int,
        max_offset: int | None = None,
        max_position: int | None = None,
        min_one_message: bool = False,
        starting_position: int = 0,
    ) -> FetchDataInfo | None:
        """Read at most ``max_size`` bytes, from the batch with ``start_offset`` up to ``max_offset`` (exclusive).

        ``max_position`` is how much of the file readers may see. With ``min_one_message`` the first batch is read even
        if it is larger than ``max_size``. For ``starting_position`` see ``translate_offset``. Returns None if all
        offsets in this segment are smaller.
        """
        start = self.translate_offset(start_offset, starting_position)
        if start is None:
            return None
        where = LogOffsetMetadata(start_offset, self.base_offset, start.position)
        limit = max(max_size, start.size) if min_one_message else max_size
        end = self.size if max_position is None else max_position
        if max_offset is not None:
            end = min(end, self._end_position(start_offset, max_offset, start.position))
        length = min(limit, end - start.position)
        if length <= 0:
            return FetchDataInfo(where)
        return FetchDataInfo(where, self.log.read(start.position, length), limit < start.size)

    def _end_position(self, start_offset: int, max_offset: int, start_position: int) -> int:
        """Position of the batch with ``max_offset``, or the end of the file if that offset is not in it (yet).

        Shortly after an election the high watermark may be lower than what a consumer has already read; then there is
        nothing to read.
        """
        if max_offset < start_offset:
            return start_position
        end = self.translate_offset(max_offset, start_position)
        return self.size if end is None else end.position

    def batch_with(self, offset: int) -> FileChannelRecordBatch | None:
        """The header of the first batch whose last offset is at or after ``offset``, or None."""
        found = self.translate_offset(offset)
        return None if found is None else next(self.log.batches_from(found.position), None)

    def read_next_offset(self) -> int:
        """The offset after the last message, found by reading the file from the last index entry on."""
        next_offset = self.base_offset
        for batch in self.log.batches_from(self.offset_index.lookup(self.offset_index.last_offset).position):
            next_offset = batch.next_offset
        return next_offset

    def find_offset_by_timestamp(self, timestamp: int, starting_offset: int) -> TimestampAndOffset | None:
        """Find the first message at or after ``starting_offset`` that is not older than ``timestamp`` (ms)."""
        entry = self.time_index.lookup(timestamp)
        position = self.offset_index.lookup(max(entry.offset, starting_offset)).position
        return self.log.search_for_timestamp(timestamp, position, starting_offset)

    # -- timestamps --------------------------------------------------------------------------------------------------

    @property
    def max_timestamp_so_far(self) -> TimestampOffset:
        """The largest timestamp of the messages (-1 if they have none) and its offset."""
        return TimestampOffset(self._max_timestamp_so_far, self._offset_of_max_timestamp_so_far)

    @property
    def largest_timestamp(self) -> int:
        """The largest timestamp of the messages, or if they have none, the file's modification time (ms)."""
        largest = self._max_timestamp_so_far
        return largest if largest >= 0 else self.log.last_modified_ms()

    def _read_largest_timestamp(self) -> TimestampOffset:
        """Compute the largest timestamp again: that of the last index entry, or of a later message."""
        last_entry = self.time_index.last_entry
        position = self.offset_index.lookup(last_entry.offset).position
        later = self.log.largest_timestamp_after(position)
        return later if later.timestamp > last_entry.timestamp else last_entry

    # -- recovery and truncation -------------------------------------------------------------------------------------

    def sanity_check(self) -> None:
        """Raise CorruptIndexError if an index is corrupt."""
        self.offset_index.sanity_check()
        self.time_index.sanity_check()
        self.txn_index.sanity_check(self.base_offset)

    def recover(
        self,
        leader_epoch_cache: LeaderEpochFileCache | None = None,
        transactions: TransactionReplay | None = None,
    ) -> int:
        """Read the whole file, check every CRC, rebuild the indexes, and truncate at the first invalid batch.

        New leader epochs found in the batches are added to the cache. The transaction index is rebuilt if
        ``transactions`` knows which ones are open at the segment's base offset. Otherwise it is kept, without the
        entries past the valid batches. Returns the number of bytes truncated.
        """
        if transactions is not None:
            self.txn_index.reset()
        self._reset_indexes()
        valid_bytes = 0
        next_offset = self.base_offset
        try:
            for batch in self.log.batches_from():
                loaded = self._load_valid(batch, next_offset)
                if batch.max_timestamp > self._max_timestamp_so_far:
                    self._max_timestamp_so_far = batch.max_timestamp
                    self._offset_of_max_timestamp_so_far = batch.last_offset
                if self._bytes_since_last_index_entry > self._index_interval_bytes and self._indexes_have_room():
                    is_v2 = batch.magic >= MAGIC_V2  # see append
                    self._append_index_entries(batch.last_offset if is_v2 else loaded.base_offset, batch.position)
                self._bytes_since_last_index_entry += batch.size_in_bytes
                valid_bytes += batch.size_in_bytes
                next_offset = batch.next_offset
                if leader_epoch_cache is not None and batch.partition_leader_epoch >= 0:
                    leader_epoch_cache.assign_newer(batch.partition_leader_epoch, batch.first_or_last_offset)
                if transactions is not None and loaded.has_producer_id:
                    self.txn_index.append(transactions.add(loaded))
        except (CorruptRecordError, InvalidRecordError, InvalidOffsetError) as error:
            logger.warning("Found invalid messages in %s at position %d: %s", self.log.file, valid_bytes, error)
        truncated = self.log.truncate_to(valid_bytes)
        self.txn_index.truncate_to(next_offset)
        self.on_become_inactive_segment()
        return truncated

    def _indexes_have_room(self) -> bool:
        """False if an index is full: large appends got fewer entries than their batches get here."""
        return not (self.offset_index.is_full or self.time_index.is_full)

    def _load_valid(self, batch: FileChannelRecordBatch, next_offset: int) -> RecordBatch:
        """Read the batch. Raises CorruptRecordError for a wrong CRC or an impossible offset (no CRC covers it)."""
        if batch.last_offset < next_offset or not self.can_convert_to_relative_offset(batch.last_offset):
            raise CorruptRecordError(f"offset {batch.last_offset} cannot follow offset {next_offset - 1}")
        loaded = self.log.load(batch)
        loaded.ensure_valid()
        return loaded

    def _reset_indexes(self) -> None:
        self._last_index_entry = None
        self.offset_index.truncate()
        self.time_index.truncate()
        self.resize_indexes(self.offset_index.max_index_size)
        self._max_timestamp_so_far, self._offset_of_max_timestamp_so_far = NO_TIMESTAMP, self.base_offset
        self._bytes_since_last_index_entry = 0

    def truncate_to(self, offset: int) -> int:
        """Remove the batch with ``offset`` and all after it; returns the number of bytes removed.

        The segment becomes the active one, so its indexes are enlarged again.
        """
        mapping = self.translate_offset(offset)
        self._last_index_entry = None
        self.offset_index.truncate_to(offset)
        self.time_index.truncate_to(offset)
        self.txn_index.truncate_to(offset)
        self.resize_indexes(self.offset_index.max_index_size)
        truncated = 0 if mapping is None else self.log.truncate_to(mapping.position)
        if self.size == 0:
            self._created_ms = self._time.milliseconds()
            self._rolling_based_timestamp = None
        self._bytes_since_last_index_entry = 0
        if self._max_timestamp_so_far >= 0:
            self._max_timestamp_so_far, self._offset_of_max_timestamp_so_far = self._read_largest_timestamp()
        return truncated

    def resize_indexes(self, size: int) -> None:
        """Resize both index files to hold ``size`` bytes of entries."""
        self.offset_index.resize(size)
        self.time_index.resize(size)

    # -- the files ---------------------------------------------------------------------------------------------------

    def on_become_inactive_segment(self) -> None:
        """Add the last time index entry and release all unused space: nothing more will be appended."""
        self._append_last_time_index_entry()
        self.offset_index.trim_to_valid_size()
        self.time_index.trim_to_valid_size()
        self.log.trim()

    def flush(self) -> None:
        """Force everything to disk. Raises OSError."""
        with log_flush_timer.time():
            self.log.flush()
            self.offset_index.flush()
            self.time_index.flush()
            self.txn_index.flush()

    def change_file_suffixes(self, old_suffix: str, new_suffix: str) -> None:
        """Rename the files: ``00.log.swap`` → ``00.log``. Raises OSError."""
        for part in (self.log, self.offset_index, self.time_index, self.txn_index):
            part.rename_to(part.file.with_name(part.file.name.removesuffix(old_suffix) + new_suffix))

    def set_last_modified_ms(self, time_ms: int) -> None:
        """Set the files' modification time to ``time_ms``: cleaning does not make messages newer."""
        for part in (self.log, self.offset_index, self.time_index):
            os.utime(part.file, ns=(time_ms * 1_000_000, time_ms * 1_000_000))

    def update_directory(self, directory: Path) -> None:
        """Update the paths after the directory has been renamed."""
        for part in (self.log, self.offset_index, self.time_index, self.txn_index):
            part.file = directory / part.file.name

    def close(self) -> None:
        """Complete the indexes, then trim, flush and close the files. Raises OSError."""
        self._append_last_time_index_entry()
        self.offset_index.close()
        self.time_index.close()
        self.log.close()

    def delete(self) -> None:
        """Delete the files. Raises OSError."""
        self.log.delete()
        self.offset_index.delete()
        self.time_index.delete()
        self.txn_index.delete()

    def __repr__(self) -> str:
        return f"LogSegment(base_offset={self.base_offset}, size={self.size})"
