"""Partitions in turn, each with a state: who has just been served goes to the end.

Kafka 0.10.2: clients/.../common/internals/PartitionStates.java · book 3.3.2
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

from kafka_lite.common.topic_partition import TopicPartition

S = TypeVar("S")


class PartitionStates(Generic[S]):
    """A map that keeps its order, and whose entries can be moved to the end.

    A broker fills a fetch answer in the order of the request until the answer is full, so the partitions that were
    just answered must come last the next time. Those of one topic are kept together when all are set at once, since a
    request names each topic once. Not thread-safe.
    """

    def __init__(self) -> None:
        self._states: OrderedDict[TopicPartition, S] = OrderedDict()

    def set(self, states: Mapping[TopicPartition, S]) -> None:
        """Forget everything and take these, topic by topic, in the order in which the topics come first."""
        by_topic: dict[str, list[TopicPartition]] = {}
        for partition in states:
            by_topic.setdefault(partition.topic, []).append(partition)
        self._states = OrderedDict((p, states[p]) for partitions in by_topic.values() for p in partitions)

    def move_to_end(self, partition: TopicPartition) -> None:
        """This partition's turn comes last, if it is there."""
        if partition in self._states:
            self._states.move_to_end(partition)

    def update_and_move_to_end(self, partition: TopicPartition, state: S) -> None:
        """A new state, and the last place."""
        self._states[partition] = state
        self._states.move_to_end(partition)

    def update(self, partition: TopicPartition, state: S) -> None:
        """A new state in the same place; a new partition comes last."""
        self._states[partition] = state

    def remove(self, partition: TopicPartition) -> None:
        """Forget a partition, if it is there."""
        self._states.pop(partition, None)

    def state_value(self, partition: TopicPartition) -> S | None:
        """The state; None when the partition is not there."""
        return self._states.get(partition)

    def items(self) -> list[tuple[TopicPartition, S]]:
        """All in turn."""
        return list(self._states.items())

    def __contains__(self, partition: object) -> bool:
        return partition in self._states

    def __iter__(self) -> Iterator[TopicPartition]:
        return iter(list(self._states))

    def __len__(self) -> int:
        return len(self._states)
