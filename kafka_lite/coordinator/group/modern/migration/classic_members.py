"""Serves members of a group of KIP-848 that still send JoinGroup, SyncGroup, Heartbeat and LeaveGroup.

Kafka 4.1: group-coordinator/.../group/GroupMetadataManager.java (classicGroupJoinToConsumerGroup,
classicGroupSyncToConsumerGroup, classicGroupHeartbeatToConsumerGroup, classicGroupLeaveToConsumerGroup)
· book 5.2.1, 5.4.3
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.ids.uuids import encode_uuid, random_uuid
from kafka_lite.coordinator.group.group_coordinator import JoiningClient
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.member_metadata import (
    UNKNOWN_MEMBER_ID,
    JoinCallback,
    SyncCallback,
    join_error,
    sync_error,
)
from kafka_lite.coordinator.group.modern.consumer_group import CONSUMER_PROTOCOL_TYPE, ConsumerGroup
from kafka_lite.coordinator.group.modern.consumer_group_coordinator import ConsumerGroupCoordinator
from kafka_lite.coordinator.group.modern.consumer_group_heartbeat import (
    checked_static_member,
    replaced_static_member,
)
from kafka_lite.coordinator.group.modern.consumer_group_member import ClassicMember, ConsumerGroupMember
from kafka_lite.coordinator.group.modern.group_change import GroupChange
from kafka_lite.coordinator.group.modern.member_state import MemberState
from kafka_lite.coordinator.group.modern.migration.embedded_protocol import read_subscription, write_assignment
from kafka_lite.protocol.messages.api_11_join_group import JoinGroupRequest, JoinGroupResponse
from kafka_lite.protocol.messages.api_13_leave_group import MemberIdentity
from kafka_lite.protocol.messages.api_14_sync_group import SyncGroupRequest, SyncGroupResponse
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.protocol.wire_types import MAX_STRING_BYTES

logger = logging.getLogger(__name__)


class ClassicMembers:
    """A classic member takes its epoch for the generation, and never leads: the coordinator assigns.

    ::

        Heartbeat   REBALANCE_IN_PROGRESS, if the member has a step to take
        JoinGroup   takes it, with the partitions that the subscription says it owns; nobody is waited for
        SyncGroup   the partitions that the member has now

    Callers hold the lock of the group, which has members.
    """

    def __init__(self, coordinator: ConsumerGroupCoordinator) -> None:
        self._coordinator = coordinator

    # ── JoinGroup ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def join(
        self, group: GroupMetadata, request: JoinGroupRequest, client: JoiningClient, respond: JoinCallback
    ) -> None:
        """A classic member joins, or joins again. Calls ``respond`` once the log has its new state."""
        assert group.modern is not None
        is_unknown = request.member_id == UNKNOWN_MEMBER_ID
        member_id = encode_uuid(random_uuid()) if is_unknown else request.member_id
        try:
            self._check_join(group.modern, request, member_id)
            if is_unknown and request.group_instance_id is None and client.require_known_member_id:
                respond(join_error(member_id, Errors.MEMBER_ID_REQUIRED))
                return
            self._join(group, request, client, member_id, respond)
        except ApiError as failure:
            respond(join_error(request.member_id, failure.error))

    def _check_join(self, group: ConsumerGroup, request: JoinGroupRequest, member_id: str) -> None:
        if len(group.members) >= self._coordinator.config.max_size and member_id not in group.members:
            raise Errors.GROUP_MAX_SIZE_REACHED.exception()
        if len(member_id.encode()) > MAX_STRING_BYTES:
            raise Errors.INVALID_REQUEST.exception()  # it fits neither into the other responses nor into the log
        if not group.supports_protocols(request.protocol_type, [each.name for each in request.protocols]):
            raise Errors.INCONSISTENT_GROUP_PROTOCOL.exception()

    def _join(
        self,
        group: GroupMetadata,
        request: JoinGroupRequest,
        client: JoiningClient,
        member_id: str,
        respond: JoinCallback,
    ) -> None:
        assert group.modern is not None
        decision = self._coordinator.decision(group.group_id)
        change, epoch_before = GroupChange(group.modern), group.modern.group_epoch
        replaced = group.modern.static_member(request.group_instance_id)
        try:
            subscription = read_subscription(bytes(request.protocols[0].metadata), decision.topics)
            before = _known_member(change, request, member_id)
            updated = _updated(before, request, client, subscription.topics, subscription.rack_id)
            member = decision.advance(change, before, updated, subscription.owned)
            if (
                replaced is not None
                and replaced.classic is None
                and self._coordinator.migration.can_downgrade(change.group, ())
            ):
                self._coordinator.migration.downgrade(group, change, (), decision.topics)
        except SchemaError as failure:
            change.undo()
            raise Errors.INCONSISTENT_GROUP_PROTOCOL.exception(str(failure)) from failure
        except ApiError:
            change.undo()
            raise
        if group.modern is not None:
            self._coordinator.deadlines.on_joined(group, member)
        if change.group.group_epoch > epoch_before:
            self._coordinator.count_rebalance()
        response = _join_response(member)
        self._coordinator.write(
            group,
            change,
            lambda error: respond(response if error is Errors.NONE else join_error(request.member_id, error)),
        )

    # ── SyncGroup ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def sync(self, group: GroupMetadata, request: SyncGroupRequest, respond: SyncCallback) -> None:
        """A classic member asks for its partitions, whatever it brings."""
        assert group.modern is not None
        try:
            member, classic = _checked_member(group.modern, request.member_id, request.group_instance_id)
            _check_generation(member, request.generation_id)
            for asked, known in (
                (request.protocol_type, CONSUMER_PROTOCOL_TYPE),
                (request.protocol_name, classic.protocol_name),
            ):
                if asked is not None and asked != known:
                    raise Errors.INCONSISTENT_GROUP_PROTOCOL.exception()
            # A member that has to give up partitions has joined already, and is told what it keeps.
            if group.modern.group_epoch > member.member_epoch and member.state is not MemberState.UNREVOKED_PARTITIONS:
                self._coordinator.deadlines.must_join(group, member)
                raise Errors.REBALANCE_IN_PROGRESS.exception()
            topics = self._coordinator.decision(group.group_id).topics
            response = SyncGroupResponse(
                protocol_type=request.protocol_type,
                protocol_name=request.protocol_name,
                assignment=write_assignment(member.assigned, classic.metadata, topics),
            )
        except (ApiError, SchemaError) as failure:
            error = failure.error if isinstance(failure, ApiError) else Errors.INCONSISTENT_GROUP_PROTOCOL
            respond(sync_error(error))
            return
        self._coordinator.deadlines.on_synced(group, member)
        self._coordinator.write(
            group,
            GroupChange(group.modern),
            lambda error: respond(response if error is Errors.NONE else sync_error(error)),
        )

    # ── Heartbeat ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def heartbeat(self, group: GroupMetadata, member_id: str, instance_id: str | None, generation_id: int) -> Errors:
        """Keep the member's session alive. Returns REBALANCE_IN_PROGRESS if it must join again."""
        assert group.modern is not None
        try:
            member, _ = _checked_member(group.modern, member_id, instance_id)
            _check_generation(member, generation_id)
        except ApiError as failure:
            return failure.error
        self._coordinator.deadlines.schedule_session(group, member)
        if not group.modern.must_join_again(member):
            return Errors.NONE
        self._coordinator.deadlines.must_join(group, member)
        return Errors.REBALANCE_IN_PROGRESS

    # ── LeaveGroup ────────────────────────────────────────────────────────────────────────────────────────────────────

    def leave(self, group: GroupMetadata, leaving: Sequence[MemberIdentity]) -> list[Errors]:
        """Remove classic members at their own request, or static ones at an administrator's. One error for each."""
        assert group.modern is not None
        errors: list[Errors] = []
        gone: list[str] = []
        for identity in leaving:
            try:
                member, _ = _leaving_member(group.modern, identity)
            except ApiError as failure:
                errors.append(failure.error)
                continue
            errors.append(Errors.NONE)
            if member.member_id not in gone:
                gone.append(member.member_id)
                logger.info("Classic member %s leaves group %s", member.member_id, group.group_id)
        if gone:
            self._coordinator.remove(group, gone)
        return errors


