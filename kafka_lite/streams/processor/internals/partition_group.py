"""The input partitions of a task. Its next record comes from the partition whose time is least.

Kafka 0.10.2: streams/.../processor/internals/PartitionGroup.java · book 9.1.3
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from itertools import count
from typing import NamedTuple

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.streams.processor.internals.min_timestamp_tracker import StampedRecord
from kafka_lite.streams.processor.internals.record_queue import RecordQueue


class NextRecord(NamedTuple):
    """A record that was removed from its queue."""

    stamped: StampedRecord
    queue: RecordQueue


class PartitionGroup:
    """A priority queue of the non-empty record queues, by their time.

    The time of a queue changes only when its first record is removed, and then the queue is not in the heap. Of queues
    with the same time, the one that has waited longest is first.
    """

    def __init__(self, partition_queues: Mapping[TopicPartition, RecordQueue]) -> None:
        self._queues = dict(partition_queues)
        self._queues_by_time: list[tuple[int, int, RecordQueue]] = []
        self._entered = count()
        self.num_buffered = 0
        """The number of records in all queues."""

    def next_record(self) -> NextRecord | None:
        """Remove and return the first record of the queue with the least time; None if all queues are empty."""
        if not self._queues_by_time:
            return None
        _, _, queue = heapq.heappop(self._queues_by_time)
        stamped = queue.poll()
        if queue:
            self._enter(queue)
        self.num_buffered -= 1
        return NextRecord(stamped, queue)

    def add_raw_records(self, partition: TopicPartition, raw_records: Iterable[ConsumerRecord]) -> int:
        """Append records of a partition. Returns the new length of its queue. Raises KeyError and StreamsError."""
        queue = self._queues[partition]
        old_size = len(queue)
        new_size = queue.add_raw_records(raw_records)
        if old_size == 0 and new_size > 0:
            self._enter(queue)
        self.num_buffered += new_size - old_size
        return new_size

    @property
    def timestamp(self) -> int:
        """Stream time: the least time of all partitions, in ms; -1 until every partition has had a record."""
        return min(queue.timestamp for queue in self._queues.values())

    @property
    def top_queue_size(self) -> int:
        """The length of the queue that the next record comes from; 0 if all are empty."""
        return len(self._queues_by_time[0][2]) if self._queues_by_time else 0

    def clear(self) -> None:
        """Drop all records."""
        self._queues_by_time.clear()
        self.num_buffered = 0
        for queue in self._queues.values():
            queue.clear()

    def _enter(self, queue: RecordQueue) -> None:
        heapq.heappush(self._queues_by_time, (queue.timestamp, next(self._entered), queue))
