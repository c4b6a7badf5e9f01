"""The input partitions of a task. Its next record comes from the partition whose time is least.

Kafka 0.10.2: streams/.../processor/internals/PartitionGroup.java; ``ready_to_process`` is Kafka 3.0's (KIP-695)
· book 9.1.3
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import NamedTuple

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.streams.tasks.min_timestamp_tracker import StampedRecord
from kafka_lite.streams.tasks.record_queue import RecordQueue

MAX_TASK_IDLE_MS_DISABLED = -1
"""The value of ``max.task.idle.ms`` with which a task never waits for an empty partition."""


class NextRecord(NamedTuple):
    """A record that was removed from its queue."""

    stamped: StampedRecord
    queue: RecordQueue


class PartitionGroup:
    """A priority queue of the non-empty record queues, by their time.

    The time of a queue changes only when its first record is removed, and then the queue is not in the heap. Of queues
    with the same time, the one that has waited longest is first.

    An empty queue may be about to get a record that belongs before all others. So the task waits for it::

        lag of the last fetch     not known, or above 0: the broker has records      0: the broker has none
        the task waits            until they have been fetched                       max_task_idle_ms for new ones
    """

    def __init__(
        self,
        partition_queues: Mapping[TopicPartition, RecordQueue],
        lag_of: Callable[[TopicPartition], int | None] = lambda _: 0,
        max_task_idle_ms: float = MAX_TASK_IDLE_MS_DISABLED,
        on_enforced: Callable[[], None] = lambda: None,
    ) -> None:
        """``lag_of``: how many records the broker has after the consumer's position; None if it is not known yet.

        ``on_enforced`` is called when a record may be processed although a partition is still empty.
        """
        self._queues = dict(partition_queues)
        self._lag_of = lag_of
        self._max_task_idle_ms = max_task_idle_ms
        self._on_enforced = on_enforced
        self._fetched_lags: dict[TopicPartition, int | None] = {}
        """The results of ``lag_of`` since the last poll."""
        self._idle_deadlines: dict[TopicPartition, float] = {}
        """When the task stops waiting for new records of a partition."""
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

    def ready_to_process(self, now_ms: float) -> bool:
        """Whether the next record may be processed. ``now_ms`` is monotonic."""
        if self._max_task_idle_ms == MAX_TASK_IDLE_MS_DISABLED or len(self._queues_by_time) == len(self._queues):
            return True
        empty = (partition for partition, queue in self._queues.items() if not queue)
        if not self._queues_by_time or not all(self._may_stay_empty(partition, now_ms) for partition in empty):
            return False
        self._on_enforced()
        return True

    def _may_stay_empty(self, partition: TopicPartition, now_ms: float) -> bool:
        if partition not in self._fetched_lags:
            self._fetched_lags[partition] = self._lag_of(partition)
        if self._fetched_lags[partition] != 0:
            self._idle_deadlines.pop(partition, None)
            return False
        return now_ms >= self._idle_deadlines.setdefault(partition, now_ms + self._max_task_idle_ms)

    def update_lags(self) -> None:
        """The consumer has polled: ask it for the lags again, if they matter."""
        self._fetched_lags.clear()

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
        self._fetched_lags.clear()
        self._idle_deadlines.clear()
        self.num_buffered = 0
        for queue in self._queues.values():
            queue.clear()

    def _enter(self, queue: RecordQueue) -> None:
        self._idle_deadlines.pop(queue.partition, None)
        heapq.heappush(self._queues_by_time, (queue.timestamp, next(self._entered), queue))
