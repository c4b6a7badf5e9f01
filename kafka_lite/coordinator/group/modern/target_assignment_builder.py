"""Has an assignor compute the target of every member, and finds what that changes.

Kafka 4.1: group-coordinator/.../group/modern/TargetAssignmentBuilder.java · book 5.1.3
"""

from __future__ import annotations

from uuid import UUID

from kafka_lite.coordinator.group.modern import consumer_group_records as group_records
from kafka_lite.coordinator.group.modern.assignor.group_spec import (
    Assignment,
    ConsumerGroupPartitionAssignor,
    GroupSpec,
    MemberSpec,
)
from kafka_lite.coordinator.group.modern.consumer_group import ConsumerGroup
from kafka_lite.coordinator.group.modern.consumer_group_records import GroupRecord
from kafka_lite.coordinator.group.modern.modern_group import AnyModernGroup
from kafka_lite.coordinator.group.modern.topic_partitions import TopicIdPartitions
from kafka_lite.coordinator.group.modern.topics_image import TopicsImage


def target_changes(
    group: ConsumerGroup, assignor: ConsumerGroupPartitionAssignor, topics: TopicsImage
) -> list[GroupRecord]:
    """The records of a new target for the group epoch: one for each member that is to have other partitions than by
    the last target, and one for the epoch."""
    target = assignor.assign(group_spec(group, topics))
    changes = [group_records.target_assignment(group.group_id, *change) for change in changed_targets(group, target)]
    return [*changes, group_records.target_epoch(group.group_id, group.group_epoch)]


def changed_targets(group: AnyModernGroup, target: Assignment) -> list[tuple[str, TopicIdPartitions]]:
    """The members that are to have other partitions than by the last target."""
    return [(each, partitions) for each, partitions in sorted(target.items()) if group.target.get(each) != partitions]


def group_spec(group: AnyModernGroup, topics: TopicsImage, assignable: TopicIdPartitions | None = None) -> GroupSpec:
    """The members with their topics, of those that exist, and their targets so far."""
    ids: dict[str, UUID] = {}
    num_partitions: dict[UUID, int] = {}
    for name in group.subscribed_topics():
        topic = topics.topic(name)
        if topic is not None:
            ids[name] = topic.topic_id
            num_partitions[topic.topic_id] = topic.num_partitions
    ids_by_topics: dict[frozenset[str], frozenset[UUID]] = {}  # most members subscribe alike
    specs = {}
    for member_id, member in group.members.items():
        names = group.topics_of(member)
        topic_ids = ids_by_topics.get(names)
        if topic_ids is None:
            topic_ids = ids_by_topics[names] = frozenset(ids[name] for name in names if name in ids)
        specs[member_id] = MemberSpec(
            topic_ids, member.instance_id, member.rack_id, assigned=group.target.get(member_id, {})
        )
    return GroupSpec(specs, num_partitions, assignable)
