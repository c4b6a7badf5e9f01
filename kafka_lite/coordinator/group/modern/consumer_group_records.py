"""The records of a group of KIP-848 as keys and values, and the members that they describe.

Kafka 4.1: group-coordinator/.../group/GroupCoordinatorRecordHelpers.java · book 3.5.2
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kafka_lite.coordinator.group.modern.consumer_group_member import ClassicMember, ConsumerGroupMember
from kafka_lite.coordinator.group.modern.member_state import MemberState
from kafka_lite.coordinator.group.modern.record_kinds import RecordKinds
from kafka_lite.coordinator.group.modern.topic_partitions import TopicIdPartitions, from_structs, in_order
from kafka_lite.protocol.messages import consumer_group_records as records
from kafka_lite.protocol.schema import Message

Key = (
    records.ConsumerGroupMetadataKey
    | records.ConsumerGroupPartitionMetadataKey
    | records.ConsumerGroupMemberMetadataKey
    | records.ConsumerGroupTargetAssignmentMetadataKey
    | records.ConsumerGroupTargetAssignmentMemberKey
    | records.ConsumerGroupCurrentMemberAssignmentKey
    | records.ConsumerGroupRegularExpressionKey
)
GroupRecord = tuple[Key, Message | None]
"""A key and its new value; None deletes it."""

NO_EXPRESSION = ""
"""The expression of a member that has none, as Kafka writes it."""

KINDS: RecordKinds[Key] = RecordKinds(
    {
        records.ConsumerGroupMetadataKey: records.ConsumerGroupMetadataValue,
        records.ConsumerGroupPartitionMetadataKey: records.ConsumerGroupPartitionMetadataValue,
        records.ConsumerGroupMemberMetadataKey: records.ConsumerGroupMemberMetadataValue,
        records.ConsumerGroupTargetAssignmentMetadataKey: records.ConsumerGroupTargetAssignmentMetadataValue,
        records.ConsumerGroupTargetAssignmentMemberKey: records.ConsumerGroupTargetAssignmentMemberValue,
        records.ConsumerGroupCurrentMemberAssignmentKey: records.ConsumerGroupCurrentMemberAssignmentValue,
        records.ConsumerGroupRegularExpressionKey: records.ConsumerGroupRegularExpressionValue,
    }
)
"""The value of each kind of key."""


# ── the records of a group ────────────────────────────────────────────────────────────────────────────────────────────


def group_epoch(group_id: str, epoch: int, metadata_hash: int) -> GroupRecord:
    """The group has a new epoch."""
    value = records.ConsumerGroupMetadataValue(epoch=epoch, metadata_hash=metadata_hash)
    return records.ConsumerGroupMetadataKey(group_id=group_id), value


def member_subscription(group_id: str, member: ConsumerGroupMember) -> GroupRecord:
    """A member is new, or describes itself differently."""
    value = records.ConsumerGroupMemberMetadataValue(
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.subscribed_topic_names),
        subscribed_topic_regex=member.subscribed_topic_regex or NO_EXPRESSION,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        server_assignor=member.server_assignor,
        classic_member_metadata=None if member.classic is None else _classic_struct(member.classic),
    )
    return records.ConsumerGroupMemberMetadataKey(group_id=group_id, member_id=member.member_id), value


def target_epoch(group_id: str, epoch: int) -> GroupRecord:
    """The target was computed for this group epoch."""
    value = records.ConsumerGroupTargetAssignmentMetadataValue(assignment_epoch=epoch)
    return records.ConsumerGroupTargetAssignmentMetadataKey(group_id=group_id), value


def target_assignment(group_id: str, member_id: str, target: TopicIdPartitions) -> GroupRecord:
    """A member has another target."""
    value = records.ConsumerGroupTargetAssignmentMemberValue(topic_partitions=_structs(target))
    return records.ConsumerGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id), value


def current_assignment(group_id: str, member: ConsumerGroupMember) -> GroupRecord:
    """A member has taken a step."""
    value = records.ConsumerGroupCurrentMemberAssignmentValue(
        member_epoch=member.member_epoch,
        previous_member_epoch=member.previous_member_epoch,
        state=int(member.state),
        assigned_partitions=_structs(member.assigned),
        partitions_pending_revocation=_structs(member.pending_revocation),
    )
    return records.ConsumerGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member.member_id), value


def regular_expression(group_id: str, expression: str, topics: Iterable[str], timestamp_ms: int) -> GroupRecord:
    """A regular expression matches these topics."""
    value = records.ConsumerGroupRegularExpressionValue(topics=sorted(topics), timestamp=timestamp_ms)
    return records.ConsumerGroupRegularExpressionKey(group_id=group_id, regular_expression=expression), value


def regular_expression_tombstone(group_id: str, expression: str) -> GroupRecord:
    """No member has the regular expression any more."""
    return records.ConsumerGroupRegularExpressionKey(group_id=group_id, regular_expression=expression), None


def member_tombstones(group_id: str, member_id: str) -> list[GroupRecord]:
    """A member is gone. Its subscription is deleted last: the other records belong to a member that is known."""
    return [
        (records.ConsumerGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member_id), None),
        (records.ConsumerGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id), None),
        (records.ConsumerGroupMemberMetadataKey(group_id=group_id, member_id=member_id), None),
    ]


def group_tombstones(group_id: str, expressions: Iterable[str], member_ids: Iterable[str] = ()) -> list[GroupRecord]:
    """A group is gone, with its members if there are any."""
    return [
        *(record for member_id in sorted(member_ids) for record in member_tombstones(group_id, member_id)),
        (records.ConsumerGroupTargetAssignmentMetadataKey(group_id=group_id), None),
        *(regular_expression_tombstone(group_id, expression) for expression in sorted(expressions)),
        (records.ConsumerGroupMetadataKey(group_id=group_id), None),
    ]


def _classic_struct(classic: ClassicMember) -> records.ClassicMemberMetadata:
    return records.ClassicMemberMetadata(
        session_timeout_ms=classic.session_timeout_ms,
        supported_protocols=[
            records.ClassicProtocol(name=name, metadata=metadata) for name, metadata in classic.protocols
        ],
    )


def _structs(partitions: TopicIdPartitions) -> list[records.TopicPartition]:
    return [records.TopicPartition(topic_id=topic_id, partitions=numbers) for topic_id, numbers in in_order(partitions)]


# ── members from records ──────────────────────────────────────────────────────────────────────────────────────────────


def described(member: ConsumerGroupMember, value: records.ConsumerGroupMemberMetadataValue) -> ConsumerGroupMember:
    """The member with the subscription of the record."""
    return replace(
        member,
        instance_id=value.instance_id,
        rack_id=value.rack_id,
        rebalance_timeout_ms=value.rebalance_timeout_ms,
        client_id=value.client_id,
        client_host=value.client_host,
        subscribed_topic_names=frozenset(value.subscribed_topic_names),
        subscribed_topic_regex=value.subscribed_topic_regex or None,
        server_assignor=value.server_assignor,
        classic=_classic_member(value.classic_member_metadata),
    )


def _classic_member(struct: records.ClassicMemberMetadata | None) -> ClassicMember | None:
    if struct is None or not struct.supported_protocols:
        return None
    protocols = tuple((protocol.name, bytes(protocol.metadata)) for protocol in struct.supported_protocols)
    return ClassicMember(struct.session_timeout_ms, protocols)


def assigned(
    member: ConsumerGroupMember, value: records.ConsumerGroupCurrentMemberAssignmentValue
) -> ConsumerGroupMember:
    """The member with the epochs and partitions of the record."""
    return replace(
        member,
        member_epoch=value.member_epoch,
        previous_member_epoch=value.previous_member_epoch,
        state=MemberState.of(value.state),
        assigned=from_structs(value.assigned_partitions),
        pending_revocation=from_structs(value.partitions_pending_revocation),
    )
