"""The partitions of a share group that have state in the share coordinator, or are about to get or to lose it.

Kafka 4.1: group-coordinator/.../group/modern/share/ShareGroup.java (ShareGroupStatePartitionMetadataInfo),
group/GroupMetadataManager.java (combineInitMaps, subscribedTopicsChangeMap) · book 5.2.2
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from uuid import UUID

from kafka_lite.coordinator.group.modern.topic_partitions import (
    NO_PARTITIONS,
    TopicIdPartitions,
    from_structs,
    in_order,
    union,
    without,
)
from kafka_lite.coordinator.group.modern.topics_image import TopicMetadata
from kafka_lite.protocol.messages.share_group_records import (
    ShareGroupStatePartitionMetadataValue,
    TopicInfo,
    TopicPartitionsInfo,
)

UNKNOWN_TOPIC_NAME = "<UNKNOWN>"
"""The name in records of a topic that is gone."""


@dataclass(frozen=True, slots=True)
class StatePartitions:
    """A value: every change makes another one.

    ::

        subscribed ─▶ initializing ─ the share coordinator has made its state ─▶ initialized ─▶ assigned to members
                          │
                          ╰─ it has refused ─▶ asked for again with a later heartbeat

    Only initialized partitions are assigned. Both kinds are written down before the share coordinator is asked, so that
    the deletion of the group finds all state there may be.
    """

    initializing: TopicIdPartitions = field(default_factory=dict)
    initialized: TopicIdPartitions = field(default_factory=dict)
    deleting: frozenset[UUID] = frozenset()
    """Topics whose state the share coordinator was asked to delete."""
    names: Mapping[UUID, str] = field(default_factory=dict)

    def missing(self, topics: Iterable[TopicMetadata], asked: TopicIdPartitions) -> dict[UUID, frozenset[int]]:
        """The partitions of these topics that are neither initialized nor have been ``asked`` for lately."""
        wanted = {topic.topic_id: frozenset(range(topic.num_partitions)) for topic in topics}
        return without(without(wanted, self.initialized), asked)

    def begin(self, partitions: TopicIdPartitions, names: Mapping[UUID, str]) -> StatePartitions:
        """The share coordinator is to be asked for the state of these partitions."""
        return replace(
            self,
            initializing=union(self.initializing, partitions),
            deleting=self.deleting - self.initializing.keys() - partitions.keys(),
            names={**self.names, **names},
        )

    def succeed(self, partitions: TopicIdPartitions) -> StatePartitions:
        """The share coordinator has their state."""
        return replace(
            self,
            initializing=without(self.initializing, partitions),
            initialized=union(self.initialized, partitions),
        )

    def fail(self, partitions: TopicIdPartitions) -> StatePartitions:
        """The share coordinator has refused to make their state."""
        return replace(self, initializing=without(self.initializing, partitions))

    def delete(self, topic_ids: Collection[UUID] | None = None) -> StatePartitions:
        """The share coordinator is to be asked to delete the state of these topics; None: of all."""
        known = self.initializing.keys() | self.initialized.keys()
        gone = known if topic_ids is None else known & set(topic_ids)
        return replace(
            self,
            initializing={topic: numbers for topic, numbers in self.initializing.items() if topic not in gone},
            initialized={topic: numbers for topic, numbers in self.initialized.items() if topic not in gone},
            deleting=self.deleting | gone,
        )

    def deleted(self, topic_ids: Collection[UUID]) -> StatePartitions:
        """The share coordinator has deleted the state of these topics."""
        return replace(self, deleting=self.deleting - set(topic_ids))

    def with_state(self, deleting: Iterable[TopicMetadata] = ()) -> dict[UUID, frozenset[int]]:
        """All partitions that may have state: those of the topics of ``deleting``, whose deletion may have failed,
        among them."""
        again = {topic.topic_id: frozenset(range(topic.num_partitions)) for topic in deleting}
        return union(union(self.initialized, self.initializing), again)

    # ── the record ────────────────────────────────────────────────────────────────────────────────────────────────────

    def to_value(self) -> ShareGroupStatePartitionMetadataValue:
        """The value of the group's record."""
        return ShareGroupStatePartitionMetadataValue(
            initializing_topics=self._structs(self.initializing),
            initialized_topics=self._structs(self.initialized),
            deleting_topics=[
                TopicInfo(topic_id=topic_id, topic_name=self._name(topic_id)) for topic_id in sorted(self.deleting)
            ],
        )

    @classmethod
    def from_value(cls, value: ShareGroupStatePartitionMetadataValue) -> StatePartitions:
        """From the value of a record."""
        structs: list[TopicPartitionsInfo | TopicInfo] = [*value.initializing_topics, *value.initialized_topics]
        structs += value.deleting_topics
        return cls(
            initializing=from_structs(value.initializing_topics),
            initialized=from_structs(value.initialized_topics),
            deleting=frozenset(topic.topic_id for topic in value.deleting_topics),
            names={struct.topic_id: struct.topic_name for struct in structs},
        )

    def _structs(self, partitions: TopicIdPartitions) -> list[TopicPartitionsInfo]:
        return [
            TopicPartitionsInfo(topic_id=topic_id, topic_name=self._name(topic_id), partitions=numbers)
            for topic_id, numbers in in_order(partitions)
        ]

    def _name(self, topic_id: UUID) -> str:
        return self.names.get(topic_id, UNKNOWN_TOPIC_NAME)


def of_topics(partitions: TopicIdPartitions, topic_ids: Collection[UUID]) -> dict[UUID, frozenset[int]]:
    """The partitions of these topics."""
    return {topic_id: numbers for topic_id in topic_ids if (numbers := partitions.get(topic_id, NO_PARTITIONS))}
