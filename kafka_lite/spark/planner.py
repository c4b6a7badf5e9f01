"""Which offsets a query reads, and how they are cut into tasks. Values in, values out: no broker is asked here.

Spark 4.2: connector/kafka-0-10-sql/.../KafkaOffsetRangeCalculator.scala, KafkaMicroBatchStream.scala · book 4.1.4
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.spark.offsets import PartitionOffsets, describe

ReportDataLoss = Callable[[str], None]
"""Told when records are gone that the query should have read; raises, or warns, as ``failOnDataLoss`` has it."""


@dataclass(frozen=True)
class OffsetRange:
    """Offsets from ``from_offset`` up to, but without, ``until_offset`` of one partition: the work of one task."""

    topic_partition: TopicPartition
    from_offset: int
    until_offset: int

    @property
    def size(self) -> int:
        """How many offsets; fewer records where the log was compacted or has transaction markers."""
        return self.until_offset - self.from_offset


def batch_ranges(
    start: PartitionOffsets, end: PartitionOffsets, latest: PartitionOffsets, report: ReportDataLoss
) -> list[OffsetRange]:
    """The ranges of a batch query. What options ask for and the logs have not (any more) is reported.

    An end beyond ``latest`` becomes that: a task would wait for records that may never come.
    """
    for partition in sorted(end):
        if end[partition] > latest[partition]:
            report(f"the ending offset {end[partition]} of {partition} lies beyond its end {latest[partition]}")
        if start[partition] > end[partition]:
            report(f"the starting offset {start[partition]} of {partition} lies beyond its end {end[partition]}")
    return [
        OffsetRange(partition, start[partition], min(end[partition], latest[partition])) for partition in sorted(end)
    ]


def stream_ranges(
    start: PartitionOffsets, end: PartitionOffsets, new_start: PartitionOffsets, report: ReportDataLoss
) -> list[OffsetRange]:
    """The ranges of one micro-batch.

    ``new_start`` has the beginnings of the partitions that ``end`` has and ``start`` has not. Partitions may have come,
    gone or begun anew since ``start``; whatever may have cost records is reported.
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
        report(f"{describe(gone)} are gone")
    for partition in sorted(new_start.keys() - start.keys()):
        if new_start[partition] > 0:
            report(f"the added partition {partition} starts from {new_start[partition]} instead of 0")
    for partition in sorted(start.keys() & end.keys()):
        if end[partition] < start[partition]:
            report(f"the offset of {partition} went back from {start[partition]} to {end[partition]}")


def split(
    ranges: Iterable[OffsetRange], min_partitions: int | None = None, max_records: int | None = None
) -> list[OffsetRange]:
    """Cut large ranges, so that there are about ``min_partitions`` tasks of at most ``max_records`` offsets each.

    Empty ranges are left out. Small partitions stay whole, and large ones are cut in proportion to their size.
    """
    pieces = [wanted for wanted in ranges if wanted.size > 0]
    if max_records is not None:
        pieces = [piece for whole in pieces for piece in _cut(whole, math.ceil(whole.size / max_records))]
    if min_partitions is None or len(pieces) >= min_partitions:
        return pieces
    small = {piece for piece, parts in _shares(pieces, min_partitions).items() if parts == 1}
    large = [piece for piece in pieces if piece not in small]
    # The small ones have their task each; what is left of the wish is shared out among the large ones.
    shares = _shares(large, max(min_partitions - len(small), 1))
    return [part for piece in pieces for part in _cut(piece, shares.get(piece, 1))]


def _shares(ranges: list[OffsetRange], parts: int) -> dict[OffsetRange, int]:
    total = sum(piece.size for piece in ranges)
    return {piece: max(round(piece.size / total * parts), 1) for piece in ranges}


def _cut(whole: OffsetRange, parts: int) -> list[OffsetRange]:
    """``parts`` pieces whose sizes differ by at most one; fewer when there are not that many offsets."""
    edges = [whole.from_offset + whole.size * index // parts for index in range(parts + 1)]
    pieces = [replace(whole, from_offset=begin, until_offset=end) for begin, end in pairwise(edges)]
    return [piece for piece in pieces if piece.size > 0]


def rate_limit(limit: int, start: PartitionOffsets, latest: PartitionOffsets) -> PartitionOffsets:
    """An end for the next micro-batch: about ``limit`` offsets from ``start`` on, in proportion to what waits where.

    ``start`` must know every partition of ``latest``, or it is taken as it is. No partition with something in it
    starves, so that a limit below the number of partitions is exceeded, as Spark's own source does.
    """
    waiting = {
        partition: latest[partition] - start[partition]
        for partition in latest
        if partition in start and latest[partition] > start[partition]
    }
    total = sum(waiting.values())
    if total <= limit:
        return dict(latest)
    # Integers, since a double rounds beyond 2^53; the quotient is at least one, so that everything moves on.
    return {
        partition: start[partition] + max(waiting[partition] * limit // total, 1) if partition in waiting else offset
        for partition, offset in latest.items()
    }


def waiting_offsets(start: Mapping[TopicPartition, int], latest: Mapping[TopicPartition, int]) -> int:
    """How many offsets there are to read, for ``minOffsetsPerTrigger``."""
    return sum(offset - start.get(partition, 0) for partition, offset in latest.items())
