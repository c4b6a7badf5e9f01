"""Opens the files of a log: cleans up after a crash, loads the segments, recovers unflushed ones.

Kafka 0.10.2: core/.../log/Log.scala (loadSegments, recoverLog); since 3.0 LogLoader · book 6.1.5
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kafka_lite.common.time import Time
from kafka_lite.log.abstract_index import CorruptIndexError
from kafka_lite.log.leader_epoch_file_cache import LeaderEpochFileCache
from kafka_lite.log.loading.producer_state_loader import producer_batches, rebuild_producer_state
from kafka_lite.log.loading.swap_files import SwapFiles
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_file_utils import (
    DELETE_DIR_SUFFIX,
    LOG_FILE_SUFFIX,
    log_file,
    offset_from_file,
    offset_index_file,
    time_index_file,
)
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.log.log_segments import LogSegments
from kafka_lite.log.producers.producer_state_manager import ProducerStateManager
from kafka_lite.log.producers.transaction_replay import TransactionReplay
from kafka_lite.record.record import CorruptRecordError

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Recovery:
    """How much was read during recovery, and how much was truncated."""

    segments: int = 0
    bytes_read: int = 0
    truncated_bytes: int = 0

    def __add__(self, other: Recovery) -> Recovery:
        return Recovery(
            self.segments + other.segments,
            self.bytes_read + other.bytes_read,
            self.truncated_bytes + other.truncated_bytes,
        )


@dataclass(frozen=True)
class LoadedLogOffsets:
    """The start and end of a loaded log, and the offset below which everything is flushed."""

    log_start_offset: int
    recovery_point: int
    next_offset_metadata: LogOffsetMetadata
    recovery: Recovery = Recovery()


class LogLoader:
    """Loads a partition's directory in five passes.

    1. ``.deleted`` and ``.cleaned`` files are deleted: the former are leftovers, the latter an incomplete compaction.
    2. ``.swap`` files are a complete compaction that has not replaced its sources yet: it does so now (``SwapFiles``).
    3. Every ``.log`` file becomes a segment. Missing or corrupt indexes are rebuilt from it.
    4. After a crash, the segments from the recovery point on are read in full. The log ends at the first batch that is
       incomplete or has a wrong CRC; later segments are deleted.
    5. Producer state is loaded from the latest snapshot and the batches after it.

    Unknown files are left alone: a newer Kafka may have written them.
    """

    def __init__(
        self,
        directory: Path,
        config: LogConfig,
        time: Time,
        segments: LogSegments,
        leader_epoch_cache: LeaderEpochFileCache | None,
        producer_state: ProducerStateManager,
        *,
        had_clean_shutdown: bool,
        log_start_offset_checkpoint: int,
        recovery_point_checkpoint: int,
    ) -> None:
        self._dir = directory
        self._config = config
        self._time = time
        self._segments = segments
        self._leader_epoch_cache = leader_epoch_cache
        self._producer_state = producer_state
        self._had_clean_shutdown = had_clean_shutdown
        self._log_start_offset_checkpoint = log_start_offset_checkpoint
        self._recovery_point_checkpoint = recovery_point_checkpoint

    def load(self) -> LoadedLogOffsets:
        """Load the segments. Raises OSError."""
        started_ms = self._time.hi_res_ms()
        loaded = self._load()
        offsets = f"{loaded.log_start_offset} to {loaded.next_offset_metadata.message_offset}"
        took_ms = self._time.hi_res_ms() - started_ms
        logger.debug(
            "Loaded log %s: %d segments, offsets %s, %.0f ms", self._dir.name, len(self._segments), offsets, took_ms
        )
        return loaded

    def _load(self) -> LoadedLogOffsets:
        swap_files = SwapFiles(self._dir, self._config, self._time)
        swap_files.remove_temporary_files()
        swap_files.complete_swaps()
        self._load_segment_files()
        if self._dir.name.endswith(DELETE_DIR_SUFFIX):
            return LoadedLogOffsets(0, 0, LogOffsetMetadata(0))  # it is only going to be removed
        recovery = self._recover()
        self._delete_all_if_the_start_lies_behind_the_end()
        if not len(self._segments):
            self._segments.add(self._open(self._log_start_offset_checkpoint))
        return self._loaded_offsets(recovery)

    def _loaded_offsets(self, recovery: Recovery) -> LoadedLogOffsets:
        active = self._segments.active
        next_offset = active.read_next_offset()
        active.resize_indexes(self._config.segment_index_bytes)
        log_start_offset = max(self._log_start_offset_checkpoint, self._segments.first.base_offset)
        if self._leader_epoch_cache is not None:
            self._leader_epoch_cache.truncate_from_end(next_offset)
            self._leader_epoch_cache.truncate_from_start(log_start_offset)
        flushed = next_offset if self._had_clean_shutdown else min(self._recovery_point_checkpoint, next_offset)
        self._load_producer_state(log_start_offset, next_offset)
        end = LogOffsetMetadata(next_offset, active.base_offset, active.size)
        return LoadedLogOffsets(log_start_offset, flushed, end, recovery)

    def _files(self) -> list[Path]:
        return sorted(file for file in self._dir.iterdir() if file.is_file())

    # -- pass 3 ------------------------------------------------------------------------------------------------------

    def _load_segment_files(self) -> None:
        first_to_recover = self._first_to_recover()
        for file in self._files():
            base_offset = offset_from_file(file)
            if base_offset is None:
                continue
            if file.name.endswith(LOG_FILE_SUFFIX):
                # Segments that the next pass reads in full get their indexes there, so that nothing is read twice.
                load = self._load_segment if base_offset < first_to_recover else self._open
                self._segments.add(load(base_offset))
            elif not log_file(self._dir, base_offset).exists():
                logger.warning("Found orphaned index file %s without a log file; deleting it", file)
                file.unlink()

    def _first_to_recover(self) -> float:
        """Base offset of the segment that contains the recovery point, or infinity after a clean shutdown."""
        if self._had_clean_shutdown:
            return math.inf
        logs = (file for file in self._files() if file.name.endswith(LOG_FILE_SUFFIX))
        base_offsets = [offset for file in logs if (offset := offset_from_file(file)) is not None]
        point = self._recovery_point_checkpoint
        return max((offset for offset in base_offsets if offset <= point), default=point)

    def _load_segment(self, base_offset: int) -> LogSegment:
        """Open a segment; rebuild its indexes if the offset index is missing or one of them is corrupt."""
        has_index = offset_index_file(self._dir, base_offset).exists()
        has_time_index = time_index_file(self._dir, base_offset).exists()
        segment = self._open(base_offset)
        if not has_index:
            logger.error("Found no index of %s; rebuilding it", segment.log.file)
            segment.recover(transactions=self._transactions_at(base_offset))
            return segment
        if not has_time_index:
            # Written by a Kafka before 0.10.1. Building it would mean reading the whole log at the first start.
            segment.time_index.resize(0)
        try:
            segment.sanity_check()
        except CorruptIndexError as error:
            logger.warning("Found a corrupt index (%s); rebuilding the indexes of the segment", error)
            segment.recover(transactions=self._transactions_at(base_offset))
        return segment

    def _open(self, base_offset: int) -> LogSegment:
        return LogSegment.open(self._dir, base_offset, self._config, self._time)

    # -- pass 4 ------------------------------------------------------------------------------------------------------

    def _recover(self) -> Recovery:
        if not self._had_clean_shutdown:
            sizes = {each: each.size for each in self._segments.from_offset(self._recovery_point_checkpoint)}
            self._recover_unflushed_segments()
            return self._recovery_of(sizes)
        try:
            if len(self._segments):
                self._segments.active.read_next_offset()
        except CorruptRecordError as error:
            logger.error("The log in %s is corrupt despite a clean shutdown (%s)", self._dir, error)
            active = self._segments.active
            active.recover(transactions=self._transactions_at(active.base_offset))
        return Recovery()

    def _recovery_of(self, sizes: Mapping[LogSegment, int]) -> Recovery:
        """``sizes`` are those before recovery; a segment that is gone was deleted unread, after a corrupt one."""
        left = set(self._segments)
        read = [segment for segment in sizes if segment in left]
        return Recovery(
            segments=len(read),
            bytes_read=sum(sizes[segment] for segment in read),
            truncated_bytes=sum(sizes.values()) - sum(segment.size for segment in read),
        )

    def _recover_unflushed_segments(self) -> None:
        """Check every batch from the recovery point on; delete everything after the first corrupt one."""
        unflushed = list(self._segments.from_offset(self._recovery_point_checkpoint))
        if unflushed:
            # Later snapshots may describe batches that are not on disk.
            self._producer_state.truncate_and_reload(
                self._log_start_offset_checkpoint, unflushed[0].base_offset, self._time.milliseconds()
            )
        transactions = self._transactions_at(unflushed[0].base_offset) if unflushed else None
        while unflushed:
            segment = unflushed.pop(0)
            logger.debug("Recovering unflushed segment %d of %s", segment.base_offset, self._dir.name)
            truncated_bytes = segment.recover(self._leader_epoch_cache, transactions)
            if truncated_bytes:
                logger.warning("Truncated %d bytes of corrupt messages in %s", truncated_bytes, segment.log.file)
                self._delete_segments(unflushed)
                return

    def _transactions_at(self, offset: int) -> TransactionReplay:
        """The transactions that are open at the base offset of a segment: usually, its snapshot has them."""
        start, producers = self._producer_state.read_snapshot_before(offset)
        replay = TransactionReplay(producers)
        for segment in self._segments.between(start, offset):
            for batch in producer_batches(segment, max(start, segment.base_offset), offset):
                replay.add(batch)
        return replay

    # -- pass 5 ------------------------------------------------------------------------------------------------------

    def _load_producer_state(self, log_start_offset: int, next_offset: int) -> None:
        self._producer_state.remove_stray_snapshots(segment.base_offset for segment in self._segments)
        rebuild_producer_state(
            self._producer_state,
            self._segments,
            log_start_offset,
            next_offset,
            self._time.milliseconds(),
            reload_from_clean_shutdown=self._had_clean_shutdown,
        )

    def _delete_all_if_the_start_lies_behind_the_end(self) -> None:
        """Delete segments that end before the log start offset: there would be a gap before new messages."""
        segments = list(self._segments)
        if segments and segments[-1].read_next_offset() < self._log_start_offset_checkpoint:
            logger.warning("The log in %s ends before its log start offset; deleting its segments", self._dir)
            self._delete_segments(segments)

    def _delete_segments(self, segments: list[LogSegment]) -> None:
        for segment in segments:
            self._segments.remove(segment.base_offset)
            segment.delete()
