"""What moves a group from generation to generation: joins, syncs, and members that fail.

Kafka 0.10.2: core/.../coordinator/GroupCoordinator.scala (addMemberAndRebalance and what follows)
· book 5.3.1, 5.3.3, 5.4.1, 5.4.6, 5.4.7
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from kafka_lite.common.delayed_operation import DelayedOperationPurgatory
from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.delayed_heartbeat import DelayedHeartbeat
from kafka_lite.coordinator.group.delayed_join import DelayedJoin, DelayedRebalance, InitialDelayedJoin
from kafka_lite.coordinator.group.delayed_sync import DelayedSync
from kafka_lite.coordinator.group.group_config import GroupConfig
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.group_metadata_manager import GroupMetadataManager
from kafka_lite.coordinator.group.group_state import GroupState
from kafka_lite.coordinator.group.member_metadata import UNKNOWN_MEMBER_ID, MemberMetadata, join_error, sync_error
from kafka_lite.protocol.messages.api_11_join_group import JoinGroupResponse
from kafka_lite.protocol.messages.api_14_sync_group import SyncGroupResponse

logger = logging.getLogger(__name__)

NEW_MEMBER_JOIN_TIMEOUT_MS = 5 * 60 * 1000
"""So long a new member may wait for its first generation. A rebalance can take that long, and a client that has gone
cannot be told from one that waits; without an end each of its attempts would leave a member behind."""

SHORTEST_JOIN_RETRY_MS = 1000
"""So long at least a rebalance waits again in which nobody has joined. A client may say a rebalance timeout of 0, and
until the sessions of its static members end, one wait would follow the other without a pause."""


@dataclass(frozen=True)
class GroupJoinKey:
    """Under this DelayedJoin waits."""

    group_id: str


@dataclass(frozen=True)
class GroupSyncKey:
    """Under this DelayedSync waits."""

    group_id: str


class GroupRebalancer:
    """The rebalance of every group, as events in the life of its members.

    ::

        add_member ─┐                                   all joined, or time is up         leader's SyncGroup is stored
        update    ──┼─▶ prepare_rebalance ─▶ DelayedJoin ────────────────▶ on_complete_join ──▶ propagate_assignment
        remove    ──┘   PREPARING_REBALANCE                AWAITING_SYNC, DelayedSync               STABLE
        expire    ──┘

    The heartbeats are here too, since joining and syncing are signs of life as well. Everything is called with the
    group's lock held, or takes it; answers to parked requests are sent with it held.
    """

    def __init__(
        self,
        config: GroupConfig,
        group_manager: GroupMetadataManager,
        heartbeat_purgatory: DelayedOperationPurgatory[DelayedHeartbeat],
        rebalance_purgatory: DelayedOperationPurgatory[DelayedRebalance],
    ) -> None:
        self._config = config
        self._groups = group_manager
        self._heartbeat_purgatory = heartbeat_purgatory
        self._rebalance_purgatory = rebalance_purgatory

    # ── members come, change and go ───────────────────────────────────────────────────────────────────────────────

    def add_member_and_rebalance(
        self, group: GroupMetadata, member: MemberMetadata, callback: Callable[[JoinGroupResponse], None], reason: str
    ) -> None:
        """Let a new member in; its JoinGroup is answered when the generation begins."""
        member.is_new = True
        if group.is_in(GroupState.PREPARING_REBALANCE) and group.generation_id == 0:
            group.new_member_added = True
        group.add(member, callback)
        self._schedule_next_expiration(group, member, NEW_MEMBER_JOIN_TIMEOUT_MS)
        self.maybe_prepare_rebalance(group, f"Adding new member {member.member_id}; client reason: {reason}")

    def remove_member_and_update_group(self, group: GroupMetadata, member: MemberMetadata, reason: str) -> None:
        """A member has left, or failed: the others share what it had."""
        group.invoke_join_callback(member, join_error(UNKNOWN_MEMBER_ID, Errors.UNKNOWN_MEMBER_ID))
        group.remove(member.member_id)
        if group.is_in(GroupState.STABLE, GroupState.AWAITING_SYNC):
            group.invoke_sync_callback(member, sync_error(Errors.UNKNOWN_MEMBER_ID))
            self.maybe_prepare_rebalance(group, reason)
        elif group.is_in(GroupState.PREPARING_REBALANCE):
            self.check_join(group)

    def remove_pending_member_and_update_group(self, group: GroupMetadata, member_id: str) -> None:
        """Nobody waits any more for this id to join."""
        group.remove(member_id)
        if group.is_in(GroupState.PREPARING_REBALANCE):
            self.check_join(group)

    # ── joining ───────────────────────────────────────────────────────────────────────────────────────────────────

    def maybe_prepare_rebalance(self, group: GroupMetadata, reason: str) -> None:
        """Begin a rebalance, unless one has begun."""
        with group.lock:
            if group.can_rebalance:
                self.prepare_rebalance(group, reason)

    def prepare_rebalance(self, group: GroupMetadata, reason: str) -> None:
        """Ask everybody to join again: through the errors of heartbeats, and of the SyncGroups that wait."""
        if group.is_in(GroupState.AWAITING_SYNC):
            self.reset_and_propagate_assignment_error(group, Errors.REBALANCE_IN_PROGRESS)
        self._remove_sync_expiration(group)
        delayed_join = self._delayed_join(group)
        group.transition_to(GroupState.PREPARING_REBALANCE)
        logger.info(
            "Preparing to rebalance group %s with old generation %d (reason: %s)",
            group.group_id,
            group.generation_id,
            reason,
        )
        self.watch_join(delayed_join)

    def _delayed_join(self, group: GroupMetadata) -> DelayedJoin:
        """What waits for the members, as long as the most patient one does; an empty group first waits for others."""
        if group.is_in(GroupState.EMPTY):
            delay_ms = self._config.initial_rebalance_delay_ms
            remaining_ms = max(group.rebalance_timeout_ms - delay_ms, 0)
            return InitialDelayedJoin(self, group, delay_ms, delay_ms, remaining_ms)
        return DelayedJoin(self, group, group.rebalance_timeout_ms)

    def watch_join(self, delayed_join: DelayedJoin) -> None:
        """Let the operation wait for JoinGroup requests."""
        self._rebalance_purgatory.try_complete_else_watch(delayed_join, [GroupJoinKey(delayed_join.group.group_id)])

    def check_join(self, group: GroupMetadata) -> None:
        """Somebody has joined or gone: perhaps it was the last one that was waited for."""
        self._rebalance_purgatory.check_and_complete(GroupJoinKey(group.group_id))

    def try_complete_join(self, group: GroupMetadata, force_complete: Callable[[], bool]) -> bool:
        """Complete a DelayedJoin if all members are there."""
        with group.lock:
            return (group.is_in(GroupState.DEAD) or group.has_all_members_joined) and force_complete()

    def on_complete_join(self, group: GroupMetadata) -> None:
        """Begin the next generation with those who have joined.

        Dynamic members that have not are let go. A static one keeps its place until its session ends: it may just be
        on its way back. When only such are left, there is nobody who could lead, and the wait begins anew.
        """
        with group.lock:
            if group.is_in(GroupState.DEAD):
                logger.info("Group %s is dead, skipping rebalance stage", group.group_id)
                return
            missing = group.not_yet_rejoined_members()
            self._drop_members(group, [member.member_id for member in missing if not member.is_static_member])
            if group.members and not group.elect_leader_that_has_joined():
                logger.error("Group %s could not complete rebalance because no members rejoined", group.group_id)
                self.watch_join(DelayedJoin(self, group, max(group.rebalance_timeout_ms, SHORTEST_JOIN_RETRY_MS)))
            else:
                group.init_next_generation()
                self._announce_generation(group) if group.members else self._store_empty_group(group)

    def _drop_members(self, group: GroupMetadata, member_ids: Iterable[str]) -> None:
        """Let members go that have not come, with the heartbeats that wait for them.

        A JoinGroup that still waits is answered with UNKNOWN_MEMBER_ID. Some ids may be no members' any more.
        """
        for member_id in member_ids:
            logger.info("Member %s of group %s has not come in time, and is let go", member_id, group.group_id)
            if member_id in group.members:  # a static member that is back waits until its new id is stored
                unknown = join_error(UNKNOWN_MEMBER_ID, Errors.UNKNOWN_MEMBER_ID)
                group.invoke_join_callback(group.members[member_id], unknown)
            group.remove(member_id)
            self.complete_heartbeat(group, member_id)

    def _announce_generation(self, group: GroupMetadata) -> None:
        """Answer all the JoinGroups that wait, and give everybody until the rebalance timeout to sync.

        Sessions begin anew: while its JoinGroup waited, a member that was not new could not fail.
        """
        logger.info(
            "Stabilized group %s generation %d with %d members",
            group.group_id,
            group.generation_id,
            len(group.members),
        )
        for member in group.members.values():
            group.invoke_join_callback(member, current_generation(group, member.member_id))
            self.schedule_next_heartbeat_expiration(group, member)
            member.is_new = False
            group.pending_sync_members.add(member.member_id)
        delayed_sync = DelayedSync(self, group, group.rebalance_timeout_ms)
        self._rebalance_purgatory.try_complete_else_watch(delayed_sync, [GroupSyncKey(group.group_id)])

    def _store_empty_group(self, group: GroupMetadata) -> None:
        logger.info("Group %s with generation %d is now empty", group.group_id, group.generation_id)

        def on_stored(error: Errors) -> None:
            # If the broker fails now, the last generation comes back to life, and its members' sessions end again.
            if error is not Errors.NONE:
                logger.warning("Failed to write empty metadata for group %s: %s", group.group_id, error.name)

        self._groups.store_group(group, {}, on_stored)

    # ── syncing ───────────────────────────────────────────────────────────────────────────────────────────────────

    def set_and_propagate_assignment(self, group: GroupMetadata, assignment: Mapping[str, bytes]) -> None:
        """The leader's assignment is in the log: answer the SyncGroups that wait."""
        for member in group.members.values():
            member.assignment = assignment[member.member_id]
        self._propagate_assignment(group, Errors.NONE)

    def reset_and_propagate_assignment_error(self, group: GroupMetadata, error: Errors) -> None:
        """There is no assignment after all."""
        for member in group.members.values():
            member.assignment = b""
        self._propagate_assignment(group, error)

    def _propagate_assignment(self, group: GroupMetadata, error: Errors) -> None:
        for member in group.members.values():
            answer = current_assignment(group, member) if error is Errors.NONE else sync_error(error)
            if group.invoke_sync_callback(member, answer):
                # While its SyncGroup waited the member was not watched.
                self.schedule_next_heartbeat_expiration(group, member)

    def remove_pending_sync_member(self, group: GroupMetadata, member_id: str) -> None:
        """A member has sent its SyncGroup."""
        group.pending_sync_members.discard(member_id)
        self._check_sync(group)

    def _remove_sync_expiration(self, group: GroupMetadata) -> None:
        group.pending_sync_members.clear()
        self._check_sync(group)

    def _check_sync(self, group: GroupMetadata) -> None:
        self._rebalance_purgatory.check_and_complete(GroupSyncKey(group.group_id))

    def try_complete_pending_sync(
        self, group: GroupMetadata, generation_id: int, force_complete: Callable[[], bool]
    ) -> bool:
        """Complete a DelayedSync if it has nobody left to wait for."""
        with group.lock:
            waits = group.generation_id == generation_id and group.is_in(GroupState.AWAITING_SYNC, GroupState.STABLE)
            return not (waits and group.pending_sync_members) and force_complete()

    def on_expire_pending_sync(self, group: GroupMetadata, generation_id: int) -> None:
        """Let go those who have not asked for their parts, and share anew."""
        with group.lock:
            waits = group.generation_id == generation_id and group.is_in(GroupState.AWAITING_SYNC, GroupState.STABLE)
            if waits and group.pending_sync_members:
                missing = sorted(group.pending_sync_members)
                self._drop_members(group, missing)
                self.prepare_rebalance(group, f"Removing {missing} on pending sync request expiration")

    # ── signs of life ─────────────────────────────────────────────────────────────────────────────────────────────

    def schedule_next_heartbeat_expiration(self, group: GroupMetadata, member: MemberMetadata) -> None:
        """There was a sign of life: the session timeout begins anew."""
        self._schedule_next_expiration(group, member, member.session_timeout_ms)

    def _schedule_next_expiration(self, group: GroupMetadata, member: MemberMetadata, timeout_ms: int) -> None:
        member.heartbeat_satisfied = True
        self.complete_heartbeat(group, member.member_id)
        member.heartbeat_satisfied = False
        member.delayed_heartbeat = DelayedHeartbeat(self, group, member.member_id, False, timeout_ms)
        self._heartbeat_purgatory.try_complete_else_watch(
            member.delayed_heartbeat, [(group.group_id, member.member_id)]
        )

    def add_pending_member_expiration(self, group: GroupMetadata, member_id: str, timeout_ms: int) -> None:
        """Somebody was given an id: so long he has to join with it."""
        delayed_heartbeat = DelayedHeartbeat(self, group, member_id, True, timeout_ms)
        self._heartbeat_purgatory.try_complete_else_watch(delayed_heartbeat, [(group.group_id, member_id)])

    def complete_heartbeat(self, group: GroupMetadata, member_id: str) -> None:
        """Let the operation that waits for the member look: it has lived, joined, or gone."""
        self._heartbeat_purgatory.check_and_complete((group.group_id, member_id))

    def try_complete_heartbeat(
        self, group: GroupMetadata, member_id: str, is_pending: bool, force_complete: Callable[[], bool]
    ) -> bool:
        """Complete a DelayedHeartbeat if there is nothing to fear for the member, or no member."""
        with group.lock:
            if group.is_in(GroupState.DEAD):
                return force_complete()
            if is_pending:
                return member_id not in group.pending_members and force_complete()
            member = group.members.get(member_id)
            return (member is None or member.has_satisfied_heartbeat) and force_complete()

    def on_expire_heartbeat(self, group: GroupMetadata, member_id: str, expired: DelayedHeartbeat) -> None:
        """A session has ended without a sign of life: the member counts as failed."""
        with group.lock:
            if group.is_in(GroupState.DEAD):
                return
            if expired.is_pending:
                if member_id in group.pending_members:
                    logger.info("Pending member %s of group %s has not joined in time", member_id, group.group_id)
                    self.remove_pending_member_and_update_group(group, member_id)
                return
            member = group.members.get(member_id)
            if member is not None and member.delayed_heartbeat is expired and not member.has_satisfied_heartbeat:
                logger.info("Member %s in group %s has failed, removing it from the group", member_id, group.group_id)
                reason = f"removing member {member_id} on heartbeat expiration"
                self.remove_member_and_update_group(group, member, reason)

    # ── the partition of the group moves ──────────────────────────────────────────────────────────────────────────

    def on_group_loaded(self, group: GroupMetadata) -> None:
        """The group was read from the log: watch its members as if they had just been heard of."""
        with group.lock:
            logger.info("Loading group metadata for %s with generation %d", group.group_id, group.generation_id)
            if len(group.members) > self._config.max_size:
                self.prepare_rebalance(group, f"Freshly-loaded group is over capacity ({self._config.max_size})")
            for member in group.members.values():
                self.schedule_next_heartbeat_expiration(group, member)

    def on_group_unloaded(self, group: GroupMetadata) -> None:
        """Another broker coordinates the group from now on: whoever waits is sent there."""
        with group.lock:
            logger.info("Unloading group metadata for %s with generation %d", group.group_id, group.generation_id)
            group.transition_to(GroupState.DEAD)
            for member in group.members.values():
                group.invoke_join_callback(member, join_error(member.member_id, Errors.NOT_COORDINATOR))
                group.invoke_sync_callback(member, sync_error(Errors.NOT_COORDINATOR))
                self.complete_heartbeat(group, member.member_id)
            for member_id in group.pending_members:
                self.complete_heartbeat(group, member_id)
            self.check_join(group)
            self._remove_sync_expiration(group)


def current_generation(group: GroupMetadata, member_id: str, *, skip_assignment: bool = False) -> JoinGroupResponse:
    """The answer to JoinGroup: the generation, and for its leader what the members said."""
    return JoinGroupResponse(
        generation_id=group.generation_id,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        leader=group.leader_id or "",
        skip_assignment=skip_assignment,
        member_id=member_id,
        members=group.current_member_metadata() if group.is_leader(member_id) else [],
    )


def current_assignment(group: GroupMetadata, member: MemberMetadata) -> SyncGroupResponse:
    """The answer to SyncGroup: the member's part."""
    return SyncGroupResponse(
        protocol_type=group.protocol_type, protocol_name=group.protocol_name, assignment=member.assignment
    )
