"""Groups adjacent segments that are cleaned into one, so that compaction does not leave ever more and smaller files.

Kafka 0.10.2: core/.../log/LogCleaner.scala (groupSegmentsBySize) · book 6.1.6
"""

from __future__ import annotations

from collections.abc import Sequence

from kafka_lite.log.abstract_index import MAX_RELATIVE_OFFSET
from kafka_lite.log.log_segment import LogSegment


def group_segments_by_size(
    segments: Sequence[LogSegment], max_size: int, max_index_size: int, first_uncleanable_offset: int
) -> list[list[LogSegment]]:
    """Group adjacent segments that fit in one segment even if all of their messages are retained.

    ::

        bytes   │ 600 │ 300 │ 400 │ 100 │ 1000 │       max_size 1000
        groups  └─── 900 ──┘└─── 500 ───┘└ 1000 ┘

    The limits are the size of the messages (``max_size`` bytes), the size of each index (``max_index_size`` bytes), and
    the last offset relative to the first base offset. An empty segment fits in any group.
    """
    groups: list[list[LogSegment]] = []
    ends = [segment.base_offset for segment in segments[1:]] + [first_uncleanable_offset]
    for segment, end in zip(segments, ends, strict=False):
        if groups and _fits(groups[-1], segment, end - 1, max_size, max_index_size):
            groups[-1].append(segment)
        else:
            groups.append([segment])
    return groups


def _fits(group: list[LogSegment], segment: LogSegment, last_offset: int, max_size: int, max_index_size: int) -> bool:
    """``last_offset`` is the largest that the segment may have; finding the real one would mean reading the segment."""
    together = [*group, segment]
    return (
        sum(s.size for s in together) <= max_size
        and sum(s.offset_index.size_in_bytes for s in together) <= max_index_size
        and sum(s.time_index.size_in_bytes for s in together) <= max_index_size
        and (segment.size == 0 or last_offset - group[0].base_offset <= MAX_RELATIVE_OFFSET)
    )
