"""When members must have been heard from, and when they must have taken the step that they were asked for.

Kafka 4.1: group-coordinator/.../group/GroupMetadataManager.java (scheduleConsumerGroupSessionTimeout,
...RebalanceTimeout, ...JoinTimeoutIfAbsent, ...SyncTimeout) · book 5.4.3
"""

from __future__ import annotations

from collections.abc import Callable

from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.time import Time
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.modern.consumer_group_config import GroupConfigManager
from kafka_lite.coordinator.group.modern.consumer_group_member import ConsumerGroupMember
from kafka_lite.coordinator.group.modern.member_state import MemberState
from kafka_lite.coordinator.group.modern.member_timers import MemberTimer, MemberTimers

Fence = Callable[[GroupMetadata, str, str, int | None], None]
"""Removes a member: the group, the member id, the reason for the log, and the epoch in which it still has to give up
partitions (None: in any case)."""


class MemberDeadlines:
    """The deadlines of all members. Callers hold the lock of the member's group.

    ::

        session    all members                      since the last heartbeat
        rebalance  members that heartbeat           to give up partitions: since they were asked
        join       classic members                  to send JoinGroup: since they were asked
        sync       classic members                  to send SyncGroup: since JoinGroup
    """

    def __init__(self, configs: GroupConfigManager, scheduler: Scheduler, time: Time, fence: Fence) -> None:
        self._configs = configs
        self._timers = MemberTimers(scheduler, time)
        self._fence = fence

    def begin(self, group: GroupMetadata) -> None:
        """The group was read from the log, or was another kind of group: every member has all of its time."""
        assert group.modern is not None
        for member in group.modern.members.values():
            self.schedule_session(group, member)
            if member.classic is None and member.state is MemberState.UNREVOKED_PARTITIONS:
                self._schedule_rebalance(group, member)

    def cancel(self, group: GroupMetadata, member_id: str) -> None:
        """The member is gone."""
        self._timers.cancel_member(group.group_id, member_id)

    def schedule_session(self, group: GroupMetadata, member: ConsumerGroupMember) -> None:
        """The member was heard from."""
        config_ms = self._configs.config_of(group.group_id).session_timeout_ms
        timeout_ms = config_ms if member.classic is None else member.classic.session_timeout_ms
        self._schedule("session", group, member, timeout_ms, "its session has expired")

    # ── members that heartbeat ────────────────────────────────────────────────────────────────────────────────────────

    def on_heartbeat(self, group: GroupMetadata, member: ConsumerGroupMember) -> None:
        """The session begins again, and the time to give up partitions if it is the first to say so."""
        assert group.modern is not None
        self.schedule_session(group, member)
        self._cancel(group, member, "join", "sync")
        if member.state is not MemberState.UNREVOKED_PARTITIONS:
            group.modern.revoking.pop(member.member_id, None)
            self._cancel(group, member, "rebalance")
        elif group.modern.revoking.get(member.member_id) != member.member_epoch:
            self._schedule_rebalance(group, member)

    def _schedule_rebalance(self, group: GroupMetadata, member: ConsumerGroupMember) -> None:
        """The member has its rebalance timeout to give up partitions. Later heartbeats do not prolong that."""
        assert group.modern is not None
        epoch = group.modern.revoking[member.member_id] = member.member_epoch
        reason = f"it did not leave epoch {epoch} in time"
        self._schedule("rebalance", group, member, member.rebalance_timeout_ms, reason, epoch)

    # ── classic members ───────────────────────────────────────────────────────────────────────────────────────────────

    def must_join(self, group: GroupMetadata, member: ConsumerGroupMember) -> None:
        """A classic member was told to join again. Being told once more does not prolong its time."""
        timer = MemberTimer("join", group.group_id, member.member_id)
        if not self._timers.is_set(timer):
            self._schedule("join", group, member, member.rebalance_timeout_ms, "it did not join in time")

    def on_joined(self, group: GroupMetadata, member: ConsumerGroupMember) -> None:
        """A classic member has joined, and has to sync."""
        self._cancel(group, member, "join", "rebalance")
        self.schedule_session(group, member)
        self._schedule("sync", group, member, member.rebalance_timeout_ms, "it did not sync in time")

    def on_synced(self, group: GroupMetadata, member: ConsumerGroupMember) -> None:
        """A classic member has its assignment."""
        self._cancel(group, member, "sync")
        self.schedule_session(group, member)

    def _cancel(self, group: GroupMetadata, member: ConsumerGroupMember, *kinds: str) -> None:
        for kind in kinds:
            self._timers.cancel(MemberTimer(kind, group.group_id, member.member_id))

    def _schedule(
        self,
        kind: str,
        group: GroupMetadata,
        member: ConsumerGroupMember,
        timeout_ms: int,
        reason: str,
        epoch: int | None = None,
    ) -> None:
        timer = MemberTimer(kind, group.group_id, member.member_id)
        expire = lambda: self._fence(group, member.member_id, reason, epoch)  # noqa: E731
        self._timers.schedule(timer, timeout_ms, expire)
