"""The smallest timestamp in a queue, in constant time per record on average.

Kafka 0.10.2: streams/.../processor/internals/MinTimestampTracker.java, TimestampTracker.java, Stamped.java,
StampedRecord.java · book 9.1.3
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from kafka_lite.consumer.consumer_record import ConsumerRecord

NOT_KNOWN = -1
"""The time of a queue that has not had a record yet."""


class StampedRecord(NamedTuple):
    """A deserialized record with its extracted time."""

    record: ConsumerRecord
    timestamp: int


class MinTimestampTracker:
    """Keeps only the records that can still become the smallest: those with no smaller one after them.

    A record that arrives removes all larger (and equal) ones before it, since they leave the queue earlier than it.
    What remains ascends, and its first is the smallest of the queue::

        queue      7 3 9 4 8        tracked    3 4 8
    """

    def __init__(self) -> None:
        self._ascending: deque[StampedRecord] = deque()
        self._last_known = NOT_KNOWN

    def add(self, stamped: StampedRecord) -> None:
        """A record was appended to the queue."""
        ascending = self._ascending
        while ascending and ascending[-1].timestamp >= stamped.timestamp:
            ascending.pop()
        ascending.append(stamped)

    def remove(self, stamped: StampedRecord) -> None:
        """The first record of the queue was removed from it."""
        if self._ascending and self._ascending[0] is stamped:
            self._ascending.popleft()
        if not self._ascending:
            self._last_known = stamped.timestamp

    def clear(self) -> None:
        """All records of the queue were dropped. (0.10.2 keeps them here: one that never returns stops the time.)"""
        self._ascending.clear()

    def get(self) -> int:
        """The smallest timestamp of the queue; if it is empty, that of the last removed record, or NOT_KNOWN."""
        return self._ascending[0].timestamp if self._ascending else self._last_known
