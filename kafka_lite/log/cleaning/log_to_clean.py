"""Measures how dirty a log is and which range of its offsets can be cleaned.

Kafka 0.10.2: core/.../log/LogCleanerManager.scala (cleanableOffsets), LogCleaner.scala (LogToClean) · book 6.1.6
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log import Log
from kafka_lite.log.log_config import MAX_LONG
from kafka_lite.log.log_segment import LogSegment

logger = logging.getLogger("kafka_lite.log.cleaning.log_cleaner")  # as in Kafka: one logger for all cleaning


class OffsetsToClean(NamedTuple):
    """The cleanable range: from the first dirty offset up to the first uncleanable one (exclusive)."""

    first_dirty_offset: int
    first_uncleanable_dirty_offset: int
    force_update_checkpoint: bool = False
    """Whether the checkpoint was invalid and must be set to the first dirty offset."""


class LogToClean:
    """A log that may be cleaned.

    ::

        │ clean: each key once │ dirty                     │ uncleanable │ active │
        └ log start            └ first dirty offset        └ first uncleanable offset

        cleanable ratio = bytes of dirty / (bytes of clean + bytes of dirty)

    Whole segments are counted. Uncleanable segments are too young (``min.compaction.lag.ms``).
    """

    def __init__(
        self,
        topic_partition: TopicPartition,
        log: Log,
        first_dirty_offset: int,
        uncleanable_offset: int,
        need_compaction_now: bool = False,
    ) -> None:
        """``need_compaction_now``: the log has been dirty for longer than ``max.compaction.lag.ms``."""
        self.topic_partition = topic_partition
        self.log = log
        self.first_dirty_offset = first_dirty_offset
        self.need_compaction_now = need_compaction_now
        uncleanable = log.segments.non_active_from(uncleanable_offset) or (log.segments.active,)
        self.first_uncleanable_offset = uncleanable[0].base_offset
        dirty_from = min(first_dirty_offset, self.first_uncleanable_offset)
        self.cleanable_bytes = _size(log.segments.between(dirty_from, self.first_uncleanable_offset))
        self.clean_bytes = _size(log.segments.between(-1, first_dirty_offset))

    @property
    def total_bytes(self) -> int:
        """Total size of the clean and dirty segments."""
        return self.clean_bytes + self.cleanable_bytes

    @cached_property
    def cleanable_ratio(self) -> float:
        """Fraction of these bytes that is dirty, 0 to 1."""
        return self.cleanable_bytes / self.total_bytes if self.total_bytes else 0.0

    @property
    def is_cleanable(self) -> bool:
        """Whether the log is dirty enough (``min.cleanable.dirty.ratio``) or overdue."""
        overdue = self.need_compaction_now and self.cleanable_bytes > 0
        return overdue or self.cleanable_ratio > self.log.config.min_cleanable_dirty_ratio


def _size(segments: Sequence[LogSegment]) -> int:
    return sum(segment.size for segment in segments)


def cleanable_offsets(log: Log, last_clean_offset: int | None, now_ms: int) -> OffsetsToClean:
    """Compute where cleaning starts, from the checkpoint, and where it must end.

    That is at the active segment, at the first segment with a message younger than ``min.compaction.lag.ms``, or at the
    first transaction that is open: only its marker decides which records count.
    """
    first_dirty_offset, force_update_checkpoint = _first_dirty_offset(log, last_clean_offset)
    first_uncleanable = log.segments.active.base_offset
    lag_ms = log.config.min_compaction_lag_ms
    if lag_ms > 0:
        dirty = log.segments.non_active_from(first_dirty_offset)
        too_young = (s.base_offset for s in dirty if s.largest_timestamp > now_ms - lag_ms)
        first_uncleanable = next(too_young, first_uncleanable)
    first_unstable = log.producer_state.transactions.first_unstable_offset(high_watermark=0)
    if first_unstable is not None:
        first_uncleanable = min(first_uncleanable, first_unstable)
    return OffsetsToClean(first_dirty_offset, max(first_dirty_offset, first_uncleanable), force_update_checkpoint)


def _first_dirty_offset(log: Log, last_clean_offset: int | None) -> tuple[int, bool]:
    """Return the checkpoint's offset and False, or the log start offset and True if the checkpoint is invalid."""
    start = log.log_start_offset
    if last_clean_offset is None:
        return start, False
    if last_clean_offset < start:
        if not log.config.delete:  # with deletion it is normal that the start passes the checkpoint
            logger.warning(
                "Resetting the first dirty offset of %s to the log start offset %d, since the checkpoint's, %d, lies "
                "before it",
                log.name,
                start,
                last_clean_offset,
            )
        return start, True
    if last_clean_offset > log.log_end_offset:
        logger.warning(
            "Resetting the first dirty offset of %s to the log start offset %d, since the checkpoint's, %d, lies "
            "beyond the log end offset %d: the log seems to have lost its end",
            log.name,
            start,
            last_clean_offset,
            log.log_end_offset,
        )
        return start, True
    return last_clean_offset, False


def max_compaction_delay_ms(log: Log, first_dirty_offset: int, now_ms: int) -> int:
    """By how much the oldest dirty segment exceeds ``max.compaction.lag.ms``; 0 if it does not."""
    lag_ms = log.config.max_compaction_lag_ms
    if lag_ms == MAX_LONG:
        return 0
    firsts = [segment.first_batch_timestamp for segment in log.segments.non_active_from(first_dirty_offset)]
    oldest_ms = min((timestamp for timestamp in firsts if timestamp > 0), default=now_ms)
    return max(0, now_ms - lag_ms - oldest_ms)
