"""Turns a group with members into one of the other kind, in one batch of records.

Kafka 4.1: group-coordinator/.../group/GroupMetadataManager.java (validateOnlineUpgrade, convertToConsumerGroup,
validateOnlineDowngradeWithFencedMember, convertToClassicGroup) · book 5.2.1, 5.4.2
"""

from __future__ import annotations

import logging
from collections.abc import Collection

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.group_coordinator import GroupCoordinator
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.group_metadata_records import group_metadata_key
from kafka_lite.coordinator.group.group_state import GroupState
from kafka_lite.coordinator.group.member_metadata import join_error, sync_error
from kafka_lite.coordinator.group.modern.consumer_group import ConsumerGroup
from kafka_lite.coordinator.group.modern.consumer_group_config import ConsumerGroupConfig
from kafka_lite.coordinator.group.modern.group_change import GroupChange
from kafka_lite.coordinator.group.modern.member_deadlines import MemberDeadlines
from kafka_lite.coordinator.group.modern.migration.group_conversion import (
    downgraded_members,
    remaining_classic_members,
    upgraded_records,
)
from kafka_lite.coordinator.group.modern.topics_image import TopicsImage

logger = logging.getLogger(__name__)


class GroupMigration:
    """Upgrades and downgrades. Callers hold the lock of the group.

    ::

        classic group ──── a member heartbeats, and all others are consumers ───▶ group of KIP-848
                      ◀─── the last member that heartbeats leaves or fails ──────

    The records of both kinds are in one batch, so a new coordinator finds the group as one or the other. A change that
    the log refuses is taken back, and the members join again.
    """

    def __init__(self, config: ConsumerGroupConfig, coordinator: GroupCoordinator, deadlines: MemberDeadlines) -> None:
        self._config = config
        self._coordinator = coordinator
        self._deadlines = deadlines
        self._groups = coordinator.group_manager

    # ── upgrade ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def begin_upgrade(self, group: GroupMetadata, topics: TopicsImage) -> GroupChange:
        """A change with the group's members as one of KIP-848, which may be decided on before ``end_upgrade``.

        Raises GROUP_ID_NOT_FOUND for a group that cannot be upgraded.
        """
        change = GroupChange(ConsumerGroup(group.group_id))
        if group.members:
            self._check_upgrade(group)
            change.extend(upgraded_records(group, topics))
        if group.generation_id > 0:
            change.others.append((group_metadata_key(group.group_id), None))
        return change

    def _check_upgrade(self, group: GroupMetadata) -> None:
        if not self._config.migration_policy.can_upgrade:
            reason = "the online upgrade is disabled"
        elif not group.is_consumer_group:
            reason = "the group does not use the consumer embedded protocol"
        elif len(group.members) > self._config.max_size:
            reason = "the group size exceeds the consumer group maximum size"
        else:
            return
        logger.info("Cannot upgrade classic group %s to consumer group because %s.", group.group_id, reason)
        raise Errors.GROUP_ID_NOT_FOUND.exception(f"Group {group.group_id} is not a consumer group.")

    def end_upgrade(self, group: GroupMetadata, change: GroupChange) -> None:
        """The group is one of KIP-848 from now on. Parked requests are told to join again."""
        members = list(group.members.values())
        before = (group.generation_id, group.protocol_name, group.leader_id)
        self._becomes_modern(group, change.group)

        def undo() -> None:
            if group.is_in(GroupState.DEAD):
                return
            group.modern = None
            if members:
                generation_id, protocol_name, leader_id = before
                group.restore(
                    members,
                    generation_id=generation_id,
                    protocol_type=members[0].protocol_type,
                    protocol_name=protocol_name,
                    leader_id=leader_id,
                    state_timestamp_ms=group.state_timestamp_ms,
                )
                self._coordinator.rebalancer.resume(group, "The log has refused the upgrade")

        change.on_undone.append(undo)
        if members:
            logger.info("Upgraded classic group %s with %d members", group.group_id, len(members))

    # ── downgrade ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def can_downgrade(self, group: ConsumerGroup, leaving: Collection[str]) -> bool:
        """Whether the group becomes a classic one when these members are gone."""
        remaining = remaining_classic_members(group, leaving)
        if remaining is None:
            return False
        fits = len(remaining) <= self._coordinator.config.max_size
        if not self._config.migration_policy.can_downgrade or not fits:
            logger.info("Cannot downgrade consumer group %s: it is disabled, or too large", group.group_id)
            return False
        return True

    def downgrade(
        self, group: GroupMetadata, change: GroupChange, leaving: Collection[str], topics: TopicsImage
    ) -> None:
        """The group is a classic one from now on, with all members but those that leave. Raises GROUP_ID_NOT_FOUND.

        Its generation is the epoch of the group. If members have left, a rebalance begins, for the others have to take
        over their partitions. The record has the generation after this one: should the coordinator fail now, the next
        one does not know of the rebalance, but all members join again because their generation is over. (In Kafka the
        partitions of those that left have no reader then, until anything else causes a rebalance.)
        """
        modern = change.group
        members = downgraded_members(modern, remaining_classic_members(modern, leaving) or (), topics)
        generation_id = modern.group_epoch
        change.extend(modern.tombstones())
        group.modern = None
        group.become_classic(members, generation_id + 1 if leaving else generation_id)
        assignment = {member.member_id: member.assignment for member in members}
        change.others.append(self._groups.group_record(group, assignment))
        group.generation_id = generation_id
        change.on_undone.append(lambda: self._undo_downgrade(group, modern))
        logger.info("Downgraded consumer group %s with %d members", group.group_id, len(members))
        rebalancer = self._coordinator.rebalancer
        rebalancer.resume(group, f"Downgrade group {group.group_id} from consumer to classic." if leaving else None)

    def _undo_downgrade(self, group: GroupMetadata, modern: ConsumerGroup) -> None:
        if group.is_in(GroupState.DEAD):
            return
        self._becomes_modern(group, modern)

    def _becomes_modern(self, group: GroupMetadata, modern: ConsumerGroup) -> None:
        """Requests that wait for a generation are told to join again: it will not come."""
        members = list(group.members.values())
        for member in members:
            group.invoke_join_callback(member, join_error(member.member_id, Errors.REBALANCE_IN_PROGRESS))
            group.invoke_sync_callback(member, sync_error(Errors.REBALANCE_IN_PROGRESS))
        group.modern = modern
        group.forget_members()
        self._coordinator.rebalancer.forget_rebalance(group, [member.member_id for member in members])
        self._deadlines.begin(group)
