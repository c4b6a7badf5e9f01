"""The same members as a classic group and as a group of KIP-848.

::

    classic group            group of KIP-848
    generation           ⇄   group epoch, epoch of the target, epoch of every member
    stored assignment    ⇄   target, and on the way there what the member has
    protocols, timeouts  ⇄   ClassicMember

Kafka 4.1: group-coordinator/.../group/modern/consumer/ConsumerGroup.java (fromClassicGroup),
classic/ClassicGroup.java (fromConsumerGroup) · book 5.2.2
"""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.member_metadata import MemberMetadata
from kafka_lite.coordinator.group.modern import consumer_group_records as group_records
from kafka_lite.coordinator.group.modern.consumer_group import CONSUMER_PROTOCOL_TYPE, ConsumerGroup
from kafka_lite.coordinator.group.modern.consumer_group_member import ClassicMember, ConsumerGroupMember
from kafka_lite.coordinator.group.modern.consumer_group_records import GroupRecord
from kafka_lite.coordinator.group.modern.migration.embedded_protocol import (
    read_assignment,
    read_subscription,
    write_assignment,
)
from kafka_lite.coordinator.group.modern.topic_partitions import TopicIdPartitions, grouped, pairs
from kafka_lite.coordinator.group.modern.topics_image import TopicsImage, metadata_hash
from kafka_lite.protocol.schema_error import SchemaError


def upgraded_records(group: GroupMetadata, topics: TopicsImage) -> list[GroupRecord]:
    """The records of a group of KIP-848 with the members of a classic one, in the epoch of its generation.

    Raises GROUP_ID_NOT_FOUND if a member's metadata cannot be read.
    """
    group_id, epoch = group.group_id, group.generation_id
    taken: set[tuple[UUID, int]] = set()
    try:
        members = [_upgraded(group, member, topics, taken) for member in group.members.values()]
    except SchemaError as failure:
        raise Errors.GROUP_ID_NOT_FOUND.exception(
            f"Cannot upgrade the classic group {group_id} to consumer group because the embedded consumer protocol is "
            f"malformed: {failure}."
        ) from failure
    names = frozenset().union(*(member.subscribed_topic_names for member in members))
    hashed = metadata_hash(topic for name in names if (topic := topics.topic(name)) is not None)
    return [
        *(group_records.member_subscription(group_id, member) for member in members),
        group_records.group_epoch(group_id, epoch, hashed),
        *(group_records.target_assignment(group_id, member.member_id, member.assigned) for member in members),
        group_records.target_epoch(group_id, epoch),
        *(group_records.current_assignment(group_id, member) for member in members),
    ]


def _upgraded(
    group: GroupMetadata, member: MemberMetadata, topics: TopicsImage, taken: set[tuple[UUID, int]]
) -> ConsumerGroupMember:
    names = member.protocols
    chosen = group.protocol_name if group.protocol_name in names else names[0]
    subscription = read_subscription(member.metadata(chosen), topics)
    # A rebalance that did not end has cleared the assignment. A cooperative member still has what it said when it
    # joined.
    has = read_assignment(member.assignment, chosen, topics) or subscription.owned
    return ConsumerGroupMember(
        member.member_id,
        instance_id=member.group_instance_id,
        rack_id=subscription.rack_id,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=subscription.topics,
        member_epoch=group.generation_id,
        previous_member_epoch=group.generation_id,
        assigned=_not_taken(has, taken),
        classic=ClassicMember(
            member.session_timeout_ms, tuple((name, bytes(metadata)) for name, metadata in member.supported_protocols)
        ),
    )


def _not_taken(partitions: TopicIdPartitions, taken: set[tuple[UUID, int]]) -> TopicIdPartitions:
    """A partition has one owner, whatever members say."""
    free = [pair for pair in pairs(partitions) if pair not in taken]
    taken.update(free)
    return grouped(free)


def remaining_classic_members(group: ConsumerGroup, leaving: Collection[str]) -> list[ConsumerGroupMember] | None:
    """The members without those that leave, if all of them are classic ones, and there are any; otherwise None."""
    remaining = [member for member_id, member in group.members.items() if member_id not in leaving]
    return remaining if remaining and all(member.classic is not None for member in remaining) else None


def downgraded_members(
    group: ConsumerGroup, members: Collection[ConsumerGroupMember], topics: TopicsImage
) -> list[MemberMetadata]:
    """The members as those of a classic group, each with its target as the assignment.

    Raises GROUP_ID_NOT_FOUND if a member's metadata cannot be read.
    """
    try:
        return [_downgraded(member, group.target.get(member.member_id, {}), topics) for member in members]
    except SchemaError as failure:
        raise Errors.GROUP_ID_NOT_FOUND.exception(
            f"Cannot downgrade the consumer group {group.group_id}: {failure}."
        ) from failure


def _downgraded(member: ConsumerGroupMember, target: TopicIdPartitions, topics: TopicsImage) -> MemberMetadata:
    assert member.classic is not None
    return MemberMetadata(
        member.member_id,
        member.instance_id,
        member.client_id,
        member.client_host,
        member.rebalance_timeout_ms,
        member.classic.session_timeout_ms,
        CONSUMER_PROTOCOL_TYPE,
        member.classic.protocols,
        write_assignment(target, member.classic.metadata, topics),
    )
