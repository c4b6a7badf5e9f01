"""Rates and lags of a mirror, computed from two looks at it, for ``--watch``.

Kafka's MirrorMaker has no such view; its users look at the lag of its group · book 8.1.1
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.maker.mirror_maker_base_consumer import PartitionProgress


class PartitionRow(NamedTuple):
    """A partition, as the view shows it."""

    topic_partition: TopicPartition
    position: int
    lag: int | None
    """Offsets that are not copied yet, as of the last fetch; None if that is not known."""
    rate: float
    """Offsets per second since the last look."""


class MirrorSnapshot(NamedTuple):
    """One look at a mirror."""

    rows: list[PartitionRow]
    acknowledged: int
    dropped: int
    rate: float
    """Acknowledged records per second since the last look."""
    lag: int | None
    """Of all partitions; None if none of them is known."""


class MirrorProgress:
    """Remembers the last look."""

    def __init__(self) -> None:
        self._at_ms: float | None = None
        self._positions: Mapping[TopicPartition, int] = {}
        self._acknowledged = 0

    def look(
        self, now_ms: float, partitions: Iterable[PartitionProgress], acknowledged: int, dropped: int
    ) -> MirrorSnapshot:
        """A snapshot. Rates are 0 at the first look, and for a partition that was not there at the last one."""
        seconds = 0.0 if self._at_ms is None else (now_ms - self._at_ms) / 1000
        rows = [self._row(each, seconds) for each in partitions]
        rate = _rate(acknowledged - self._acknowledged, seconds)
        self._at_ms, self._acknowledged = now_ms, acknowledged
        self._positions = {row.topic_partition: row.position for row in rows}
        lags = [row.lag for row in rows if row.lag is not None]
        return MirrorSnapshot(rows, acknowledged, dropped, rate, sum(lags) if lags else None)

    def _row(self, partition: PartitionProgress, seconds: float) -> PartitionRow:
        of, position, end = partition
        rate = _rate(position - self._positions.get(of, position), seconds)
        return PartitionRow(of, position, None if end is None else max(0, end - position), rate)


def _rate(count: int, seconds: float) -> float:
    return max(0.0, count / seconds) if seconds > 0 else 0.0