def _known_member(change: GroupChange, request: JoinGroupRequest, member_id: str) -> ConsumerGroupMember:
    """The member as it was, or a new one. A static member without an id takes the place of its predecessor."""
    group = change.group
    existing = group.static_member(request.group_instance_id)
    if existing is not None:
        if request.member_id == UNKNOWN_MEMBER_ID:
            return replaced_static_member(change, existing, member_id)
        return checked_static_member(group, member_id, request.group_instance_id)
    if request.group_instance_id is not None and request.member_id != UNKNOWN_MEMBER_ID:
        raise Errors.UNKNOWN_MEMBER_ID.exception()
    logger.info("Member %s joins consumer group %s using the classic protocol", member_id, group.group_id)
    return group.members.get(member_id) or ConsumerGroupMember(member_id)


def _updated(
    member: ConsumerGroupMember,
    request: JoinGroupRequest,
    client: JoiningClient,
    topics: frozenset[str],
    rack_id: str | None,
) -> ConsumerGroupMember:
    protocols = {each.name: bytes(each.metadata) for each in reversed(request.protocols)}
    return replace(
        member,
        instance_id=request.group_instance_id or member.instance_id,
        rack_id=rack_id or member.rack_id,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        client_id=client.client_id,
        client_host=client.client_host,
        subscribed_topic_names=topics,
        subscribed_topic_regex=None,
        server_assignor=None,
        classic=ClassicMember(request.session_timeout_ms, tuple(reversed(protocols.items()))),
    )


def _join_response(member: ConsumerGroupMember) -> JoinGroupResponse:
    assert member.classic is not None
    return JoinGroupResponse(
        generation_id=member.member_epoch,
        protocol_type=CONSUMER_PROTOCOL_TYPE,
        protocol_name=member.classic.protocol_name,
        leader="",
        member_id=member.member_id,
        members=[],
    )


def _checked_member(
    group: ConsumerGroup, member_id: str, instance_id: str | None
) -> tuple[ConsumerGroupMember, ClassicMember]:
    """The classic member. Raises UNKNOWN_MEMBER_ID, or FENCED_INSTANCE_ID."""
    member = group.member(member_id) if instance_id is None else checked_static_member(group, member_id, instance_id)
    if member.classic is None:
        raise Errors.UNKNOWN_MEMBER_ID.exception(f"Member {member_id} does not use the classic protocol.")
    return member, member.classic


def _leaving_member(group: ConsumerGroup, identity: MemberIdentity) -> tuple[ConsumerGroupMember, ClassicMember]:
    member_id, instance_id = identity.member_id, identity.group_instance_id
    if instance_id is not None and member_id == UNKNOWN_MEMBER_ID:
        static = group.static_member(instance_id)
        member_id = UNKNOWN_MEMBER_ID if static is None else static.member_id
    return _checked_member(group, member_id, instance_id)


def _check_generation(member: ConsumerGroupMember, generation_id: int) -> None:
    if member.member_epoch != generation_id:
        raise Errors.ILLEGAL_GENERATION.exception(
            f"The request generation id {generation_id} is not equal to the member epoch {member.member_epoch} of "
            f"member {member.member_id}."
        )
