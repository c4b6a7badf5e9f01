"""A group of KIP-848: its epochs, members, target assignment, and who has which partition.

Kafka 4.1: group-coordinator/.../group/modern/consumer/ConsumerGroup.java · book 5.2.2, 5.4.2
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import cast
from uuid import UUID

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.modern import consumer_group_records as group_records
from kafka_lite.coordinator.group.modern.consumer_group_member import LEAVE_GROUP_MEMBER_EPOCH, ConsumerGroupMember
from kafka_lite.coordinator.group.modern.consumer_group_records import GroupRecord, Key
from kafka_lite.coordinator.group.modern.consumer_group_state import VALID_PREVIOUS_STATES, ConsumerGroupState
from kafka_lite.coordinator.group.modern.current_assignment_builder import NO_EPOCH
from kafka_lite.coordinator.group.modern.member_state import MemberState
from kafka_lite.coordinator.group.modern.modern_group import ModernGroup
from kafka_lite.coordinator.group.modern.topic_partitions import from_structs, pairs, without
from kafka_lite.protocol.messages import consumer_group_records as records
from kafka_lite.protocol.schema import Message

CONSUMER_PROTOCOL_TYPE = "consumer"


@dataclass(frozen=True, slots=True)
class ResolvedRegularExpression:
    """The topics that a regular expression matched at some time."""

    topics: frozenset[str]
    timestamp_ms: int


@dataclass
class ConsumerGroup(ModernGroup[ConsumerGroupMember, Key, ConsumerGroupState]):
    """The state of a group of consumers, each of whose partitions has one owner.

    ::

        group epoch        ▲ grows when members, subscriptions or topics change
        assignment epoch   │ follows it when the target has been computed
        member epochs      │ follow that, each when its member has given up what it must

    See ModernGroup for the records.
    """

    VALID_PREVIOUS_STATES = VALID_PREVIOUS_STATES

    state: ConsumerGroupState = ConsumerGroupState.EMPTY
    expressions: dict[str, ResolvedRegularExpression] = field(default_factory=dict)
    revoking: dict[str, int] = field(default_factory=dict)
    """The epochs in which members were asked to give up partitions, whose timers run. They are not in the log."""
    _static_members: dict[str, str] = field(default_factory=dict)
    _owners: dict[tuple[UUID, int], str] = field(default_factory=dict)

    # ── members ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def static_member(self, instance_id: str | None) -> ConsumerGroupMember | None:
        """The member with this instance id."""
        member_id = None if instance_id is None else self._static_members.get(instance_id)
        return None if member_id is None else self.members.get(member_id)

    def epoch_of(self, topic_id: UUID, partition: int) -> int:
        """The epoch of the member that has the partition, or is giving it up; NO_EPOCH if nobody has it."""
        owner = self._owners.get((topic_id, partition))
        return NO_EPOCH if owner is None else self.members[owner].member_epoch

    def topics_of(self, member: ConsumerGroupMember) -> frozenset[str]:
        """The topics that a member subscribes to, by name or by a regular expression that is resolved."""
        if member.subscribed_topic_regex is None:
            return member.subscribed_topic_names  # the same set each time, which knows its hash
        resolved = self.expressions.get(member.subscribed_topic_regex)
        return member.subscribed_topic_names | (resolved.topics if resolved is not None else frozenset())

    def preferred_assignor(self, default: str) -> str:
        """The assignor that most members ask for, the first by name of several; ``default`` if none asks for any."""
        votes = Counter(name for member in self.members.values() if (name := member.server_assignor) is not None)
        return min(votes, key=lambda name: (-votes[name], name), default=default)

    def tombstones(self) -> list[GroupRecord]:
        """The records that delete the group, and its members if it becomes a classic group."""
        return group_records.group_tombstones(self.group_id, self.expressions, self.members)

    # ── members that send JoinGroup ───────────────────────────────────────────────────────────────────────────────────

    def supports_protocols(self, protocol_type: str, protocols: Collection[str]) -> bool:
        """Whether a client with these protocols can be a classic member: all other classic members must support at
        least one of them, so that the group can be a classic one again."""
        classic = [member.classic.protocols for member in self.members.values() if member.classic is not None]
        known = Counter(name for supported in classic for name, _ in supported)
        return protocol_type == CONSUMER_PROTOCOL_TYPE and any(known[name] == len(classic) for name in protocols)

    def must_join_again(self, member: ConsumerGroupMember) -> bool:
        """Whether a classic member has to send JoinGroup: it has a step to take."""
        if member.member_epoch < self.group_epoch or member.state is MemberState.UNREVOKED_PARTITIONS:
            return True
        if member.state is not MemberState.UNRELEASED_PARTITIONS:
            return False
        missing = without(self.target.get(member.member_id, {}), member.assigned)
        return all(self.epoch_of(*pair) == NO_EPOCH for pair in pairs(missing))

    # ── commits ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def check_commit(self, member_id: str, instance_id: str | None, member_epoch: int) -> None:
        """Check the sender of an offset commit. Raises UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID or STALE_MEMBER_EPOCH.

        Without a member epoch it is an administrator, or a consumer with assigned partitions, for which the group has
        to be empty.
        """
        if member_epoch < 0 and not self.members:
            return
        self.check_member_epoch(member_id, member_epoch)
        current = self._static_members.get(instance_id) if instance_id is not None else None
        if current is not None and current != member_id:
            raise Errors.FENCED_INSTANCE_ID.exception()

    def check_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Check the sender of an offset fetch, which need not be a member. Raises like ``check_member_epoch``."""
        if member_id is not None or member_epoch >= 0:
            self.check_member_epoch(member_id or "", member_epoch)

    def check_member_epoch(self, member_id: str, member_epoch: int) -> None:
        """Raise UNKNOWN_MEMBER_ID, or STALE_MEMBER_EPOCH for any epoch but the member's: ILLEGAL_GENERATION if it is a
        classic member, which takes its epoch for the group's generation."""
        member = self.member(member_id)
        current = member.member_epoch
        if current != member_epoch:
            error = Errors.STALE_MEMBER_EPOCH if member.classic is None else Errors.ILLEGAL_GENERATION
            raise error.exception(
                f"The received member epoch {member_epoch} does not match the expected member epoch {current}."
            )

    # ── records ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _apply(self, key: Key, value: Message | None) -> None:
        if isinstance(key, records.ConsumerGroupMemberMetadataKey):
            self._replay_subscription(key.member_id, cast(records.ConsumerGroupMemberMetadataValue | None, value))
        elif isinstance(key, records.ConsumerGroupCurrentMemberAssignmentKey):
            self._replay_current(key.member_id, cast(records.ConsumerGroupCurrentMemberAssignmentValue | None, value))
        elif isinstance(key, records.ConsumerGroupTargetAssignmentMemberKey):
            target = cast(records.ConsumerGroupTargetAssignmentMemberValue | None, value)
            self.target.pop(key.member_id, None)
            if target is not None:
                self.target[key.member_id] = from_structs(target.topic_partitions)
        elif isinstance(key, records.ConsumerGroupMetadataKey):
            epoch = cast(records.ConsumerGroupMetadataValue | None, value)
            self.group_epoch = 0 if epoch is None else epoch.epoch
            self.metadata_hash = 0 if epoch is None else epoch.metadata_hash
        elif isinstance(key, records.ConsumerGroupTargetAssignmentMetadataKey):
            computed = cast(records.ConsumerGroupTargetAssignmentMetadataValue | None, value)
            self.assignment_epoch = 0 if computed is None else computed.assignment_epoch
        elif isinstance(key, records.ConsumerGroupRegularExpressionKey):
            self._replay_expression(
                key.regular_expression, cast(records.ConsumerGroupRegularExpressionValue | None, value)
            )

    def _replay_subscription(self, member_id: str, value: records.ConsumerGroupMemberMetadataValue | None) -> None:
        before = self.members.get(member_id)
        if value is None:
            self._forget_owner(self.members.pop(member_id, None))
            self.revoking.pop(member_id, None)
            if before is not None and self._static_members.get(before.instance_id or "") == member_id:
                del self._static_members[before.instance_id or ""]
            return
        self.members[member_id] = group_records.described(before or ConsumerGroupMember(member_id), value)
        if value.instance_id is not None:
            self._static_members[value.instance_id] = member_id

    def _replay_current(self, member_id: str, value: records.ConsumerGroupCurrentMemberAssignmentValue | None) -> None:
        before = self.members.get(member_id)
        if before is None and value is None:
            return  # the tombstone of a member that compaction has removed
        gone = records.ConsumerGroupCurrentMemberAssignmentValue(
            member_epoch=LEAVE_GROUP_MEMBER_EPOCH, previous_member_epoch=LEAVE_GROUP_MEMBER_EPOCH
        )
        self._forget_owner(before)
        member = group_records.assigned(before or ConsumerGroupMember(member_id), gone if value is None else value)
        self.members[member_id] = member
        for partitions in (member.assigned, member.pending_revocation):
            for pair in pairs(partitions):
                self._owners[pair] = member_id

    def _forget_owner(self, member: ConsumerGroupMember | None) -> None:
        if member is None:
            return
        for partitions in (member.assigned, member.pending_revocation):
            for pair in pairs(partitions):
                if self._owners.get(pair) == member.member_id:
                    del self._owners[pair]

    def _replay_expression(self, expression: str, value: records.ConsumerGroupRegularExpressionValue | None) -> None:
        self.expressions.pop(expression, None)
        if value is not None:
            self.expressions[expression] = ResolvedRegularExpression(frozenset(value.topics), value.timestamp)

    # ── state ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _update_state(self) -> None:
        if self.is_in(ConsumerGroupState.DEAD):
            return
        if not self.members:
            self.transition_to(ConsumerGroupState.EMPTY)
        elif self.group_epoch > self.assignment_epoch:
            self.transition_to(ConsumerGroupState.ASSIGNING)
        elif all(member.is_reconciled_to(self.assignment_epoch) for member in self.members.values()):
            self.transition_to(ConsumerGroupState.STABLE)
        else:
            self.transition_to(ConsumerGroupState.RECONCILING)
