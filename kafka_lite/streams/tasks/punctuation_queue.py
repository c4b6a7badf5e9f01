"""The punctuations that processors have scheduled, by the stream time at which they are due.

Kafka 0.10.2: streams/.../processor/internals/PunctuationQueue.java, PunctuationSchedule.java · book 9.1.3
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count
from typing import NamedTuple

from kafka_lite.streams.processor.internals.topology.processor_node import ProcessorNode


class PunctuationSchedule(NamedTuple):
    """A heap entry: first by time, then by the order of scheduling."""

    timestamp: int
    """When it is due, in ms; 0 until the first punctuation, which is due at once, whatever the stream time is."""
    number: int
    node: ProcessorNode
    interval_ms: int

    def next(self, stream_time: int) -> PunctuationSchedule:
        """The following punctuation: later by the interval. The first one sets the beat to the stream time."""
        return self._replace(timestamp=(self.timestamp or stream_time) + self.interval_ms)


class PunctuationQueue:
    """A heap of schedules."""

    def __init__(self) -> None:
        self._schedules: list[PunctuationSchedule] = []
        self._numbers = count()

    def schedule(self, node: ProcessorNode, interval_ms: int) -> None:
        """Punctuate a node every ``interval_ms``. Raises ValueError unless that is positive: it would never end."""
        if interval_ms <= 0:
            raise ValueError(f"the interval of punctuations must be positive, not {interval_ms} ms")
        heapq.heappush(self._schedules, PunctuationSchedule(0, next(self._numbers), node, interval_ms))

    @property
    def has_schedules(self) -> bool:
        """Whether anything is ever due."""
        return bool(self._schedules)

    def clear(self) -> None:
        """Drop all schedules: processors schedule again when they are initialized again."""
        self._schedules.clear()

    def may_punctuate(self, stream_time: int, punctuate: Callable[[ProcessorNode, int], None]) -> bool:
        """Call ``punctuate(node, stream_time)`` for everything that is due. Returns whether there was anything.

        If stream time jumps over several intervals, the node is punctuated once for each.
        """
        punctuated = False
        while self._schedules and self._schedules[0].timestamp <= stream_time:
            schedule = heapq.heappop(self._schedules)  # before the call, which may schedule more
            punctuate(schedule.node, stream_time)
            heapq.heappush(self._schedules, schedule.next(stream_time))
            punctuated = True
        return punctuated
