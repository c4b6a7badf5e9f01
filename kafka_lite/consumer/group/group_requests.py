"""The requests of a group's member, and the meaning of their errors.

Kafka 0.10.2: clients/.../consumer/internals/AbstractCoordinator.java (sendJoinGroupRequest …) · book 5.1.2
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka_lite.clients.client_request import RequestBuilder
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.consumer.generation import Generation
from kafka_lite.consumer.group.group_rebalance_config import GroupRebalanceConfig
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorRequest
from kafka_lite.protocol.messages.api_11_join_group import JoinGroupRequest, JoinGroupRequestProtocol
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest
from kafka_lite.protocol.messages.api_13_leave_group import LeaveGroupRequest, MemberIdentity
from kafka_lite.protocol.messages.api_14_sync_group import SyncGroupRequest, SyncGroupRequestAssignment

FIND_COORDINATOR_LATEST = 3
"""Later versions look up several groups at once."""
JOIN_GROUP_LATEST = 7
SYNC_GROUP_LATEST = 5
HEARTBEAT_LATEST = 4
LEAVE_GROUP_LATEST = 5
LEAVE_GROUP_OF_MANY = 3
"""From this version on a LeaveGroup names several members."""

JOIN_AGAIN = frozenset({
    Errors.UNKNOWN_MEMBER_ID, Errors.ILLEGAL_GENERATION, Errors.REBALANCE_IN_PROGRESS, Errors.MEMBER_ID_REQUIRED,
})  # fmt: skip
"""Errors after which a join is repeated at once."""
FATAL_FOR_HEARTBEATS = frozenset({Errors.FENCED_INSTANCE_ID, Errors.GROUP_AUTHORIZATION_FAILED})
"""Errors after which neither another heartbeat nor another join can succeed."""


def find_coordinator(group_id: str) -> RequestBuilder:
    """Look up the group's coordinator."""
    return RequestBuilder.of(FindCoordinatorRequest(key=group_id, key_type=0), 0, FIND_COORDINATOR_LATEST)


def join_group(
    config: GroupRebalanceConfig, member_id: str, protocol_type: str, protocols: Sequence[JoinGroupRequestProtocol]
) -> RequestBuilder:
    """Join the group. A broker before 2.3 has no static members; for one, the request fails with
    UNSUPPORTED_VERSION."""
    request = JoinGroupRequest(
        group_id=config.group_id,
        session_timeout_ms=config.session_timeout_ms,
        rebalance_timeout_ms=config.rebalance_timeout_ms,
        member_id=member_id,
        group_instance_id=config.group_instance_id,
        protocol_type=protocol_type,
        protocols=list(protocols),
    )
    return RequestBuilder.of(request, 0, JOIN_GROUP_LATEST)


def sync_group(
    config: GroupRebalanceConfig, generation: Generation, protocol_type: str, assignments: Mapping[str, bytes]
) -> RequestBuilder:
    """Ask for this member's assignment. The leader's request brings the assignments of all members."""
    request = SyncGroupRequest(
        group_id=config.group_id,
        generation_id=generation.generation_id,
        member_id=generation.member_id,
        group_instance_id=config.group_instance_id,
        protocol_type=protocol_type,
        protocol_name=generation.protocol_name,
        assignments=[
            SyncGroupRequestAssignment(member_id=member, assignment=assignment)
            for member, assignment in assignments.items()
        ],
    )
    return RequestBuilder.of(request, 0, SYNC_GROUP_LATEST)


def heartbeat(config: GroupRebalanceConfig, generation: Generation) -> RequestBuilder:
    """Keep the session alive, and learn whether the group rebalances."""
    request = HeartbeatRequest(
        group_id=config.group_id,
        generation_id=generation.generation_id,
        member_id=generation.member_id,
        group_instance_id=config.group_instance_id,
    )
    return RequestBuilder.of(request, 0, HEARTBEAT_LATEST)


def leave_group(config: GroupRebalanceConfig, generation: Generation, reason: str) -> RequestBuilder:
    """Leave the group."""

    def build(version: int) -> LeaveGroupRequest:
        if version < LEAVE_GROUP_OF_MANY:
            return LeaveGroupRequest(group_id=config.group_id, member_id=generation.member_id)
        member = MemberIdentity(
            member_id=generation.member_id, group_instance_id=config.group_instance_id, reason=reason
        )
        return LeaveGroupRequest(group_id=config.group_id, members=[member])

    return RequestBuilder.by(LeaveGroupRequest.API_KEY, build, 0, LEAVE_GROUP_LATEST)


def group_error(error: Errors, group_id: str) -> ApiError:
    """The exception for an error of the coordinator, with the name of the group."""
    if error is Errors.FENCED_INSTANCE_ID:
        return error.exception(f"group {group_id}: another consumer with the same group.instance.id has joined")
    return error.exception(f"group {group_id}: {error.message}")
