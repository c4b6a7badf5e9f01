"""A worker with the partitions that it has, and the queue from which the least loaded worker is taken.

    queue               poll     give it t/0, add it again
    w1: -    w2: -      w1       w2: -      w1: t/0
    w2: -    w1: t/0    w2       w1: t/0    w2: t/1

The worker with the fewest partitions comes first, and of several ones the first by name. A worker is changed only
while it is out of the queue.

uReplicator kafka-0.10.2.1: uReplicator-Controller/.../mirrormaker/controller/core/InstanceTopicPartitionHolder.java
(InstanceTopicPartitionHolder) · book 8.2.2
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from kafka_lite.common.topic_partition import TopicPartition


class InstanceTopicPartitionHolder:
    """A worker and its partitions."""

    def __init__(self, instance_name: str, topic_partitions: Iterable[TopicPartition] = ()) -> None:
        self.instance_name = instance_name
        self.topic_partitions = set(topic_partitions)

    @property
    def load(self) -> tuple[int, str]:
        """The order of workers: the number of partitions, then the name."""
        return len(self.topic_partitions), self.instance_name

    def __lt__(self, other: InstanceTopicPartitionHolder) -> bool:
        return self.load < other.load


class HolderQueue:
    """Workers, the least loaded one first: a heap."""

    def __init__(self, holders: Iterable[InstanceTopicPartitionHolder] = ()) -> None:
        self._heap = list(holders)
        heapq.heapify(self._heap)

    def poll(self) -> InstanceTopicPartitionHolder | None:
        """Take out the least loaded worker; None if no worker lives."""
        return heapq.heappop(self._heap) if self._heap else None

    def add(self, holder: InstanceTopicPartitionHolder) -> None:
        """Put a worker in."""
        heapq.heappush(self._heap, holder)

    def give_to_least_loaded(self, partition: TopicPartition) -> str | None:
        """Give the least loaded worker one more partition. Returns its name; None if no worker lives."""
        holder = self.poll()
        if holder is None:
            return None
        holder.topic_partitions.add(partition)
        self.add(holder)
        return holder.instance_name
