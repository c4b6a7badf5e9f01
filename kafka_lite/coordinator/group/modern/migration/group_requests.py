"""Sends each request of a classic member to the coordinator of the kind of group that its group is now.

Kafka 4.1: group-coordinator/.../group/GroupMetadataManager.java (classicGroupJoin, classicGroupSync,
classicGroupHeartbeat, classicGroupLeave) · book 5.2.1
"""

from __future__ import annotations

from collections.abc import Sequence

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.group_coordinator import GroupCoordinator, JoiningClient, leave_response
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.member_metadata import JoinCallback, SyncCallback, join_error
from kafka_lite.coordinator.group.modern.migration.classic_members import ClassicMembers
from kafka_lite.protocol.messages.api_11_join_group import JoinGroupRequest
from kafka_lite.protocol.messages.api_13_leave_group import LeaveGroupResponse, MemberIdentity
from kafka_lite.protocol.messages.api_14_sync_group import SyncGroupRequest


class GroupRequests:
    """JoinGroup, SyncGroup, Heartbeat and LeaveGroup of both kinds of groups.

    The kind is looked at, and the request handled, under one lock of the group: it may change with any heartbeat.
    """

    def __init__(self, classic: GroupCoordinator, modern: ClassicMembers) -> None:
        self._classic = classic
        self._modern = modern
        self._groups = classic.group_manager

    def _is_modern(self, group: GroupMetadata) -> bool:
        return group.has_modern_members and self._classic.check_group(group.group_id) is Errors.NONE

    def handle_join_group(self, request: JoinGroupRequest, client: JoiningClient, respond: JoinCallback) -> None:
        """A client wants to be a member."""
        group = self._groups.get_group(request.group_id)
        if group is None:
            self._classic.handle_join_group(request, client, respond)
            return
        with group.lock:
            if not self._is_modern(group):
                self._classic.handle_join_group(request, client, respond)
                return
            error = self._classic.check_join(request, client)
            if error is not Errors.NONE:
                respond(join_error(request.member_id, error))
            else:
                self._modern.join(group, request, client, respond)

    def handle_sync_group(self, request: SyncGroupRequest, respond: SyncCallback) -> None:
        """A member asks for its assignment."""
        group = self._groups.get_group(request.group_id)
        if group is None:
            self._classic.handle_sync_group(request, respond)
            return
        with group.lock:
            if self._is_modern(group):
                self._modern.sync(group, request, respond)
            else:
                self._classic.handle_sync_group(request, respond)

    def handle_heartbeat(
        self, group_id: str, member_id: str, group_instance_id: str | None, generation_id: int
    ) -> Errors:
        """Keep the member's session alive. Returns REBALANCE_IN_PROGRESS if it must join again."""
        group = self._groups.get_group(group_id)
        if group is None:
            return self._classic.handle_heartbeat(group_id, member_id, group_instance_id, generation_id)
        with group.lock:
            if self._is_modern(group):
                return self._modern.heartbeat(group, member_id, group_instance_id, generation_id)
            return self._classic.handle_heartbeat(group_id, member_id, group_instance_id, generation_id)

    def handle_leave_group(self, group_id: str, leaving: Sequence[MemberIdentity]) -> LeaveGroupResponse:
        """Remove members."""
        group = self._groups.get_group(group_id)
        if group is None:
            return self._classic.handle_leave_group(group_id, leaving)
        with group.lock:
            if self._is_modern(group):
                return leave_response(leaving, self._modern.leave(group, leaving))
            return self._classic.handle_leave_group(group_id, leaving)
