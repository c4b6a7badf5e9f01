"""A share group: its epochs, members, target assignment, and the partitions that have state.

Kafka 4.1: group-coordinator/.../group/modern/share/ShareGroup.java · book 5.2.2, 5.4.2
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast
from uuid import UUID

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.modern.consumer_group_member import LEAVE_GROUP_MEMBER_EPOCH
from kafka_lite.coordinator.group.modern.group_change import ModernGroupChange
from kafka_lite.coordinator.group.modern.modern_group import ModernGroup
from kafka_lite.coordinator.group.modern.share import share_group_records as group_records
from kafka_lite.coordinator.group.modern.share.share_group_member import ShareGroupMember
from kafka_lite.coordinator.group.modern.share.share_group_records import Key, ShareGroupRecord
from kafka_lite.coordinator.group.modern.share.share_group_state import VALID_PREVIOUS_STATES, ShareGroupState
from kafka_lite.coordinator.group.modern.share.state_partitions import StatePartitions
from kafka_lite.coordinator.group.modern.topic_partitions import TopicIdPartitions, from_structs, union
from kafka_lite.protocol.messages import share_group_records as records
from kafka_lite.protocol.schema import Message

SHARE_PROTOCOL_TYPE = "share"


@dataclass
class ShareGroup(ModernGroup[ShareGroupMember, Key, ShareGroupState]):
    """The state of a group, any of whose partitions may have several members.

    See ModernGroup for epochs and records.
    """

    VALID_PREVIOUS_STATES = VALID_PREVIOUS_STATES

    state: ShareGroupState = ShareGroupState.EMPTY
    partitions: StatePartitions = field(default_factory=StatePartitions)
    asked_at_ms: dict[UUID, int] = field(default_factory=dict)
    """When the share coordinator was asked last for the state of a topic's partitions. It is not in the log."""

    def topics_of(self, member: ShareGroupMember) -> frozenset[str]:
        """The topics that a member subscribes to."""
        return member.subscribed_topic_names

    def assigned_partitions(self) -> TopicIdPartitions:
        """The partitions that the target gives to anybody."""
        found: TopicIdPartitions = {}
        for partitions in self.target.values():
            found = union(found, partitions)
        return found

    def check_empty(self) -> None:
        """Raise NON_EMPTY_GROUP if the group has members: its state must not be changed under them."""
        if not self.is_in(ShareGroupState.EMPTY):
            raise Errors.NON_EMPTY_GROUP.exception()

    def tombstones(self) -> list[ShareGroupRecord]:
        """The records that delete the group."""
        return group_records.group_tombstones(self.group_id, self.members)

    # ── records ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _apply(self, key: Key, value: Message | None) -> None:
        if isinstance(key, records.ShareGroupMemberMetadataKey):
            self._replay_subscription(key.member_id, cast(records.ShareGroupMemberMetadataValue | None, value))
        elif isinstance(key, records.ShareGroupCurrentMemberAssignmentKey):
            self._replay_current(key.member_id, cast(records.ShareGroupCurrentMemberAssignmentValue | None, value))
        elif isinstance(key, records.ShareGroupTargetAssignmentMemberKey):
            target = cast(records.ShareGroupTargetAssignmentMemberValue | None, value)
            self.target.pop(key.member_id, None)
            if target is not None:
                self.target[key.member_id] = from_structs(target.topic_partitions)
        elif isinstance(key, records.ShareGroupMetadataKey):
            epoch = cast(records.ShareGroupMetadataValue | None, value)
            self.group_epoch = 0 if epoch is None else epoch.epoch
            self.metadata_hash = 0 if epoch is None else epoch.metadata_hash
        elif isinstance(key, records.ShareGroupTargetAssignmentMetadataKey):
            computed = cast(records.ShareGroupTargetAssignmentMetadataValue | None, value)
            self.assignment_epoch = 0 if computed is None else computed.assignment_epoch
        elif isinstance(key, records.ShareGroupStatePartitionMetadataKey):
            known = cast(records.ShareGroupStatePartitionMetadataValue | None, value)
            self.partitions = StatePartitions() if known is None else StatePartitions.from_value(known)

    def _replay_subscription(self, member_id: str, value: records.ShareGroupMemberMetadataValue | None) -> None:
        if value is None:
            self.members.pop(member_id, None)
        else:
            before = self.members.get(member_id) or ShareGroupMember(member_id)
            self.members[member_id] = group_records.described(before, value)

    def _replay_current(self, member_id: str, value: records.ShareGroupCurrentMemberAssignmentValue | None) -> None:
        before = self.members.get(member_id)
        if before is None and value is None:
            return  # the tombstone of a member that compaction has removed
        gone = records.ShareGroupCurrentMemberAssignmentValue(
            member_epoch=LEAVE_GROUP_MEMBER_EPOCH, previous_member_epoch=LEAVE_GROUP_MEMBER_EPOCH
        )
        member = before or ShareGroupMember(member_id)
        self.members[member_id] = group_records.assigned(member, gone if value is None else value)

    def _update_state(self) -> None:
        if not self.is_in(ShareGroupState.DEAD):
            self.transition_to(ShareGroupState.STABLE if self.members else ShareGroupState.EMPTY)


class ShareGroupChange(ModernGroupChange[ShareGroup]):
    """A change of a share group."""
