"""Cleans one log: builds the offset map of its dirty part, then copies the retained records of all segments.

Kafka 0.10.2: core/.../log/LogCleaner.scala (Cleaner) · book 6.1.6
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence

from kafka_lite.common.rates.throttler import Throttler
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.cleaning.cleaned_segment import CleanedSegment
from kafka_lite.log.cleaning.cleaned_transaction_metadata import CleanedTransactionMetadata
from kafka_lite.log.cleaning.cleaner_config import CleanerConfig
from kafka_lite.log.cleaning.cleaner_filter import CleanerFilter
from kafka_lite.log.cleaning.cleaner_stats import CleanerStats
from kafka_lite.log.cleaning.log_to_clean import LogToClean
from kafka_lite.log.cleaning.offset_map import OffsetMap
from kafka_lite.log.cleaning.segment_groups import group_segments_by_size
from kafka_lite.log.files.file_message_set import FileMessageSet
from kafka_lite.log.log import Log
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.record.record import CorruptRecordError
from kafka_lite.record.record_batch import HEADER_SIZE_UP_TO_MAGIC, RecordBatch
from kafka_lite.record.record_filter import filter_batch, offsets_and_keys
from kafka_lite.record.records import batch_size, batches

logger = logging.getLogger("kafka_lite.log.cleaning.log_cleaner")  # as in Kafka: one logger for all cleaning

LONGEST_PAUSE_MS = 100
"""A throttled thread checks at least this often whether it must stop."""
BUSY_MS = 1
BREATH_MS = 0.05
"""How long a cleaner computes at a stretch, and how long it then pauses. Meanwhile requests wait for the GIL, which
CPython takes away from a busy thread only every 5 ms."""


class Cleaner:
    """Cleans logs for one thread; has an offset map and I/O buffers.

    ::

        before   0: a=1 │ 1: b=1 │ 2: a=2 │ 3: c=1 ║ 4: b=2 │ 5: a=3 │ 6: c=null ║ 7: ...
                 └ clean ──────────────────────────╨ dirty ──────────────────────╨ active segment
        map      b -> 4, a -> 5, c -> 6                                 (from the dirty part only)
        after                                        4: b=2 │ 5: a=3 │ 6: c=null ║ 7: ...

    A message keeps its offset forever; removed offsets leave gaps, and a fetch from such an offset returns the next
    message.

    The map may be too small for all keys of the dirty part. It then covers as much as it can, messages beyond that are
    kept, and the next cleaning continues there.
    """

    def __init__(
        self,
        cleaner_id: int,
        offset_map: OffsetMap,
        config: CleanerConfig,
        throttler: Throttler,
        time: Time,
        check_done: Callable[[TopicPartition], None],
        pause: Callable[[float], object] | None = None,
    ) -> None:
        """``check_done`` raises an error if the cleaning of a partition must stop; ``pause`` sleeps for some ms.

        Raises ValueError if the map is too small for a single key.
        """
        self.id = cleaner_id
        self._offset_map = offset_map
        self._largest_map_size = int(offset_map.slots * config.dedupe_buffer_load_factor)
        if self._largest_map_size < 1:
            raise ValueError(
                "the offset map is too small for a single key: increase log.cleaner.dedupe.buffer.size or decrease "
                "log.cleaner.threads"
            )
        self._io_buffer_size = config.io_buffer_size_per_thread
        self._throttler = throttler
        self._time = time
        self._check_done = check_done
        self._pause = pause or time.sleep
        self._last_breath_ms = time.hi_res_ms()

    def clean(self, cleanable: LogToClean) -> tuple[int, CleanerStats]:
        """Clean a log. Returns its new first dirty offset, and statistics.

        Raises what ``check_done`` raises, OSError, and ApiError (KAFKA_STORAGE_ERROR, or CORRUPT_MESSAGE or
        INVALID_RECORD if the log cannot be read). The log is consistent whatever happens.
        """
        log, stats = cleanable.log, CleanerStats(self._time)
        logger.info("Beginning cleaning of log %s", log.name)
        try:
            self.build_offset_map(log, cleanable.first_dirty_offset, cleanable.first_uncleanable_offset, stats)
            end_offset = max(cleanable.first_dirty_offset, self._offset_map.latest_offset + 1)
            stats.index_done()
            stats.buffer_utilization = self._offset_map.utilization
            self._clean_up_to(cleanable, end_offset, stats)
        finally:
            self._offset_map.clear()  # also frees its memory
        stats.all_done()
        return end_offset, stats

    # -- the offset map ----------------------------------------------------------------------------------------------

    def build_offset_map(self, log: Log, start: int, end: int, stats: CleanerStats) -> None:
        """Map each key to its newest offset among the messages from ``start`` up to ``end``."""
        self._offset_map.clear()
        dirty = log.segments.between(start, end)
        transactions = CleanedTransactionMetadata(log.segments.aborted_between(start, end))
        logger.info(
            "Building offset map for log %s for %d segments in offset range [%d, %d)", log.name, len(dirty), start, end
        )
        for index, segment in enumerate(dirty):
            if not self._add_segment_to_map(log.topic_partition, segment, start, transactions, stats):
                logger.debug("Offset map is full: it holds %d whole segments and part of segment %r", index, segment)
                return
            # The segment may end with offsets that have no messages; those are covered as well.
            next_base = dirty[index + 1].base_offset if index + 1 < len(dirty) else end
            self._offset_map.update_latest_offset(next_base - 1)

    def _add_segment_to_map(
        self,
        topic_partition: TopicPartition,
        segment: LogSegment,
        start: int,
        transactions: CleanedTransactionMetadata,
        stats: CleanerStats,
    ) -> bool:
        """Return False if the map became full before the end of the segment."""
        position = segment.offset_index.lookup(start).position
        for chunk in self._chunks(topic_partition, segment.log, position):
            for batch in chunk:
                if not self._add_batch_to_map(batch, start, transactions, stats):
                    return False
                stats.map_bytes_read += batch.size_in_bytes
                self._breathe()
        return True

    def _add_batch_to_map(
        self, batch: RecordBatch, start: int, transactions: CleanedTransactionMetadata, stats: CleanerStats
    ) -> bool:
        offset_map, largest_size = self._offset_map, self._largest_map_size
        # A record of an aborted transaction does not replace the older record of its key.
        if not batch.is_control and not transactions.on_batch_read(batch):
            for offset, key in offsets_and_keys(batch):
                if key is not None and offset >= start:
                    if offset_map.size >= largest_size:
                        return False
                    offset_map.put(key, offset)
                stats.map_messages_read += 1
        if batch.last_offset >= start:
            offset_map.update_latest_offset(batch.last_offset)
        return True

    # -- cleaning ----------------------------------------------------------------------------------------------------

    def _clean_up_to(self, cleanable: LogToClean, end_offset: int, stats: CleanerStats) -> None:
        log, config = cleanable.log, cleanable.log.config
        legacy_delete_horizon_ms = _legacy_delete_horizon_ms(cleanable)
        record_filter = CleanerFilter(
            self._offset_map,
            CleanedTransactionMetadata(log.segments.aborted_between(0, end_offset)),
            log.derived_state.last_records_of_active_producers(),
            stats,
            current_time_ms=self._time.milliseconds(),
            delete_retention_ms=config.delete_retention_ms,
            upper_bound_offset=cleanable.first_uncleanable_offset,
        )
        logger.info(
            "Cleaning log %s (up to offset %d, tombstones of v0 and v1 up to time %d)",
            log.name,
            end_offset,
            legacy_delete_horizon_ms,
        )
        groups = group_segments_by_size(
            log.segments.between(0, end_offset),
            config.segment_bytes,
            config.segment_index_bytes,
            cleanable.first_uncleanable_offset,
        )
        for group in groups:
            self._clean_segments(log, group, record_filter, legacy_delete_horizon_ms, stats)

    def _clean_segments(
        self,
        log: Log,
        segments: Sequence[LogSegment],
        record_filter: CleanerFilter,
        legacy_delete_horizon_ms: int,
        stats: CleanerStats,
    ) -> None:
        """Copy the retained records of a group into a new segment and swap it in."""
        cleaned = CleanedSegment(log, segments, self._time)
        try:
            for segment in segments:
                record_filter.retain_legacy_deletes = segment.log.last_modified_ms() > legacy_delete_horizon_ms
                self._clean_into(log, segment, cleaned, record_filter, stats)
            cleaned.copy_aborted_transactions(record_filter.removed_markers)
            new_segment = cleaned.complete()
            self._check_done(log.topic_partition)
        except BaseException:
            cleaned.discard()
            raise
        logger.info("Swapping in %r for %d segments of log %s", new_segment, len(segments), log.name)
        log.replace_segments(new_segment, segments)

    def _clean_into(
        self, log: Log, source: LogSegment, dest: CleanedSegment, record_filter: CleanerFilter, stats: CleanerStats
    ) -> None:
        for chunk in self._chunks(log.topic_partition, source.log, 0):
            written = 0
            for batch in chunk:
                filtered = filter_batch(batch, record_filter)
                stats.bytes_read += batch.size_in_bytes
                stats.messages_read += filtered.messages_read
                stats.messages_written += filtered.messages_retained
                size = len(filtered.data)
                if size:
                    dest.append(filtered)
                    written += size
                if size > batch.size_in_bytes and size > log.config.max_message_bytes:
                    logger.warning(
                        "The batch of %s that ends at offset %d has grown to %d bytes, beyond max.message.bytes: "
                        "consumers before 0.10.1 may need larger fetches",
                        log.name,
                        batch.last_offset,
                        size,
                    )
                self._breathe()
            stats.bytes_written += written
            self._throttle(log.topic_partition, written)

    # -- reading -----------------------------------------------------------------------------------------------------

    def _chunks(
        self, topic_partition: TopicPartition, log: FileMessageSet, position: int
    ) -> Iterator[list[RecordBatch]]:
        """Yield the batches of a file from ``position`` on, as many at a time as fit in the I/O buffer.

        If a batch is larger than the buffer, the buffer grows for the rest of the file. Raises CorruptRecordError if
        the file ends with a partial batch.
        """
        buffer_size = self._io_buffer_size
        while position < log.size_in_bytes:
            self._check_done(topic_partition)
            data = log.read(position, buffer_size).to_bytes()
            self._throttle(topic_partition, len(data))
            chunk = list(batches(data))
            if chunk:
                yield chunk
                position += sum(batch.size_in_bytes for batch in chunk)
            else:
                buffer_size = self._grown_buffer_size(log, position, data, buffer_size)

    def _grown_buffer_size(self, log: FileMessageSet, position: int, data: bytes, buffer_size: int) -> int:
        """The buffer size needed for the batch of which ``data``, a full buffer, has only a part."""
        bytes_left = log.size_in_bytes - position
        needed = batch_size(data) if len(data) >= HEADER_SIZE_UP_TO_MAGIC else HEADER_SIZE_UP_TO_MAGIC
        if needed > bytes_left:
            raise CorruptRecordError(f"{log.file} has {bytes_left} bytes at position {position}, {needed} are needed")
        grown = min(max(needed, 2 * buffer_size), bytes_left)
        logger.info("Growing cleaner I/O buffers from %d bytes to %d bytes", buffer_size, grown)
        return grown

    def _breathe(self) -> None:
        """Release the GIL from time to time, so that the broker's other threads can run."""
        if self._time.hi_res_ms() - self._last_breath_ms >= BUSY_MS:
            self._pause(BREATH_MS)
            self._last_breath_ms = self._time.hi_res_ms()

    def _throttle(self, topic_partition: TopicPartition, size: int) -> None:
        """Count bytes; pause if log.cleaner.io.max.bytes.per.second is exceeded, and keep calling ``check_done``."""
        pause_ms = self._throttler.pause_ms(size)
        while pause_ms > 0:
            self._pause(min(pause_ms, LONGEST_PAUSE_MS))
            pause_ms -= LONGEST_PAUSE_MS
            self._check_done(topic_partition)


def _legacy_delete_horizon_ms(cleanable: LogToClean) -> int:
    """Time up to which v0 and v1 tombstones are removed: the newest clean segment's, minus ``delete.retention.ms``."""
    clean = cleanable.log.segments.between(0, cleanable.first_dirty_offset)
    return clean[-1].log.last_modified_ms() - cleanable.log.config.delete_retention_ms if clean else 0
