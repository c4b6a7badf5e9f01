"""The log of one partition: append at the end, read anywhere.

Kafka 0.10.2: core/.../log/Log.scala · book 6.1.2
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import threading
from collections.abc import Sequence
from pathlib import Path

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.sendable import Buffer
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log import log_offset_search
from kafka_lite.log.abstract_index import MAX_RELATIVE_OFFSET
from kafka_lite.log.checkpoints.leader_epoch_checkpoint_file import EpochEntry, LeaderEpochCheckpointFile
from kafka_lite.log.cleaning.log_cleaning_state import LogCleaningAbortedError
from kafka_lite.log.cleaning.segment_replacement import SegmentReplacement
from kafka_lite.log.fetch_data_info import FetchDataInfo
from kafka_lite.log.files.file_message_set import TimestampAndOffset
from kafka_lite.log.leader_epoch_file_cache import LeaderEpochFileCache
from kafka_lite.log.log_append_info import LogAppendInfo, analyze_and_validate_records
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_dir_failure_channel import LogDirFailureChannel
from kafka_lite.log.log_file_utils import flush_file_or_directory, parse_topic_partition_name
from kafka_lite.log.log_loader import LogLoader
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.log.log_retention import deletable_segments
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.log.log_segments import LogSegments
from kafka_lite.log.log_validator import AppendOrigin, LogValidator
from kafka_lite.log.producers.producer_state_loader import rebuild_producer_state
from kafka_lite.log.producers.producer_state_manager import LastRecord, PreparedUpdates, ProducerStateManager
from kafka_lite.log.producers.producer_state_manager_config import ProducerStateManagerConfig
from kafka_lite.log.storage_errors import StorageErrors
from kafka_lite.record.record import MAGIC_V2
from kafka_lite.record.records import batches

__all__ = ["Log", "LogAppendInfo"]

logger = logging.getLogger(__name__)

NO_UPDATES = PreparedUpdates()


class Log:
    """A sequence of segments: the newest one is appended to, the others are only read and deleted.

    ::

        topic-0/
        00000000000000000000.log  │ 0 ──────────── 19 │
        00000000000000000020.log                      │ 20 ────────── 44 │
        00000000000000000045.log    (active)                             │ 45 ─────── 57 │
                                          ▲                                    ▲         ▲
                                          log start offset         recovery point        log end offset (LEO)

    * Records below the *log start offset* may not be read any more, even if the segment still exists.
    * Records below the *recovery point* are on disk; those above may be only in the page cache.
    * The *log end offset* is the offset of the next message.

    One lock guards all changes. Reads take no lock: they see the log as it was when they began, because the log end
    offset moves only after the bytes have been written, and removed segments keep their files for a while.

    File system errors are raised as ApiError KAFKA_STORAGE_ERROR and reported to the failure channel.
    """

    def __init__(
        self,
        directory: Path,
        config: LogConfig,
        recovery_point: int,
        scheduler: Scheduler,
        time: Time,
        *,
        log_start_offset: int = 0,
        had_clean_shutdown: bool = False,
        producer_config: ProducerStateManagerConfig | None = None,
        log_dir_failure_channel: LogDirFailureChannel | None = None,
    ) -> None:
        """Open the log in ``directory`` (``topic-partition``), or create it.

        Unless the last shutdown was clean, everything from ``recovery_point`` on is checked. Raises OSError if the
        files cannot be read or written, KafkaError if the directory name is not that of a partition.
        """
        self.dir = directory
        self.parent_dir = str(directory.parent)
        self.config = config
        self.topic_partition: TopicPartition = parse_topic_partition_name(directory)
        self._scheduler = scheduler
        self._time = time
        self._lock = threading.RLock()
        failures = log_dir_failure_channel or LogDirFailureChannel()
        self._storage_errors = StorageErrors(self.topic_partition, directory.parent, failures)
        self._last_flushed_ms = time.milliseconds()
        self._validator = LogValidator.for_log(config)
        started_ms = time.hi_res_ms()
        directory.mkdir(parents=True, exist_ok=True)
        self.segments = LogSegments()
        self.leader_epoch_cache = self._open_leader_epoch_cache(config)
        self.producer_state = ProducerStateManager(self.topic_partition, directory, producer_config)
        loaded = LogLoader(
            directory,
            config,
            time,
            self.segments,
            self.leader_epoch_cache,
            self.producer_state,
            had_clean_shutdown=had_clean_shutdown,
            log_start_offset_checkpoint=log_start_offset,
            recovery_point_checkpoint=recovery_point,
        ).load()
        self._replacement = SegmentReplacement(self.segments, self.producer_state, scheduler)
        self.log_start_offset = loaded.log_start_offset
        self.recovery_point = loaded.recovery_point
        self.recovery = loaded.recovery
        """What recovery read from this log after an unclean shutdown."""
        self._next_offset_metadata = self._previous_end = loaded.next_offset_metadata
        took_ms, offsets = time.hi_res_ms() - started_ms, f"{self.log_start_offset} to {self.log_end_offset}"
        logger.debug("Loaded log %s: %d segments, offsets %s, %.0f ms", self.name, len(self.segments), offsets, took_ms)

    def _open_leader_epoch_cache(self, config: LogConfig) -> LeaderEpochFileCache | None:
        """Open the cache, or return None for older formats: only v2 batches carry their leader's epoch."""
        if config.magic < MAGIC_V2:
            return None
        return LeaderEpochFileCache(self.topic_partition, LeaderEpochCheckpointFile(self.dir))

    # -- properties --------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """``topic-partition``."""
        return self.dir.name

    @property
    def log_end_offset(self) -> int:
        """The offset of the next message."""
        return self._next_offset_metadata.message_offset

    @property
    def log_end_offset_metadata(self) -> LogOffsetMetadata:
        """The offset of the next message and its position."""
        return self._next_offset_metadata

    @property
    def size(self) -> int:
        """Total size of the messages in all segments, in bytes."""
        return sum(segment.size for segment in self.segments)

    @property
    def active_segment(self) -> LogSegment:
        """The segment to which messages are appended."""
        return self.segments.active

    @property
    def unflushed_messages(self) -> int:
        """Number of messages that may not be on disk yet."""
        return self.log_end_offset - self.recovery_point

    @property
    def last_flush_time_ms(self) -> int:
        """When the log was last flushed (or opened)."""
        return self._last_flushed_ms

    def update_config(self, config: LogConfig) -> None:
        """Use another configuration from now on; existing segments keep their jitter and index interval.

        Raises ApiError KAFKA_STORAGE_ERROR, with nothing changed, if another format needs the leader epochs and they
        cannot be read.
        """
        with self._lock:
            if (config.magic >= MAGIC_V2) != (self.leader_epoch_cache is not None):
                with self._storage_errors("reading the leader epochs"):
                    self.leader_epoch_cache = self._open_leader_epoch_cache(config)
            self.config = config
            self._validator = LogValidator.for_log(config)

    # -- append ------------------------------------------------------------------------------------------------------

    def append_as_leader(
        self, records: Buffer, leader_epoch: int, origin: AppendOrigin = AppendOrigin.CLIENT
    ) -> LogAppendInfo:
        """Validate a producer's records, assign their offsets, and append them.

        ``records`` is changed in place if it is writable. Raises ApiError as ``validate_and_assign_offsets`` does
        (MESSAGE_TOO_LARGE, CORRUPT_MESSAGE, INVALID_TIMESTAMP, ...), RECORD_LIST_TOO_LARGE if the records do not fit in
        a segment, OUT_OF_ORDER_SEQUENCE_NUMBER and INVALID_PRODUCER_EPOCH (see ``ProducerAppendInfo``), and
        KAFKA_STORAGE_ERROR if they cannot be written; in all these cases nothing has been appended. A batch that an
        idempotent producer sends again is not appended either: the result has the offset of the first time.
        """
        with self._lock:
            self._storage_errors.check()
            try:
                offset, now_ms = self._next_offset_metadata.message_offset, self._time.milliseconds()
                result = self._validator.validate(records, offset, now_ms, leader_epoch, origin)
                info = LogAppendInfo.of_validated(result, leader_epoch)
                return self._append(result.records, info, origin, now_ms)
            except OSError as error:
                raise self._storage_errors.storage_error("appending records", error) from error

    def append_as_follower(self, records: Buffer) -> LogAppendInfo:
        """Append records from the leader, keeping their offsets.

        Raises ApiError CORRUPT_MESSAGE if a CRC is wrong or an offset is below the log end offset.
        """
        info = analyze_and_validate_records(records)
        valid = memoryview(records)[: info.size_in_bytes]
        with self._lock, self._storage_errors("appending records"):
            if valid.nbytes and info.first_offset < self.log_end_offset:
                raise Errors.CORRUPT_MESSAGE.exception(
                    f"offset {info.first_offset} of the leader lies before the log end offset {self.log_end_offset} "
                    f"of {self.topic_partition}"
                )
            return self._append(valid, info, AppendOrigin.REPLICATION, self._time.milliseconds())

    def _append(self, records: Buffer, info: LogAppendInfo, origin: AppendOrigin, now_ms: int) -> LogAppendInfo:
        """Append validated batches to the active segment, then advance the log end offset."""
        info.log_start_offset = self.log_start_offset
        if info.size_in_bytes == 0:
            return info
        if info.size_in_bytes > self.config.segment_bytes:
            sizes = f"{info.size_in_bytes} bytes exceed segment.bytes = {self.config.segment_bytes}"
            raise Errors.RECORD_LIST_TOO_LARGE.exception(sizes)
        appended = batches(records) if info.batch is None else (info.batch,)
        producers = self.producer_state.prepare_updates(appended, origin) if info.has_producer_id else NO_UPDATES
        if producers.duplicate is not None:
            return LogAppendInfo.of_duplicate(producers.duplicate, self.log_start_offset)
        if self.leader_epoch_cache is not None:
            self.leader_epoch_cache.assign_from(records, info)
        segment = self._maybe_roll(info, now_ms)
        segment.append(info, records)
        self._update_log_end_offset(info.last_offset + 1)
        for append in producers.appends:
            self.producer_state.update(append)
        self.producer_state.update_map_end_offset(info.last_offset + 1)
        if self.unflushed_messages >= self.config.flush_messages:
            self.flush()
        return info

    def _update_log_end_offset(self, offset: int) -> None:
        active = self.segments.active
        self._previous_end = self._next_offset_metadata
        self._next_offset_metadata = LogOffsetMetadata(offset, active.base_offset, active.size)

    # -- roll --------------------------------------------------------------------------------------------------------

    def _maybe_roll(self, info: LogAppendInfo, now_ms: int) -> LogSegment:
        active = self.segments.active
        if not active.should_roll(self.config, info, info.size_in_bytes, now_ms):
            return active
        # The first offset is not always known (see LogAppendInfo), but this is a lower bound for it. The base offset
        # must be close enough to the last offset, even if a compacted leader has no messages in between.
        return self.roll(info.last_offset - MAX_RELATIVE_OFFSET)

    def roll(self, expected_next_offset: int = 0) -> LogSegment:
        """Start a new segment at the log end offset, or at ``expected_next_offset`` if that is greater.

        The old segment's files are trimmed, and it is flushed in the background. If an empty active segment already
        has that base offset, it is kept. Raises ApiError KAFKA_STORAGE_ERROR.
        """
        with self._lock, self._storage_errors("rolling the log"):
            base_offset = max(expected_next_offset, self.log_end_offset)
            active = self.segments.active
            if base_offset == active.base_offset:
                return active
            segment = self._new_segment(base_offset)
            try:
                active.on_become_inactive_segment()
            except OSError:
                segment.delete()
                raise
            self.segments.add(segment)
            # The offset is unchanged, but its position is now in the new segment.
            self._update_log_end_offset(self.log_end_offset)
            self.producer_state.update_map_end_offset(base_offset)
            snapshot = self.producer_state.take_snapshot(sync=False)
            self._scheduler.schedule("flush-log", lambda: self._flush_rolled(base_offset, snapshot))
            logger.info("Rolled new log segment at offset %d of %s", base_offset, self.name)
            return segment

    def _flush_rolled(self, base_offset: int, snapshot: Path | None) -> None:
        if snapshot is not None and not self._storage_errors.closed:
            with self._storage_errors("flushing"), contextlib.suppress(FileNotFoundError):  # deleted or renamed
                flush_file_or_directory(snapshot)
        self.flush(base_offset)

    def _new_segment(self, base_offset: int) -> LogSegment:
        LogSegment.delete_if_exists(self.dir, base_offset)
        try:
            return LogSegment.open(self.dir, base_offset, self.config, self._time)
        except OSError:
            LogSegment.delete_files(self.dir, base_offset)  # the files that did fit on the disk
            raise

    # -- read --------------------------------------------------------------------------------------------------------

    def read(
        self, start_offset: int, max_length: int, max_offset: int | None = None, min_one_message: bool = False
    ) -> FetchDataInfo:
        """Read at most ``max_length`` bytes, from the batch with ``start_offset`` up to ``max_offset`` (exclusive).

        The result is a slice of one segment's file; the next segment takes another read. With ``min_one_message`` the
        first batch is returned whole even if it is larger than ``max_length``. Raises ApiError OFFSET_OUT_OF_RANGE if
        the offset is below the log start offset or above the log end offset, and KAFKA_STORAGE_ERROR.
        """
        with self._storage_errors("reading"):
            end = self._next_offset_metadata  # read once, since it may move in the meantime
            segments = self.segments.from_offset(start_offset)  # before the log start offset: see delete_old_segments
            end_offset = end.message_offset
            if not self.log_start_offset <= start_offset <= end_offset:
                bounds = f"[{self.log_start_offset}, {end_offset}] of {self.topic_partition}"
                raise Errors.OFFSET_OUT_OF_RANGE.exception(f"offset {start_offset} is not within {bounds}")
            if start_offset == end_offset:
                return FetchDataInfo(end)
            if max_offset is not None and max_offset >= end_offset:
                max_offset = None  # everything is committed: no need to look up the position
            # All messages of the segment may have been compacted away; then the offset is in a later one.
            newest = end.segment_base_offset
            last = self._previous_end  # where the last append began: the position that most readers wait for
            for segment in segments:
                if segment.base_offset > newest:
                    break
                visible = end.relative_position_in_segment if segment.base_offset == newest else segment.size
                known = last.segment_base_offset == segment.base_offset and last.message_offset <= start_offset
                place = last.relative_position_in_segment if known else 0
                found = segment.read(start_offset, max_length, max_offset, visible, min_one_message, place)
                if found is not None:
                    return found
            return FetchDataInfo(end)

    def convert_to_offset_metadata(self, offset: int) -> LogOffsetMetadata:
        """Find the position of the message with ``offset``. Returns UNKNOWN if it is out of range."""
        try:
            return self.read(offset, 1).fetch_offset_metadata
        except ApiError as error:
            if error.error is not Errors.OFFSET_OUT_OF_RANGE:
                raise
            return LogOffsetMetadata.UNKNOWN

    def fetch_offset_by_timestamp(self, target_timestamp: int) -> TimestampAndOffset | None:
        """Find the first message that is not older than the timestamp (ms), or the one that -1, -2, -3 or -4 asks for.

        See ``log_offset_search``.
        """
        with self._storage_errors("searching by time"):
            return log_offset_search.fetch_offset_by_timestamp(
                tuple(self.segments),
                target_timestamp,
                log_start_offset=self.log_start_offset,
                log_end_offset=self.log_end_offset,
                magic=self.config.magic,
                leader_epochs=self.leader_epoch_cache,
            )

    def legacy_fetch_offsets_before(self, timestamp: int, max_num_offsets: int) -> list[int]:
        """Base offsets of segments last written to at or before ``timestamp``, newest first (ListOffsets v0)."""
        return log_offset_search.legacy_fetch_offsets_before(
            tuple(self.segments),
            timestamp,
            max_num_offsets,
            log_start_offset=self.log_start_offset,
            log_end_offset=self.log_end_offset,
            now_ms=self._time.milliseconds(),
        )

    # -- leader epochs -----------------------------------------------------------------------------------------------

    def maybe_assign_epoch_start_offset(self, leader_epoch: int, start_offset: int) -> None:
        """Record that a new leader's epoch begins at ``start_offset``."""
        if self.leader_epoch_cache is not None:
            with self._storage_errors("writing leader epochs"):
                # An empty log has nothing to lose, so do not wait for the disk once per partition of a new topic.
                self.leader_epoch_cache.assign(leader_epoch, start_offset, sync=self.log_end_offset > 0)

    @property
    def latest_epoch(self) -> int:
        """The newest known leader epoch, or -1 if there is none."""
        return self.leader_epoch_cache.latest_epoch if self.leader_epoch_cache is not None else -1

    def end_offset_for_epoch(self, leader_epoch: int) -> EpochEntry:
        """Return (epoch, end offset) of the newest epoch that is not newer, or (-1, -1) if unknown."""
        if self.leader_epoch_cache is None:
            return EpochEntry(-1, -1)
        return self.leader_epoch_cache.end_offset_for(leader_epoch, self.log_end_offset)

    # -- producers ---------------------------------------------------------------------------------------------------

    def remove_expired_producers(self) -> None:
        """Remove producers that have not written for ``producer.id.expiration.ms``."""
        with self._lock:
            self.producer_state.remove_expired_producers(self._time.milliseconds())

    def last_records_of_active_producers(self) -> dict[int, LastRecord]:
        """The last record of every known producer."""
        with self._lock:
            return self.producer_state.last_records()

    # -- deletion ----------------------------------------------------------------------------------------------------

    def delete_old_segments(self) -> int:
        """Delete the segments that exceed the topic's retention; returns how many."""
        with self._lock, self._storage_errors("deleting old segments"):
            start, now_ms = self.log_start_offset, self._time.milliseconds()
            deletable = deletable_segments(tuple(self.segments), self.config, start, now_ms)
            if len(deletable) == len(self.segments):
                self.roll()  # a log always has an active segment
            if deletable:
                # Do this first: a reader that misses a deleted segment must get OFFSET_OUT_OF_RANGE, not later
                # messages.
                self.maybe_increment_log_start_offset(tuple(self.segments)[len(deletable)].base_offset)
            for segment in deletable:
                self._delete_segment(segment)
            return len(deletable)

    def maybe_increment_log_start_offset(self, new_log_start_offset: int) -> bool:
        """Raise the log start offset (DeleteRecords, or a new leader's start offset). Returns True if it changed.

        Raises ApiError OFFSET_OUT_OF_RANGE if it is above the log end offset.
        """
        with self._lock, self._storage_errors("moving the log start offset"):
            if new_log_start_offset > self.log_end_offset:
                beyond = f"log start offset {new_log_start_offset} lies beyond the end {self.log_end_offset}"
                raise Errors.OFFSET_OUT_OF_RANGE.exception(beyond)
            if new_log_start_offset <= self.log_start_offset:
                return False
            self.log_start_offset = new_log_start_offset
            if self.leader_epoch_cache is not None:
                self.leader_epoch_cache.truncate_from_start(new_log_start_offset)
            self.producer_state.on_log_start_offset_incremented(new_log_start_offset)
            return True

    def _delete_segment(self, segment: LogSegment) -> None:
        self._replacement.delete(segment, self.dir, self.config.file_delete_delay_ms)

    def replace_segments(self, new: LogSegment, old: Sequence[LogSegment]) -> None:
        """Replace adjacent inactive segments by a cleaned one.

        Readers see the log either before or after the replacement. Raises LogCleaningAbortedError, and deletes the
        cleaned segment, if a source no longer exists. Raises ApiError KAFKA_STORAGE_ERROR.
        """
        with self._lock, self._storage_errors("replacing segments"):
            if not set(old) <= set(self.segments) - {self.segments.active}:
                new.delete()
                raise LogCleaningAbortedError(f"segments of {self.name} have gone while they were cleaned")
            self._replacement.replace(new, old, self.dir, self.config.file_delete_delay_ms)

    # -- truncation --------------------------------------------------------------------------------------------------

    def truncate_to(self, target_offset: int) -> bool:
        """Remove all messages from ``target_offset`` on. Returns False if there are none.

        A v2 batch that contains the offset is removed as a whole, and the log then ends at its base offset, so that the
        next fetch from the leader returns the whole batch. Raises ValueError for a negative offset.
        """
        if target_offset < 0:
            raise ValueError(f"cannot truncate {self.name} to the negative offset {target_offset}")
        with self._lock, self._storage_errors("truncating"):
            if target_offset >= self.log_end_offset:
                if self.leader_epoch_cache is not None:
                    # An epoch without messages may begin at the end; another leader may have begun a different one
                    # there.
                    self.leader_epoch_cache.truncate_from_end(target_offset)
                return False
            logger.info("Truncating log %s to offset %d", self.name, target_offset)
            if target_offset < self.segments.first.base_offset:
                self.truncate_fully_and_start_at(target_offset)
                return True
            for segment in [segment for segment in self.segments if segment.base_offset > target_offset]:
                self._delete_segment(segment)
            cut = self.segments.active.batch_with(target_offset)
            self.segments.active.truncate_to(target_offset)
            self._end_at(min(target_offset, cut.first_or_last_offset) if cut is not None else target_offset)
            self.log_start_offset = min(self.log_start_offset, self.log_end_offset)
            self._rebuild_producer_state()
            return True

    def _rebuild_producer_state(self) -> None:
        rebuild_producer_state(
            self.producer_state,
            self.segments,
            self.log_start_offset,
            self.log_end_offset,
            self._time.milliseconds(),
            reload_from_clean_shutdown=False,
        )

    def truncate_fully_and_start_at(self, new_offset: int, log_start_offset: int | None = None) -> None:
        """Remove all messages and start again at ``new_offset``."""
        with self._lock, self._storage_errors("truncating"):
            logger.info("Truncating log %s fully, it starts again at offset %d", self.name, new_offset)
            for segment in list(self.segments):
                self._delete_segment(segment)
            self.segments.add(self._new_segment(new_offset))
            self._end_at(new_offset)
            self.producer_state.truncate_fully_and_start_at(new_offset)
            self.log_start_offset = new_offset if log_start_offset is None else log_start_offset

    def _end_at(self, offset: int) -> None:
        self._update_log_end_offset(offset)
        self.recovery_point = min(self.recovery_point, offset)
        if self.leader_epoch_cache is not None:
            self.leader_epoch_cache.truncate_from_end(offset)

    # -- flush and close ---------------------------------------------------------------------------------------------

    def flush(self, offset: int | None = None) -> None:
        """Flush everything below ``offset`` (default: everything) to disk and advance the recovery point to it.

        Appends continue meanwhile. Raises ApiError KAFKA_STORAGE_ERROR.
        """
        upto = self.log_end_offset if offset is None else offset
        if upto <= self.recovery_point or self._storage_errors.closed:
            return
        with self._storage_errors("flushing"):
            for segment in self.segments.from_offset(self.recovery_point):
                if segment.base_offset < upto:
                    segment.flush()
            if self.leader_epoch_cache is not None:
                self.leader_epoch_cache.flush()
            flush_file_or_directory(self.dir)
        with self._lock:
            # A truncation may have removed some of it in the meantime.
            self.recovery_point = max(self.recovery_point, min(upto, self.log_end_offset))
            self._last_flushed_ms = self._time.milliseconds()

    def close(self) -> None:
        """Write the producer snapshot, then trim, flush and close all files; the log cannot be used afterwards."""
        with self._lock:
            if self._storage_errors.closed:
                return
            with self._storage_errors("closing"):
                self._storage_errors.closed = True
                try:
                    self.producer_state.take_snapshot()
                finally:  # trimming frees space, so close the segments even if the disk is too full for the snapshot
                    for segment in self.segments:
                        segment.close()

    def delete(self) -> None:
        """Delete all files and the directory immediately."""
        with self._lock, self._storage_errors("deleting", when_closed=True):
            self._storage_errors.closed = True
            for segment in self.segments:
                segment.delete()
            self.segments.clear()
            shutil.rmtree(self.dir, ignore_errors=False)

    def rename_dir(self, directory: Path) -> None:
        """Rename the log's directory; reads and appends continue."""
        with self._lock, self._storage_errors("renaming the directory"):
            os.rename(self.dir, directory)
            self.dir = directory
            for segment in self.segments:
                segment.update_directory(directory)
            self.producer_state.update_directory(directory)
            if self.leader_epoch_cache is not None:
                self.leader_epoch_cache.set_directory(directory)

    def __repr__(self) -> str:
        return f"Log({self.dir})"
