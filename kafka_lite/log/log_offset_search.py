"""Searches offsets by timestamp, for ListOffsets.

Kafka 0.10.2: core/.../log/Log.scala (fetchOffsetsByTimestamp), core/.../server/KafkaApis.scala · book 10.2
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kafka_lite.common.errors import Errors
from kafka_lite.log.derived_state import DerivedState
from kafka_lite.log.files.file_message_set import TimestampAndOffset
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.log.log_segments import LogSegments
from kafka_lite.record.record import MAGIC_V0, NO_TIMESTAMP

LATEST_TIMESTAMP = -1
EARLIEST_TIMESTAMP = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL_TIMESTAMP = -4
LATEST_TIERED_TIMESTAMP = -5


class SearchedLog(Protocol):
    """The part of a log that a search needs."""

    segments: LogSegments
    derived_state: DerivedState
    log_start_offset: int

    @property
    def log_end_offset(self) -> int:
        """The offset of the next message."""
        ...

    @property
    def config(self) -> LogConfig:
        """The topic's configuration."""
        ...


def fetch_offset_by_timestamp(log: SearchedLog, target_timestamp: int) -> TimestampAndOffset | None:
    """Find the first message that is not older than ``target_timestamp`` (ms), or None if there is none.

    Five negative timestamps have a special meaning: the log end (-1), the log start (-2, and -4, which differs only
    with tiered storage), the message with the largest timestamp (-3), and the last one in tiered storage (-5): there
    is none. Raises UNSUPPORTED_FOR_MESSAGE_FORMAT for a
    search by time in a log whose messages have no timestamps.
    """
    segments, log_start_offset = tuple(log.segments), log.log_start_offset
    if target_timestamp in (EARLIEST_TIMESTAMP, EARLIEST_LOCAL_TIMESTAMP):
        epoch = log.derived_state.epoch_for_offset(log_start_offset)
        return TimestampAndOffset(NO_TIMESTAMP, log_start_offset, epoch)
    if target_timestamp == LATEST_TIMESTAMP:
        return TimestampAndOffset(NO_TIMESTAMP, log.log_end_offset, log.derived_state.latest_epoch)
    if target_timestamp == LATEST_TIERED_TIMESTAMP:
        return None
    if log.config.magic == MAGIC_V0:
        raise Errors.UNSUPPORTED_FOR_MESSAGE_FORMAT.exception("messages of format v0 have no timestamps to search by")
    if target_timestamp == MAX_TIMESTAMP:
        return _offset_of_max_timestamp(segments)
    for segment in segments:
        if segment.largest_timestamp >= target_timestamp:
            found = segment.find_offset_by_timestamp(target_timestamp, log_start_offset)
            if found is not None:
                return found
            # The matching messages are below the log start offset; the next segment may have others.
    return None


def _offset_of_max_timestamp(segments: Sequence[LogSegment]) -> TimestampAndOffset | None:
    """As in Kafka, the message may lie below the log start offset, as long as its segment is there."""
    latest = max(segments, key=lambda segment: segment.max_timestamp_so_far.timestamp)
    timestamp = latest.max_timestamp_so_far.timestamp
    return latest.find_offset_by_timestamp(timestamp, latest.base_offset) if timestamp >= 0 else None


def legacy_fetch_offsets_before(log: SearchedLog, timestamp: int, max_num_offsets: int, now_ms: int) -> list[int]:
    """ListOffsets v0: base offsets of segments last modified at or before ``timestamp``, newest first.

    The log end counts as one more segment, modified now; -1 and -2 stand for the newest and the oldest one.
    """
    segments, start = tuple(log.segments), log.log_start_offset
    candidates = [(max(segment.base_offset, start), segment.log.last_modified_ms()) for segment in segments]
    if segments[-1].size > 0:
        candidates.append((log.log_end_offset, now_ms))
    if timestamp == EARLIEST_TIMESTAMP:
        last = 0
    elif timestamp == LATEST_TIMESTAMP:
        last = len(candidates) - 1
    else:
        last = max((i for i, (_, modified_ms) in enumerate(candidates) if modified_ms <= timestamp), default=-1)
    offsets = [offset for offset, _ in candidates[: last + 1]]
    return sorted(offsets, reverse=True)[: max(0, max_num_offsets)]
