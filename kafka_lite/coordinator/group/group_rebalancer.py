"""Moves a group from generation to generation: joins, syncs, and members that fail.

Kafka 0.10.2: core/.../coordinator/GroupCoordinator.scala (addMemberAndRebalance and what follows)
· book 5.3.1, 5.3.3, 5.4.1, 5.4.6, 5.4.7
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from kafka_lite.common.errors import Errors
from kafka_lite.common.purgatory.delayed_operation import DelayedOperationPurgatory
from kafka_lite.coordinator.group.delayed_heartbeat import DelayedHeartbeat
from kafka_lite.coordinator.group.delayed_join import DelayedJoin, DelayedRebalance, InitialDelayedJoin
from kafka_lite.coordinator.group.delayed_sync import DelayedSync
from kafka_lite.coordinator.group.group_config import GroupConfig
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.group_metadata_manager import GroupMetadataManager
from kafka_lite.coordinator.group.group_state import GroupState
from kafka_lite.coordinator.group.member_metadata import UNKNOWN_MEMBER_ID, MemberMetadata, join_error, sync_error
from kafka_lite.coordinator.group.modern.group_change import GroupChange
from kafka_lite.protocol.messages.api_11_join_group import JoinGroupResponse
from kafka_lite.protocol.messages.api_14_sync_group import SyncGroupResponse

logger = logging.getLogger(__name__)

NEW_MEMBER_JOIN_TIMEOUT_MS = 5 * 60 * 1000
"""How long a new member may wait for its first generation. A rebalance can take this long, and the coordinator cannot
tell a client that is gone from one that waits. Without a limit, each attempt of such a client would leave a member
behind."""

SHORTEST_JOIN_RETRY_MS = 1000
"""The shortest wait after a rebalance in which no member has joined. A client may set a rebalance timeout of 0, and
without a minimum the waits would follow each other without a pause until the sessions of its static members end."""


@dataclass(frozen=True)
class GroupJoinKey:
    """The watch key of a DelayedJoin."""

    group_id: str


@dataclass(frozen=True)
class GroupSyncKey:
    """The watch key of a DelayedSync."""

    group_id: str


class GroupRebalancer:
    """The rebalance of every group, as events in the life of its members.

    ::

        add_member ─┐                                   all joined, or time is up         leader's SyncGroup is stored
        update    ──┼─▶ prepare_rebalance ─▶ DelayedJoin ────────────────▶ on_complete_join ──▶ propagate_assignment
        remove    ──┘   PREPARING_REBALANCE                AWAITING_SYNC, DelayedSync               STABLE
        expire    ──┘

    The heartbeats are handled here too, since a join or a sync also shows that a member is alive. Callers hold the
    group's lock, or the method takes it. Parked requests get their responses while it is held.
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
        self.loaded_listeners: list[Callable[[GroupMetadata], None]] = []
        """Called for each group that was read from the log."""
        self._heartbeat_purgatory = heartbeat_purgatory
        self._rebalance_purgatory = rebalance_purgatory

    # ── members come, change and go ───────────────────────────────────────────────────────────────────────────────

    def add_member_and_rebalance(
        self, group: GroupMetadata, member: MemberMetadata, callback: Callable[[JoinGroupResponse], None], reason: str
    ) -> None:
        """Add a new member. Its JoinGroup is parked until the generation begins."""
        member.is_new = True
        if group.is_in(GroupState.PREPARING_REBALANCE) and group.generation_id == 0:
            group.new_member_added = True
        group.add(member, callback)
        self._schedule_next_expiration(group, member, NEW_MEMBER_JOIN_TIMEOUT_MS)
        self.maybe_prepare_rebalance(group, f"Adding new member {member.member_id}; client reason: {reason}")

    def remove_member_and_update_group(self, group: GroupMetadata, member: MemberMetadata, reason: str) -> None:
        """Remove a member that has left or failed, so that the others take over its partitions."""
        group.invoke_join_callback(member, join_error(UNKNOWN_MEMBER_ID, Errors.UNKNOWN_MEMBER_ID))
        group.remove(member.member_id)
        if group.is_in(GroupState.STABLE, GroupState.AWAITING_SYNC):
            group.invoke_sync_callback(member, sync_error(Errors.UNKNOWN_MEMBER_ID))
            self.maybe_prepare_rebalance(group, reason)
        elif group.is_in(GroupState.PREPARING_REBALANCE):
            self.check_join(group)

    def remove_pending_member_and_update_group(self, group: GroupMetadata, member_id: str) -> None:
        """Remove a pending member, so that the rebalance no longer waits for it."""
        group.remove(member_id)
        if group.is_in(GroupState.PREPARING_REBALANCE):
            self.check_join(group)

    # ── joining ───────────────────────────────────────────────────────────────────────────────────────────────────

    def maybe_prepare_rebalance(self, group: GroupMetadata, reason: str) -> None:
        """Begin a rebalance, unless one is in progress."""
        with group.lock:
            if group.can_rebalance:
                self.prepare_rebalance(group, reason)

    def prepare_rebalance(self, group: GroupMetadata, reason: str) -> None:
        """Ask every member to join again, by the error of its heartbeats and of its parked SyncGroup."""
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
        """The operation that waits for the members, for the longest rebalance timeout. An empty group waits for more
        members first."""
        if group.is_in(GroupState.EMPTY):
            delay_ms = self._config.initial_rebalance_delay_ms
            remaining_ms = max(group.rebalance_timeout_ms - delay_ms, 0)
            return InitialDelayedJoin(self, group, delay_ms, delay_ms, remaining_ms)
        return DelayedJoin(self, group, group.rebalance_timeout_ms)

    def watch_join(self, delayed_join: DelayedJoin) -> None:
        """Watch for JoinGroup requests of the group."""
        self._rebalance_purgatory.try_complete_else_watch(delayed_join, [GroupJoinKey(delayed_join.group.group_id)])

    def check_join(self, group: GroupMetadata) -> None:
        """Check the group's DelayedJoin: a member has joined or gone, and it may have been the last one missing."""
        self._rebalance_purgatory.check_and_complete(GroupJoinKey(group.group_id))

    def try_complete_join(self, group: GroupMetadata, force_complete: Callable[[], bool]) -> bool:
        """Complete a DelayedJoin if all members have joined."""
        with group.lock:
            return (group.is_in(GroupState.DEAD) or group.has_all_members_joined) and force_complete()

    def on_complete_join(self, group: GroupMetadata) -> None:
        """Begin the next generation with the members that have joined.

        Dynamic members that have not joined are removed. A static member keeps its place until its session times out,
        because it may be about to come back. If only such members are left, none of them can lead, and the wait starts
        again.
        """
        with group.lock:
            if not group.is_in(GroupState.PREPARING_REBALANCE):
                logger.info("Group %s is %s, skipping rebalance stage", group.group_id, group.state.value)
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
        """Remove members that have not joined or synced in time, and their heartbeats.

        A JoinGroup that is still parked gets UNKNOWN_MEMBER_ID. Some of the ids may no longer belong to members.
        """
        for member_id in member_ids:
            logger.info("Removing member %s of group %s, which has not joined in time", member_id, group.group_id)
            if member_id in group.members:  # a static member that is back waits until its new id is stored
                unknown = join_error(UNKNOWN_MEMBER_ID, Errors.UNKNOWN_MEMBER_ID)
                group.invoke_join_callback(group.members[member_id], unknown)
            group.remove(member_id)
            self.complete_heartbeat(group, member_id)

    def _announce_generation(self, group: GroupMetadata) -> None:
        """Respond to all parked JoinGroups, and give every member until the rebalance timeout to sync.

        Session timeouts start again: while its JoinGroup was parked, an existing member could not time out.
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
            # If the broker fails now, the last generation is restored, and its members' sessions time out again.
            if error is not Errors.NONE:
                logger.warning("Failed to write empty metadata for group %s: %s", group.group_id, error.name)

        self._groups.store_group(group, {}, on_stored)

    # ── syncing ───────────────────────────────────────────────────────────────────────────────────────────────────

    def set_and_propagate_assignment(self, group: GroupMetadata, assignment: Mapping[str, bytes]) -> None:
        """Respond to the parked SyncGroups: the leader's assignment is in the log."""
        for member in group.members.values():
            member.assignment = assignment[member.member_id]
        self._propagate_assignment(group, Errors.NONE)

    def reset_and_propagate_assignment_error(self, group: GroupMetadata, error: Errors) -> None:
        """Drop the assignments and respond to the parked SyncGroups with an error."""
        for member in group.members.values():
            member.assignment = b""
        self._propagate_assignment(group, error)

    def _propagate_assignment(self, group: GroupMetadata, error: Errors) -> None:
        for member in group.members.values():
            response = current_assignment(group, member) if error is Errors.NONE else sync_error(error)
            if group.invoke_sync_callback(member, response):
                # While its SyncGroup was parked, the member could not time out.
                self.schedule_next_heartbeat_expiration(group, member)

    def remove_pending_sync_member(self, group: GroupMetadata, member_id: str) -> None:
        """Note that a member has sent its SyncGroup."""
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
        """Complete a DelayedSync if it has no member left to wait for."""
        with group.lock:
            waits = group.generation_id == generation_id and group.is_in(GroupState.AWAITING_SYNC, GroupState.STABLE)
            return not (waits and group.pending_sync_members) and force_complete()

    def on_expire_pending_sync(self, group: GroupMetadata, generation_id: int) -> None:
        """Remove the members that have not sent SyncGroup, and rebalance."""
        with group.lock:
            waits = group.generation_id == generation_id and group.is_in(GroupState.AWAITING_SYNC, GroupState.STABLE)
            if waits and group.pending_sync_members:
                missing = sorted(group.pending_sync_members)
                self._drop_members(group, missing)
                self.prepare_rebalance(group, f"Removing {missing} on pending sync request expiration")

    # ── heartbeats ────────────────────────────────────────────────────────────────────────────────────────────────

    def schedule_next_heartbeat_expiration(self, group: GroupMetadata, member: MemberMetadata) -> None:
        """Restart the session timeout of a member that was heard from."""
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
        """Give a client that was handed a member id this long to join with it, ms."""
        delayed_heartbeat = DelayedHeartbeat(self, group, member_id, True, timeout_ms)
        self._heartbeat_purgatory.try_complete_else_watch(delayed_heartbeat, [(group.group_id, member_id)])

    def complete_heartbeat(self, group: GroupMetadata, member_id: str) -> None:
        """Check the member's heartbeat operation: the member sent a heartbeat, joined, or left."""
        self._heartbeat_purgatory.check_and_complete((group.group_id, member_id))

    def try_complete_heartbeat(
        self, group: GroupMetadata, member_id: str, is_pending: bool, force_complete: Callable[[], bool]
    ) -> bool:
        """Complete a DelayedHeartbeat if the member must not time out, or has left."""
        with group.lock:
            if group.is_in(GroupState.DEAD):
                return force_complete()
            if is_pending:
                return member_id not in group.pending_members and force_complete()
            member = group.members.get(member_id)
            return (member is None or member.has_satisfied_heartbeat) and force_complete()

    def on_expire_heartbeat(self, group: GroupMetadata, member_id: str, expired: DelayedHeartbeat) -> None:
        """Remove a member whose session has timed out."""
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

    def becomes_classic(self, group: GroupMetadata) -> bool:
        """Make a group of KIP-848 without members a classic one; False if it has members, or is a share group."""
        if group.has_modern_members or group.share is not None:
            return False
        if group.modern is not None:
            change = GroupChange(group.modern)
            change.extend(group.modern.tombstones())
            self._groups.writer_of(group).write(change, lambda _: None)
            group.modern = None
        return True

    def forget_rebalance(self, group: GroupMetadata, member_ids: Iterable[str]) -> None:
        """The group's members, which were these, are those of a group of KIP-848 now: nothing waits for them here."""
        for member_id in member_ids:
            self.complete_heartbeat(group, member_id)
        self.check_join(group)
        self._check_sync(group)

    def resume(self, group: GroupMetadata, rebalance_reason: str | None) -> None:
        """The group is a classic one again: its members' sessions begin, and with a reason a rebalance."""
        for member in group.members.values():
            self.schedule_next_heartbeat_expiration(group, member)
        if rebalance_reason is not None:
            self.maybe_prepare_rebalance(group, rebalance_reason)

    # ── the group's partition moves ───────────────────────────────────────────────────────────────────────────────

    def on_group_loaded(self, group: GroupMetadata) -> None:
        """Start the session timeouts of a group that was read from the log."""
        with group.lock:
            logger.info("Loading group metadata for %s with generation %d", group.group_id, group.generation_id)
            if len(group.members) > self._config.max_size:
                self.prepare_rebalance(group, f"Freshly-loaded group is over capacity ({self._config.max_size})")
            for member in group.members.values():
                self.schedule_next_heartbeat_expiration(group, member)
        for listener in self.loaded_listeners:
            listener(group)

    def on_group_unloaded(self, group: GroupMetadata) -> None:
        """Redirect all parked requests: another broker coordinates the group from now on."""
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
    """The response to JoinGroup: the generation, and for the leader the metadata of all members."""
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
    """The response to SyncGroup: the member's assignment."""
    return SyncGroupResponse(
        protocol_type=group.protocol_type, protocol_name=group.protocol_name, assignment=member.assignment
    )
