"""Plans which offsets a query reads and how they are split into tasks. Pure functions: no broker is involved.

Spark 4.2: connector/kafka-0-10-sql/.../KafkaOffsetRangeCalculator.scala, KafkaMicroBatchStream.scala · book 4.1.4
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.spark.offsets import PartitionOffsets, describe

ReportDataLoss = Callable[[str], None]
"""Called if records that the query should have read are gone; raises or warns, depending on ``failOnDataLoss``."""


@dataclass(frozen=True)
class OffsetRange:
    """Offsets from ``from_offset`` up to but excluding ``until_offset`` of one partition: the work of one task."""

    topic_partition: TopicPartition
    from_offset: int
    until_offset: int

    @property
    def size(self) -> int:
        """Number of offsets; there are fewer records if the log was compacted or has transaction markers."""
        return self.until_offset - self.from_offset


def batch_ranges(
    start: PartitionOffsets, end: PartitionOffsets, latest: PartitionOffsets, report: ReportDataLoss
) -> list[OffsetRange]:
    """The ranges of a batch query. Requested offsets that the logs do not have (any more) are reported.

    An end beyond ``latest`` is limited to it, because a task would wait for records that may never arrive.
    """
    for partition in sorted(end):
        if end[partition] > latest[partition]:
            report(f"the ending offset {end[partition]} of {partition} is beyond its end {latest[partition]}")
        if start[partition] > end[partition]:
            report(f"the starting offset {start[partition]} of {partition} is beyond its end {end[partition]}")
    return [
        OffsetRange(partition, start[partition], min(end[partition], latest[partition])) for partition in sorted(end)
    ]


def stream_ranges(
    start: PartitionOffsets, end: PartitionOffsets, new_start: PartitionOffsets, report: ReportDataLoss
) -> list[OffsetRange]:
    """The ranges of one micro-batch.

    ``new_start`` has the start offsets of the partitions that are in ``end`` but not in ``start``. Partitions may have
    been added, deleted or recreated since ``start``; possible losses of records are reported.
    """
    _report_losses(start, end, new_start, report)
    begin = {**new_start, **start}
    return [OffsetRange(partition, begin[partition], end[partition]) for partition in sorted(end) if partition in begin]


def _report_losses(
    start: PartitionOffsets, end: PartitionOffsets, new_start: PartitionOffsets, report: ReportDataLoss
) -> None:
    if unknown := end.keys() - start.keys() - new_start.keys():
        report(f"cannot find the earliest offsets of {describe(unknown)}, which may have been deleted")
    if gone := start.keys() - end.keys():
        report(f"{describe(gone)} no longer exist")
    for partition in sorted(new_start.keys() - start.keys()):
        if new_start[partition] > 0:
            report(f"the added partition {partition} starts from {new_start[partition]} instead of 0")
    for partition in sorted(start.keys() & end.keys()):
        if end[partition] < start[partition]:
            report(f"the offset of {partition} went back from {start[partition]} to {end[partition]}")


def split(
    ranges: Iterable[OffsetRange],
    min_partitions: int | None = None,
    max_records: int | None = None,
    max_records_of: Mapping[TopicPartition, int] | None = None,
) -> list[OffsetRange]:
    """Split large ranges so that there are about ``min_partitions`` tasks of at most ``max_records`` offsets each.

    ``max_records_of`` has the limits of single partitions, which apply too. Empty ranges are dropped. Small ranges stay
    whole; large ones are split in proportion to their size.
    """
    pieces = [wanted for wanted in ranges if wanted.size > 0]
    for limits in ({piece.topic_partition: max_records for piece in pieces}, max_records_of or {}):
        pieces = [part for piece in pieces for part in _cut_to(piece, limits.get(piece.topic_partition))]
    if min_partitions is None or len(pieces) >= min_partitions:
        return pieces
    small = {piece for piece, parts in _shares(pieces, min_partitions).items() if parts == 1}
    large = [piece for piece in pieces if piece not in small]
    # Each small range gets one task; the remaining tasks are distributed among the large ones.
    shares = _shares(large, max(min_partitions - len(small), 1))
    return [part for piece in pieces for part in _cut(piece, shares.get(piece, 1))]


def _shares(ranges: list[OffsetRange], parts: int) -> dict[OffsetRange, int]:
    total = sum(piece.size for piece in ranges)
    return {piece: max(round(piece.size / total * parts), 1) for piece in ranges}


def _cut_to(whole: OffsetRange, limit: int | None) -> list[OffsetRange]:
    return [whole] if limit is None else _cut(whole, -(-whole.size // limit))


def _cut(whole: OffsetRange, parts: int) -> list[OffsetRange]:
    """Split into ``parts`` pieces whose sizes differ by at most one; fewer if there are not enough offsets."""
    edges = [whole.from_offset + whole.size * index // parts for index in range(parts + 1)]
    pieces = [replace(whole, from_offset=begin, until_offset=end) for begin, end in pairwise(edges)]
    return [piece for piece in pieces if piece.size > 0]


def rate_limit(limit: int, start: PartitionOffsets, latest: PartitionOffsets) -> PartitionOffsets:
    """The end of the next micro-batch: about ``limit`` offsets after ``start``, in proportion to the backlogs.

    A partition of ``latest`` that is not in ``start`` is not limited. No partition with a backlog starves, so a limit
    below the number of partitions is exceeded, as in Spark's own source.
    """
    waiting = {
        partition: latest[partition] - start[partition]
        for partition in latest
        if partition in start and latest[partition] > start[partition]
    }
    total = sum(waiting.values())
    if total <= limit:
        return dict(latest)
    # Integers, because a double rounds beyond 2^53; at least one offset each, so that every partition advances.
    return {
        partition: start[partition] + max(waiting[partition] * limit // total, 1) if partition in waiting else offset
        for partition, offset in latest.items()
    }


def waiting_offsets(start: Mapping[TopicPartition, int], latest: Mapping[TopicPartition, int]) -> int:
    """Number of offsets available to read, for ``minOffsetsPerTrigger``."""
    return sum(offset - start.get(partition, 0) for partition, offset in latest.items())
