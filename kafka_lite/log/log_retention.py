"""Decides which segments exceed the retention time or size.

Kafka 0.10.2: core/.../log/Log.scala (deleteOldSegments) · book 6.1.5
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_segment import LogSegment


def deletable_segments(
    segments: Sequence[LogSegment], config: LogConfig, log_start_offset: int, now_ms: int
) -> list[LogSegment]:
    """Return the oldest segments that need not be retained, for one of three reasons:

    * time: all of a segment's messages are older than ``retention.ms``;
    * size: the log still has ``retention.bytes`` without it;
    * start: all of its messages are below the log start offset.

    The first two apply only with ``cleanup.policy=delete``. A segment is deleted as a whole, and only together with all
    segments before it. An empty last segment is kept, because another one would have to be created in its place.
    """
    candidates = list(segments if segments[-1].size > 0 else segments[:-1])
    count = _below_log_start(segments, log_start_offset)
    if config.delete:
        count = max(count, _expired(candidates, config.retention_ms, now_ms))
        count = max(count, _beyond_size(candidates, config.retention_bytes))
    return candidates[:count]


def _expired(segments: Sequence[LogSegment], retention_ms: int, now_ms: int) -> int:
    """Number of oldest segments that have only messages older than ``retention_ms`` (negative: no limit)."""
    if retention_ms < 0:
        return 0
    return len(list(itertools.takewhile(lambda segment: now_ms - segment.largest_timestamp > retention_ms, segments)))


def _beyond_size(segments: Sequence[LogSegment], retention_bytes: int) -> int:
    """Number of oldest segments that are not needed for ``retention_bytes`` (negative: no limit)."""
    if retention_bytes < 0:
        return 0
    surplus = sum(segment.size for segment in segments) - retention_bytes
    count = 0
    for segment in segments:
        surplus -= segment.size
        if surplus < 0:
            break
        count += 1
    return count


def _below_log_start(segments: Sequence[LogSegment], log_start_offset: int) -> int:
    """Number of segments that end at or before the log start offset, as the next one's base offset shows."""
    return len([1 for _, following in itertools.pairwise(segments) if following.base_offset <= log_start_offset])
