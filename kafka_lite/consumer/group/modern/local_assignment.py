"""An assignment as the coordinator sends it, and how it differs from what the member has.

Kafka 4.1: clients/.../consumer/internals/AbstractMembershipManager.java (LocalAssignment, maybeReconcile) · book 5.1.3
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from uuid import UUID

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_68_consumer_group_heartbeat import Assignment, TopicPartitions

PartitionsByTopic = Mapping[UUID, frozenset[int]]

NO_EPOCH = -1


class LocalAssignment(NamedTuple):
    """Partitions by topic id. Two assignments of the same partitions are different events: the local epoch tells them
    apart, so that the member acknowledges both."""

    local_epoch: int
    partitions: PartitionsByTopic

    def then(self, partitions: PartitionsByTopic) -> LocalAssignment:
        """The next assignment; this one if it has the same partitions."""
        if self.local_epoch != NO_EPOCH and partitions == self.partitions:
            return self
        return LocalAssignment(self.local_epoch + 1, partitions)

    def structs(self) -> list[TopicPartitions]:
        """The partitions as a request lists them."""
        return [
            TopicPartitions(topic_id=topic_id, partitions=sorted(numbers))
            for topic_id, numbers in sorted(self.partitions.items())
        ]


NO_ASSIGNMENT = LocalAssignment(NO_EPOCH, {})
"""The assignment of a member that has heard of none since it joined."""


def partitions_of(assignment: Assignment) -> PartitionsByTopic:
    """The partitions of a response."""
    return {each.topic_id: frozenset(each.partitions) for each in assignment.topic_partitions if each.partitions}


class Reconciliation(NamedTuple):
    """The way from the member's partitions to its assignment, as far as the names of the topics are known."""

    resolved: LocalAssignment
    """The part of the assignment whose topics have names."""
    unresolved: frozenset[UUID]
    """Topics without a name: the next metadata has them, or they are deleted."""
    assigned: Mapping[TopicPartition, UUID]
    """The partitions of that part, with the ids of their topics."""
    revoked: frozenset[TopicPartition]
    added: frozenset[TopicPartition]

    @property
    def changes_nothing(self) -> bool:
        """Whether the member has these partitions already."""
        return not self.revoked and not self.added


def reconciliation(
    target: LocalAssignment, owned: Mapping[TopicPartition, UUID], names: Mapping[UUID, str]
) -> Reconciliation:
    """Find the partitions to be given up, and the new ones. Pure.

    ``owned`` are the partitions that the member reads, with the ids of their topics. A topic that was deleted and made
    again has another id, so its partitions are given up, and are new. (Kafka's consumer goes by the name, and keeps its
    positions.)
    """
    resolved = {topic_id: numbers for topic_id, numbers in target.partitions.items() if topic_id in names}
    ids = {TopicPartition(names[topic_id], n): topic_id for topic_id, numbers in resolved.items() for n in numbers}
    kept = {each for each, topic_id in owned.items() if ids.get(each) == topic_id}
    return Reconciliation(
        LocalAssignment(target.local_epoch, resolved),
        frozenset(target.partitions.keys() - resolved.keys()),
        ids,
        frozenset(owned.keys() - kept),
        frozenset(ids.keys() - kept),
    )
