"""Partitions in round-robin order, each with a state.

Kafka 0.10.2: clients/.../common/internals/PartitionStates.java · book 3.3.2
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

from kafka_lite.common.topic_partition import TopicPartition

S = TypeVar("S")


class PartitionStates(Generic[S]):
    """An ordered map whose entries can be moved to the end.

    A broker fills a fetch response in the order of the request until it is full, so the partitions that have just
    returned records must come last in the next request. ``set`` keeps the partitions of a topic together, because a
    request names each topic once. Not thread-safe.
    """

    def __init__(self) -> None:
        self._states: OrderedDict[TopicPartition, S] = OrderedDict()

    def set(self, states: Mapping[TopicPartition, S]) -> None:
        """Replace all entries, grouped by topic, in the order in which the topics first appear."""
        by_topic: dict[str, list[TopicPartition]] = {}
        for partition in states:
            by_topic.setdefault(partition.topic, []).append(partition)
        self._states = OrderedDict((p, states[p]) for partitions in by_topic.values() for p in partitions)

    def move_to_end(self, partition: TopicPartition) -> None:
        """Move the partition to the end, if it is present."""
        if partition in self._states:
            self._states.move_to_end(partition)

    def update_and_move_to_end(self, partition: TopicPartition, state: S) -> None:
        """Set the state and move the partition to the end."""
        self._states[partition] = state
        self._states.move_to_end(partition)

    def update(self, partition: TopicPartition, state: S) -> None:
        """Set the state without moving the partition. A new partition is added at the end."""
        self._states[partition] = state

    def remove(self, partition: TopicPartition) -> None:
        """Remove the partition, if it is present."""
        self._states.pop(partition, None)

    def state_value(self, partition: TopicPartition) -> S | None:
        """The state; None if the partition is not present."""
        return self._states.get(partition)

    def items(self) -> list[tuple[TopicPartition, S]]:
        """All entries in order."""
        return list(self._states.items())

    def __contains__(self, partition: object) -> bool:
        return partition in self._states

    def __iter__(self) -> Iterator[TopicPartition]:
        return iter(list(self._states))

    def __len__(self) -> int:
        return len(self._states)
