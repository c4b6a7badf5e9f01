"""The records of a share group as keys and values, and the members that they describe.

Kafka 4.1: group-coordinator/.../group/GroupCoordinatorRecordHelpers.java (newShareGroup...) · book 3.5.2
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kafka_lite.coordinator.group.modern.member_state import MemberState
from kafka_lite.coordinator.group.modern.record_kinds import RecordKinds
from kafka_lite.coordinator.group.modern.share.share_group_member import ShareGroupMember
from kafka_lite.coordinator.group.modern.share.state_partitions import StatePartitions
from kafka_lite.coordinator.group.modern.topic_partitions import TopicIdPartitions, from_structs, in_order
from kafka_lite.protocol.messages import share_group_records as records
from kafka_lite.protocol.schema import Message

Key = (
    records.ShareGroupMemberMetadataKey
    | records.ShareGroupMetadataKey
    | records.ShareGroupTargetAssignmentMetadataKey
    | records.ShareGroupTargetAssignmentMemberKey
    | records.ShareGroupCurrentMemberAssignmentKey
    | records.ShareGroupStatePartitionMetadataKey
)
ShareGroupRecord = tuple[Key, Message | None]
"""A key and its new value; None deletes it."""

KINDS: RecordKinds[Key] = RecordKinds(
    {
        records.ShareGroupMemberMetadataKey: records.ShareGroupMemberMetadataValue,
        records.ShareGroupMetadataKey: records.ShareGroupMetadataValue,
        records.ShareGroupTargetAssignmentMetadataKey: records.ShareGroupTargetAssignmentMetadataValue,
        records.ShareGroupTargetAssignmentMemberKey: records.ShareGroupTargetAssignmentMemberValue,
        records.ShareGroupCurrentMemberAssignmentKey: records.ShareGroupCurrentMemberAssignmentValue,
        records.ShareGroupStatePartitionMetadataKey: records.ShareGroupStatePartitionMetadataValue,
    }
)
"""The value of each kind of key."""


def group_epoch(group_id: str, epoch: int, metadata_hash: int) -> ShareGroupRecord:
    """The group has a new epoch."""
    value = records.ShareGroupMetadataValue(epoch=epoch, metadata_hash=metadata_hash)
    return records.ShareGroupMetadataKey(group_id=group_id), value


def member_subscription(group_id: str, member: ShareGroupMember) -> ShareGroupRecord:
    """A member is new, or describes itself differently."""
    value = records.ShareGroupMemberMetadataValue(
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.subscribed_topic_names),
    )
    return records.ShareGroupMemberMetadataKey(group_id=group_id, member_id=member.member_id), value


def target_epoch(group_id: str, epoch: int) -> ShareGroupRecord:
    """The target was computed for this group epoch."""
    value = records.ShareGroupTargetAssignmentMetadataValue(assignment_epoch=epoch)
    return records.ShareGroupTargetAssignmentMetadataKey(group_id=group_id), value


def target_assignment(group_id: str, member_id: str, target: TopicIdPartitions) -> ShareGroupRecord:
    """A member has another target."""
    value = records.ShareGroupTargetAssignmentMemberValue(topic_partitions=_structs(target))
    return records.ShareGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id), value


def current_assignment(group_id: str, member: ShareGroupMember) -> ShareGroupRecord:
    """A member has its target."""
    value = records.ShareGroupCurrentMemberAssignmentValue(
        member_epoch=member.member_epoch,
        previous_member_epoch=member.previous_member_epoch,
        state=int(member.state),
        assigned_partitions=_structs(member.assigned),
    )
    return records.ShareGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member.member_id), value


def state_partitions(group_id: str, partitions: StatePartitions) -> ShareGroupRecord:
    """Other partitions have state."""
    return records.ShareGroupStatePartitionMetadataKey(group_id=group_id), partitions.to_value()


def member_tombstones(group_id: str, member_id: str) -> list[ShareGroupRecord]:
    """A member is gone. Its subscription is deleted last: the other records belong to a member that is known."""
    return [
        (records.ShareGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member_id), None),
        (records.ShareGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id), None),
        (records.ShareGroupMemberMetadataKey(group_id=group_id, member_id=member_id), None),
    ]


def group_tombstones(group_id: str, member_ids: Iterable[str] = ()) -> list[ShareGroupRecord]:
    """A group is gone, with its members if there are any."""
    return [
        *(record for member_id in sorted(member_ids) for record in member_tombstones(group_id, member_id)),
        (records.ShareGroupTargetAssignmentMetadataKey(group_id=group_id), None),
        (records.ShareGroupStatePartitionMetadataKey(group_id=group_id), None),
        (records.ShareGroupMetadataKey(group_id=group_id), None),
    ]


def _structs(partitions: TopicIdPartitions) -> list[records.TopicPartition]:
    return [records.TopicPartition(topic_id=topic_id, partitions=numbers) for topic_id, numbers in in_order(partitions)]


# ── members from records ──────────────────────────────────────────────────────────────────────────────────────────────


def described(member: ShareGroupMember, value: records.ShareGroupMemberMetadataValue) -> ShareGroupMember:
    """The member with the subscription of the record."""
    return replace(
        member,
        rack_id=value.rack_id,
        client_id=value.client_id,
        client_host=value.client_host,
        subscribed_topic_names=frozenset(value.subscribed_topic_names),
    )


def assigned(member: ShareGroupMember, value: records.ShareGroupCurrentMemberAssignmentValue) -> ShareGroupMember:
    """The member with the epochs and partitions of the record."""
    return replace(
        member,
        member_epoch=value.member_epoch,
        previous_member_epoch=value.previous_member_epoch,
        state=MemberState.of(value.state),
        assigned=from_structs(value.assigned_partitions),
    )
