"""The log of one partition: append at the end, read anywhere.

Kafka 0.10.2: core/.../log/Log.scala · book 6.1.2, 1.1
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from uuid import UUID

from kafka_lite.common.errors import Errors
from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.sendable import Buffer
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log import log_offset_search
from kafka_lite.log.abstract_index import MAX_RELATIVE_OFFSET
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.log.checkpoints.leader_epoch_checkpoint_file import EpochEntry
from kafka_lite.log.checkpoints.partition_metadata_file import PartitionMetadataFile
from kafka_lite.log.derived_state import DerivedState
from kafka_lite.log.dirs.log_dir_failure_channel import LogDirFailureChannel
from kafka_lite.log.dirs.storage_errors import StorageErrors
from kafka_lite.log.fetch_data_info import FetchDataInfo
from kafka_lite.log.files.file_message_set import TimestampAndOffset
from kafka_lite.log.loading.log_loader import LogLoader
from kafka_lite.log.local_log import LocalLog
from kafka_lite.log.log_append_info import LogAppendInfo, UnexpectedAppendOffsetError, analyze_and_validate_records
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_file_utils import flush_file_or_directory, parse_topic_partition_name
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.log.log_retention import deletable_segments
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.log.log_segments import LogSegments
from kafka_lite.log.producers.aborted_txn import AbortedTxn
from kafka_lite.log.producers.producer_state_manager import PreparedUpdates
from kafka_lite.log.producers.producer_state_manager_config import ProducerStateManagerConfig
from kafka_lite.log.producers.verification_state_entry import VerificationGuard
from kafka_lite.log.segment_replacement import SegmentReplacement
from kafka_lite.log.validation.log_validator import LogValidator
from kafka_lite.log.validation.prepared_records import PreparedRecords
from kafka_lite.record.records import batches

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

    * Records below the *log start offset* may no longer be read, even if the segment still exists.
    * Records below the *recovery point* are on disk; those above may be only in the page cache.
    * The *log end offset* is the offset of the next message.

    The log knows what the messages mean: it validates them, and keeps the log start offset. Its ``DerivedState`` has
    their leader epochs and producers, its ``LocalLog`` knows the files and the positions in them.

    One lock guards all changes. Reads take no lock: they see the log as it was when they began, because the log end
    offset moves only after the bytes have been written, and removed segments keep their files for a while.

    File system errors are raised as ApiError KAFKA_STORAGE_ERROR and reported to the failure channel.
    """

    gap_offset: int | None = None
    """The first of the records that this log lacks though it has later ones; None if it lacks none."""

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
        keep_topic_id: bool = True,
    ) -> None:
        """Open the log in ``directory`` (``topic-partition``), or create it.

        Without ``keep_topic_id``, the file with the id of the topic is removed.
        Unless the last shutdown was clean, everything from ``recovery_point`` on is checked. Raises OSError if the
        files cannot be read or written, KafkaError if the directory name is not that of a partition.
        """
        self.parent_dir = str(directory.parent)
        self.topic_partition: TopicPartition = parse_topic_partition_name(directory)
        self._scheduler, self._time = scheduler, time
        self._lock = lock = threading.RLock()
        failures = log_dir_failure_channel or LogDirFailureChannel()
        self._storage_errors = StorageErrors(self.topic_partition, directory.parent, failures)
        self._validator = LogValidator.for_log(config)
        directory.mkdir(parents=True, exist_ok=True)
        self.segments = LogSegments()
        self.derived_state = DerivedState(directory, config.magic, producer_config, self.topic_partition, lock, time)
        self.producer_state = self.derived_state.producers
        loaded = LogLoader(
            directory,
            config,
            time,
            self.segments,
            self.derived_state.leader_epoch_cache,
            self.producer_state,
            had_clean_shutdown=had_clean_shutdown,
            log_start_offset_checkpoint=log_start_offset,
            recovery_point_checkpoint=recovery_point,
        ).load()
        end, recovery_point = loaded.next_offset_metadata, loaded.recovery_point
        replacement = SegmentReplacement(self.segments, self.producer_state, scheduler)
        self.local = LocalLog(directory, config, self.segments, end, recovery_point, replacement, time)
        self.log_start_offset, self.recovery = loaded.log_start_offset, loaded.recovery
        """The part of this log that recovery read after an unclean shutdown."""
        self._is_retired, self._keeps_topic_id, self._is_topic_id_flushed = False, keep_topic_id, True
        self.topic_id: UUID | None = PartitionMetadataFile.load(directory, keep_topic_id)
        """The id of the topic whose messages these are; None if it has none, or is not known yet."""

    # -- properties --------------------------------------------------------------------------------------------------

    @property
    def dir(self) -> Path:
        """The directory of the log's files."""
        return self.local.dir

    @property
    def name(self) -> str:
        """``topic-partition``."""
        return self.local.dir.name

    @property
    def config(self) -> LogConfig:
        """The topic's configuration."""
        return self.local.config

    @property
    def log_end_offset(self) -> int:
        """The offset of the next message."""
        return self.local.next_offset_metadata.message_offset

    @property
    def log_end_offset_metadata(self) -> LogOffsetMetadata:
        """The offset of the next message and its position."""
        return self.local.next_offset_metadata

    @property
    def size(self) -> int:
        """Total size of the messages in all segments, in bytes."""
        return sum(segment.size for segment in self.segments)

    @property
    def active_segment(self) -> LogSegment:
        """The segment to which messages are appended."""
        return self.segments.active

    @property
    def recovery_point(self) -> int:
        """The offset below which everything is on disk."""
        return self.local.recovery_point

    def update_config(self, config: LogConfig) -> None:
        """Use another configuration from now on; existing segments keep their jitter and index interval.

        Raises ApiError KAFKA_STORAGE_ERROR, with nothing changed, if another format needs the leader epochs and they
        cannot be read.
        """
        with self._lock:
            with self._storage_errors("reading the leader epochs"):
                self.derived_state.use_format(config.magic, self.dir)
            self.local.config = config
            self._validator = LogValidator.for_log(config)

    def assign_topic_id(self, topic_id: UUID) -> None:
        """Keep the id of the topic in the log's directory. A no-op if it is there, or if topics have no ids.

        Raises ApiError: INCONSISTENT_TOPIC_ID if this is a log of another topic, KAFKA_STORAGE_ERROR if the disk fails.
        """
        with self._lock:
            if self.topic_id is None and self._keeps_topic_id:
                with self._storage_errors("writing the topic's id"):
                    PartitionMetadataFile.write(self.dir, topic_id)
                self.topic_id, self._is_topic_id_flushed = topic_id, False
            elif self.topic_id not in (topic_id, None):
                raise Errors.INCONSISTENT_TOPIC_ID.exception(
                    f"{self.name} is a log of the topic with the id {self.topic_id}, not {topic_id}"
                )

    # -- append ------------------------------------------------------------------------------------------------------

    def append_as_leader(
        self,
        records: Buffer | PreparedRecords,
        leader_epoch: int,
        origin: AppendOrigin = AppendOrigin.CLIENT,
        verification_guard: VerificationGuard | None = None,
    ) -> LogAppendInfo:
        """Validate a producer's records unless they are prepared, assign their offsets, and append them.

        ``records`` is changed in place if it is writable. Raises ApiError as ``validate_and_assign_offsets`` does
        (MESSAGE_TOO_LARGE, CORRUPT_MESSAGE, INVALID_TIMESTAMP, ...), RECORD_LIST_TOO_LARGE if the records do not fit in
        a segment, OUT_OF_ORDER_SEQUENCE_NUMBER and INVALID_PRODUCER_EPOCH (see ``ProducerAppendInfo``),
        INVALID_TXN_STATE if a transaction begins here and ``verification_guard`` is not that of its verification, and
        KAFKA_STORAGE_ERROR if they cannot be written; in all these cases nothing has been appended. A batch that an
        idempotent producer sends again is not appended either: the result has the offset of the first time.
        """
        with self._lock:
            self._storage_errors.check()
            try:
                offset, now_ms = self.local.next_offset_metadata.message_offset, self._time.milliseconds()
                if isinstance(records, PreparedRecords):
                    result = records.at(offset, leader_epoch)
                else:
                    result = self._validator.validate(records, offset, now_ms, leader_epoch, origin)
                info = LogAppendInfo.of_validated(result, leader_epoch)
                return self._append(result.records, info, origin, now_ms, verification_guard)
            except OSError as error:
                raise self._storage_errors.storage_error("appending records", error) from error

    def append_as_follower(self, records: Buffer) -> LogAppendInfo:
        """Append records from the leader, keeping their offsets.

        Raises ApiError CORRUPT_MESSAGE if a CRC is wrong, and UnexpectedAppendOffsetError if the first offset is below
        the log end offset.
        """
        info = analyze_and_validate_records(records)
        valid = memoryview(records)[: info.size_in_bytes]
        with self._lock, self._storage_errors("appending records"):
            if valid.nbytes and info.first_offset < self.log_end_offset:
                raise UnexpectedAppendOffsetError(self.topic_partition, self.log_end_offset, info)
            return self._append(valid, info, AppendOrigin.REPLICATION, self._time.milliseconds())

    def _append(
        self,
        records: Buffer,
        info: LogAppendInfo,
        origin: AppendOrigin,
        now_ms: int,
        verification_guard: VerificationGuard | None = None,
    ) -> LogAppendInfo:
        """Append validated batches to the active segment, then advance the log end offset."""
        info.log_start_offset = self.log_start_offset
        if info.size_in_bytes == 0:
            return info
        if self._is_retired:
            raise Errors.KAFKA_STORAGE_ERROR.exception(f"the log {self.name} has been replaced")
        config = self.local.config
        # A follower must take what the leader has, or it would never catch up: one fetch may be larger than a segment.
        if info.size_in_bytes > config.segment_bytes and origin is not AppendOrigin.REPLICATION:
            sizes = f"{info.size_in_bytes} bytes exceed segment.bytes = {config.segment_bytes}"
            raise Errors.RECORD_LIST_TOO_LARGE.exception(sizes)
        appended = batches(records) if info.batch is None else (info.batch,)
        producers = NO_UPDATES
        if info.has_producer_id:
            producers = self.producer_state.prepare_updates(appended, origin, verification_guard)
        if producers.duplicate is not None:
            return LogAppendInfo.of_duplicate(producers.duplicate, self.log_start_offset)
        leader_epochs = self.derived_state.leader_epoch_cache
        if leader_epochs is not None:
            leader_epochs.assign_from(records, info)
        aborted = self.producer_state.aborted_by(producers.appends) if producers.appends else ()
        self._maybe_roll(info, now_ms)
        self.local.append(info, records, aborted)
        for append in producers.appends:
            self.producer_state.update(append)
        self.producer_state.update_map_end_offset(info.last_offset + 1)
        if self.local.unflushed_messages >= config.flush_messages:
            self.flush()
        return info

    # -- roll --------------------------------------------------------------------------------------------------------

    def _maybe_roll(self, info: LogAppendInfo, now_ms: int) -> None:
        if self.segments.active.should_roll(self.local.config, info, info.size_in_bytes, now_ms):
            # The first offset is not always known (see LogAppendInfo), but this is a lower bound for it. The base
            # offset must be close enough to the last offset, even if a compacted leader has no messages in between.
            self.roll(info.last_offset - MAX_RELATIVE_OFFSET)

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
            segment = self.local.roll(base_offset)
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
            found = self.local.read(start_offset, max_length, max_offset, min_one_message)
            # Only now: a reader that missed a deleted segment finds the offset below the start (delete_old_segments).
            if start_offset < self.log_start_offset:
                below = f"offset {start_offset} is below the log start offset {self.log_start_offset}"
                raise Errors.OFFSET_OUT_OF_RANGE.exception(f"{below} of {self.topic_partition}")
            return found

    def fetch_offset_by_timestamp(self, target_timestamp: int) -> TimestampAndOffset | None:
        """Find the first message that is not older than the timestamp (ms), or the one that -1, -2, -3 or -4 asks for.

        See ``log_offset_search``.
        """
        with self._storage_errors("searching by time"):
            return log_offset_search.fetch_offset_by_timestamp(self, target_timestamp)

    def legacy_fetch_offsets_before(self, timestamp: int, max_num_offsets: int) -> list[int]:
        """Base offsets of segments last written to at or before ``timestamp``, newest first (ListOffsets v0)."""
        now_ms = self._time.milliseconds()
        return log_offset_search.legacy_fetch_offsets_before(self, timestamp, max_num_offsets, now_ms)

    # -- leader epochs -----------------------------------------------------------------------------------------------

    def maybe_assign_epoch_start_offset(self, leader_epoch: int, start_offset: int) -> None:
        """Record that a new leader's epoch begins at ``start_offset``."""
        leader_epochs = self.derived_state.leader_epoch_cache
        if leader_epochs is not None:
            with self._storage_errors("writing leader epochs"):
                # An empty log has nothing to lose, so do not wait for the disk once per partition of a new topic.
                leader_epochs.assign(leader_epoch, start_offset, sync=self.log_end_offset > 0)

    @property
    def latest_epoch(self) -> int:
        """The newest known leader epoch, or -1 if there is none."""
        return self.derived_state.latest_epoch

    def end_offset_for_epoch(self, leader_epoch: int) -> EpochEntry:
        """Return (epoch, end offset) of the newest epoch that is not newer, or (-1, -1) if unknown."""
        return self.derived_state.end_offset_for_epoch(leader_epoch, self.log_end_offset)

    # -- transactions ------------------------------------------------------------------------------------------------

    def last_stable_offset(self, high_watermark: int) -> int:
        """The offset below which every transaction is decided, and its marker replicated: the LSO.

        Readers of committed records see nothing from there on. Without transactions it is the high watermark, which it
        never exceeds. If the first undecided record has been deleted, it is the log start offset.
        """
        transactions = self.producer_state.transactions
        if transactions.is_empty:
            return high_watermark
        first_unstable = transactions.first_unstable_offset(high_watermark)
        if first_unstable is None:
            return high_watermark
        return min(high_watermark, max(first_unstable, self.log_start_offset))

    def aborted_transactions(self, fetched: FetchDataInfo) -> list[AbortedTxn]:
        """The aborted transactions that a reader of the records must know; some may extend past the records."""
        start = fetched.fetch_offset_metadata
        if not fetched.size_in_bytes or start.message_offset_only:
            return []
        return self.segments.aborted_transactions(start, fetched.size_in_bytes, self.log_end_offset)

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
                self.local.delete_segment(segment)
            return len(deletable)

    def maybe_increment_log_start_offset(self, new_log_start_offset: int) -> bool:
        """Raise the log start offset (DeleteRecords, or a new leader's start offset). Returns True if it changed.

        Raises ApiError OFFSET_OUT_OF_RANGE if it is above the log end offset.
        """
        with self._lock, self._storage_errors("moving the log start offset"):
            if new_log_start_offset > self.log_end_offset:
                beyond = f"log start offset {new_log_start_offset} is beyond the log end offset {self.log_end_offset}"
                raise Errors.OFFSET_OUT_OF_RANGE.exception(beyond)
            if new_log_start_offset <= self.log_start_offset:
                return False
            self.log_start_offset = new_log_start_offset
            self.derived_state.on_log_start_offset_incremented(new_log_start_offset)
            return True

    def replace_segments(self, new: LogSegment, old: Sequence[LogSegment]) -> None:
        """Replace adjacent inactive segments by a cleaned one.

        Readers see the log either before or after the replacement. Raises LogCleaningAbortedError, and deletes the
        cleaned segment, if a source no longer exists. Raises ApiError KAFKA_STORAGE_ERROR.
        """
        with self._lock, self._storage_errors("replacing segments"):
            self.local.replace_segments(new, old)

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
                # An epoch without messages may begin at the end; another leader may have begun a different one there.
                self.derived_state.truncate_leader_epochs(target_offset)
                return False
            logger.info("Truncating log %s to offset %d", self.name, target_offset)
            if target_offset < self.segments.first.base_offset:
                self.truncate_fully_and_start_at(target_offset)
                return True
            self.local.truncate_to(target_offset)
            end = self.log_end_offset
            self.log_start_offset = min(self.log_start_offset, end)
            self.derived_state.truncate_to(self.segments, self.log_start_offset, end)
            return True

    def truncate_fully_and_start_at(self, new_offset: int, log_start_offset: int | None = None) -> None:
        """Remove all messages and start again at ``new_offset``."""
        with self._lock, self._storage_errors("truncating"):
            logger.info("Truncating log %s fully; it restarts at offset %d", self.name, new_offset)
            self.local.truncate_fully_and_start_at(new_offset)
            self.derived_state.truncate_fully_and_start_at(new_offset)
            self.log_start_offset = new_offset if log_start_offset is None else log_start_offset

    # -- flush and close ---------------------------------------------------------------------------------------------

    def flush(self, offset: int | None = None) -> None:
        """Flush everything below ``offset`` (default: everything) to disk and advance the recovery point to it.

        Appends continue meanwhile. Raises ApiError KAFKA_STORAGE_ERROR.
        """
        upto = self.log_end_offset if offset is None else offset
        if upto <= self.local.recovery_point or self._storage_errors.closed:
            return
        with self._storage_errors("flushing"):
            self.local.flush(upto)
            self._flush_directory()
        with self._lock:
            self.local.mark_flushed(upto)

    def _flush_directory(self) -> None:
        """Flush the leader epochs, the topic's id and the directory, even if another thread renames it meanwhile."""
        while True:
            directory = self.dir
            try:
                self.derived_state.flush()
                if not self._is_topic_id_flushed:
                    PartitionMetadataFile.flush(directory)
                    self._is_topic_id_flushed = True
                flush_file_or_directory(directory)
                return
            except FileNotFoundError:
                with self._lock:  # which a thread that renames it holds
                    if self.dir == directory:
                        raise

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
                    self.local.close()

    @contextlib.contextmanager
    def exclusively(self) -> Iterator[None]:
        """Let no other thread append or truncate meanwhile."""
        with self._lock:
            yield

    def retire(self) -> None:
        """Reject appends from now on: a copy in another directory has replaced this log. Reads still work meanwhile."""
        with self._lock:
            self._is_retired = True

    def delete(self) -> None:
        """Delete all files and the directory immediately."""
        with self._lock, self._storage_errors("deleting", when_closed=True):
            self._storage_errors.closed = True
            self.local.delete()

    def rename_dir(self, directory: Path) -> None:
        """Rename the log's directory; reads and appends continue."""
        with self._lock, self._storage_errors("renaming the directory"):
            self.local.rename_dir(directory)
            self.derived_state.update_directory(directory)

    def __repr__(self) -> str:
        return f"Log({self.dir})"
