"""The group coordinator: serves JoinGroup, SyncGroup, Heartbeat and LeaveGroup.

Kafka 0.10.2: core/.../coordinator/GroupCoordinator.scala
· book 5.2.1, 5.2.3, 5.3.4, 5.3.5, 5.4.3, 5.4.4, 5.4.5
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.purgatory.delayed_operation import DelayedOperationPurgatory
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group.delayed_heartbeat import DelayedHeartbeat
from kafka_lite.coordinator.group.delayed_join import DelayedRebalance
from kafka_lite.coordinator.group.group_config import GroupConfig
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.group_metadata_manager import GroupMetadataManager
from kafka_lite.coordinator.group.group_rebalancer import GroupRebalancer, current_assignment, current_generation
from kafka_lite.coordinator.group.group_state import GroupState
from kafka_lite.coordinator.group.member_metadata import (
    UNKNOWN_MEMBER_ID,
    JoinCallback,
    MemberMetadata,
    Protocols,
    SyncCallback,
    join_error,
    sync_error,
)
from kafka_lite.coordinator.group.offset_and_metadata import OffsetAndMetadata
from kafka_lite.protocol.messages.api_11_join_group import JoinGroupRequest, JoinGroupResponse
from kafka_lite.protocol.messages.api_13_leave_group import LeaveGroupResponse, MemberIdentity, MemberResponse
from kafka_lite.protocol.messages.api_14_sync_group import SyncGroupRequest
from kafka_lite.protocol.wire_types import MAX_STRING_BYTES

logger = logging.getLogger(__name__)

NO_REASON = "not provided"
Offsets = Mapping[TopicPartition, OffsetAndMetadata]


@dataclass(frozen=True, slots=True)
class JoiningClient:
    """The client that sends JoinGroup, as known from the connection and the request's header."""

    client_id: str
    client_host: str
    """Address as Java prints it: ``/127.0.0.1``."""
    require_known_member_id: bool
    """Whether the client can be given a member id to join with in a second request (JoinGroup v4, KIP-394)."""
    support_skipping_assignment: bool
    """Whether a static leader that comes back can be told to skip the assignment (JoinGroup v9)."""


class GroupCoordinator:
    """Decides what happens to a request by the state of its group. Rebalances themselves are in GroupRebalancer.

    Every request passes three checks. The first concerns the *coordinator*: is it running, is this its group, has it
    read the group's log (``check_group``)? The second concerns the *member*: does it exist, and is it in this
    generation (``GroupMetadata.checked_member``)? The third is the group's state. A request that fails a check gets an
    error that tells the client what to do: look up the coordinator, join without the old id, join again, or wait.

    The responses to JoinGroup and SyncGroup wait for the other members. Until then, ``respond`` is stored in the
    member.
    """

    def __init__(
        self,
        config: GroupConfig,
        group_manager: GroupMetadataManager,
        heartbeat_purgatory: DelayedOperationPurgatory[DelayedHeartbeat],
        rebalance_purgatory: DelayedOperationPurgatory[DelayedRebalance],
    ) -> None:
        self.config = config
        self.group_manager = group_manager
        self.heartbeat_purgatory = heartbeat_purgatory
        self.rebalance_purgatory = rebalance_purgatory
        self.rebalancer = GroupRebalancer(config, group_manager, heartbeat_purgatory, rebalance_purgatory)
        self._is_active = False

    def startup(self, offsets_topic_partitions: int, *, expire_offsets: bool = True) -> None:
        """Start to serve requests, for each partition once it is loaded."""
        self.group_manager.startup(offsets_topic_partitions, expire=expire_offsets)
        self._is_active = True
        logger.info("The group coordinator has started")

    def shutdown(self) -> None:
        """Stop, and respond to everything with COORDINATOR_NOT_AVAILABLE."""
        self._is_active = False
        self.group_manager.shutdown()
        self.heartbeat_purgatory.shutdown()
        self.rebalance_purgatory.shutdown()

    # ── is this the coordinator? ──────────────────────────────────────────────────────────────────────────────────

    @property
    def is_active(self) -> bool:
        """Whether the coordinator has started and has not been stopped."""
        return self._is_active

    def check_group(self, group_id: str, *, may_be_nameless: bool = False) -> Errors:
        """Why this coordinator cannot serve the group; NONE if it can.

        The group with the empty name only stores offsets, for old consumers.
        """
        if not group_id and not may_be_nameless:
            return Errors.INVALID_GROUP_ID
        if not self._is_active:
            return Errors.COORDINATOR_NOT_AVAILABLE
        if self.group_manager.is_group_loading(group_id):
            return Errors.COORDINATOR_LOAD_IN_PROGRESS
        if not self.group_manager.is_group_local(group_id):
            return Errors.NOT_COORDINATOR
        return Errors.NONE

    # ── JoinGroup ─────────────────────────────────────────────────────────────────────────────────────────────────

    def handle_join_group(self, request: JoinGroupRequest, client: JoiningClient, respond: JoinCallback) -> None:
        """A client wants to be in the next generation."""
        error = self.check_join(request, client)
        if error is not Errors.NONE:
            respond(join_error(request.member_id, error))
            return
        is_new = request.member_id == UNKNOWN_MEMBER_ID
        manager = self.group_manager
        group = manager.get_or_create_group(request.group_id) if is_new else manager.get_group(request.group_id)
        if group is None:
            respond(join_error(request.member_id, Errors.UNKNOWN_MEMBER_ID))
            return
        with group.lock:
            try:
                self._join(group, request, client, respond)
            except ApiError as failure:
                respond(join_error(request.member_id, failure.error))
            if group.is_in(GroupState.PREPARING_REBALANCE):
                self.rebalancer.check_join(group)

    def check_join(self, request: JoinGroupRequest, client: JoiningClient) -> Errors:
        """Why any group refuses this request; NONE if it does not."""
        error = self.check_group(request.group_id)
        if error is not Errors.NONE:
            return error
        longest_id = GroupMetadata.generate_member_id(client.client_id, request.group_instance_id)
        names = (request.group_id, longest_id, request.protocol_type, *(p.name for p in request.protocols))
        if any(len(name.encode()) > MAX_STRING_BYTES for name in names):
            return Errors.INVALID_REQUEST  # the name fits neither into the other responses nor into the log
        shortest_ms, longest_ms = self.config.min_session_timeout_ms, self.config.max_session_timeout_ms
        in_limits = shortest_ms <= request.session_timeout_ms <= longest_ms
        return Errors.NONE if in_limits else Errors.INVALID_SESSION_TIMEOUT

    def _join(
        self, group: GroupMetadata, request: JoinGroupRequest, client: JoiningClient, respond: JoinCallback
    ) -> None:
        """Join, or raise ApiError."""
        if not self._has_room_for(group, request.member_id):
            group.remove(request.member_id)
            respond(join_error(UNKNOWN_MEMBER_ID, Errors.GROUP_MAX_SIZE_REACHED))
        elif group.is_in(GroupState.DEAD):
            # Another thread has just removed the group from the cache.
            raise Errors.COORDINATOR_NOT_AVAILABLE.exception()
        elif not self.rebalancer.becomes_classic(group) or not _supports_protocols(group, request):
            raise Errors.INCONSISTENT_GROUP_PROTOCOL.exception()
        elif request.member_id == UNKNOWN_MEMBER_ID:
            self._join_as_new_member(group, request, client, respond)
        elif request.member_id in group.pending_members:
            if request.group_instance_id is not None:  # only dynamic members are given an id before they join
                raise Errors.INVALID_REQUEST.exception()
            self._add_member(group, request.member_id, request, client, respond)
        else:
            self._join_as_current_member(group, request, respond)

    def _has_room_for(self, group: GroupMetadata, member_id: str) -> bool:
        """Apply group.max.size: members stay; while a rebalance is prepared, only those that have joined count."""
        max_size = self.config.max_size
        if group.is_in(GroupState.EMPTY, GroupState.DEAD):
            return True
        member = group.members.get(member_id)
        if group.is_in(GroupState.PREPARING_REBALANCE):
            return (member is not None and member.is_awaiting_join) or group.num_awaiting_join < max_size
        return member is not None or len(group.members) < max_size

    def _join_as_new_member(
        self, group: GroupMetadata, request: JoinGroupRequest, client: JoiningClient, respond: JoinCallback
    ) -> None:
        member_id = group.generate_member_id(client.client_id, request.group_instance_id)
        instance_id = request.group_instance_id
        old_member_id = None if instance_id is None else group.static_member_id(instance_id)
        if old_member_id is not None:
            logger.info("Static member %s of group %s is back as %s", old_member_id, group.group_id, member_id)
            self._replace_static_member(group, old_member_id, member_id, request, client, respond)
        elif instance_id is None and client.require_known_member_id:
            # A client whose connection breaks before the response joins again, and would leave a dead member behind
            # each time. So it is given an id first, and becomes a member only when it joins with that id.
            group.pending_members.add(member_id)
            self.rebalancer.add_pending_member_expiration(group, member_id, request.session_timeout_ms)
            respond(join_error(member_id, Errors.MEMBER_ID_REQUIRED))
        else:
            self._add_member(group, member_id, request, client, respond)

    def _add_member(
        self,
        group: GroupMetadata,
        member_id: str,
        request: JoinGroupRequest,
        client: JoiningClient,
        respond: JoinCallback,
    ) -> None:
        member = MemberMetadata(
            member_id,
            request.group_instance_id,
            client.client_id,
            client.client_host,
            request.rebalance_timeout_ms,
            request.session_timeout_ms,
            request.protocol_type,
            _protocols(request),
        )
        self.rebalancer.add_member_and_rebalance(group, member, respond, request.reason or NO_REASON)

    def _replace_static_member(
        self,
        group: GroupMetadata,
        old_member_id: str,
        new_member_id: str,
        request: JoinGroupRequest,
        client: JoiningClient,
        respond: JoinCallback,
    ) -> None:
        """A static member was restarted: it keeps its assignment, without a rebalance if the group was stable."""
        old_leader = group.leader_id or ""
        member = group.replace_static_member(request.group_instance_id or "", old_member_id, new_member_id)
        group.update_member(
            member, _protocols(request), request.rebalance_timeout_ms, request.session_timeout_ms, respond
        )
        self.rebalancer.complete_heartbeat(group, old_member_id)
        self.rebalancer.schedule_next_heartbeat_expiration(group, member)
        reason = f"Static member {new_member_id} is back; client reason: {request.reason or NO_REASON}"
        if group.is_in(GroupState.AWAITING_SYNC):
            self.rebalancer.prepare_rebalance(group, reason)
        elif group.is_in(GroupState.STABLE):
            if group.select_protocol() != group.protocol_name:
                self.rebalancer.maybe_prepare_rebalance(group, reason)
            else:
                self._store_replaced_member(group, member, old_leader, client.support_skipping_assignment)

    def _store_replaced_member(
        self, group: GroupMetadata, member: MemberMetadata, old_leader: str, can_skip_assignment: bool
    ) -> None:
        """Store the new member id, then respond, so that the member syncs and gets its assignment.

        A leader that comes back would compute an assignment and so cause a rebalance. A client that knows
        ``skip_assignment`` is told not to; an older one is told that its former member id leads.
        """
        assignment = {other.member_id: other.assignment for other in group.members.values()}

        def on_stored(error: Errors) -> None:
            if not group.is_in(GroupState.STABLE) or group.members.get(member.member_id) is not member:
                return  # it joins the next generation with the others, was replaced again, or is gone
            if error is not Errors.NONE:
                logger.warning("Failed to persist static member %s: %s", member, error.name)
                group.invoke_join_callback(member, join_error(UNKNOWN_MEMBER_ID, error))
            else:
                group.invoke_join_callback(
                    member, self._replaced_member_response(group, member, old_leader, can_skip_assignment)
                )
            self.rebalancer.schedule_next_heartbeat_expiration(group, member)

        self.group_manager.store_group(group, assignment, on_stored)

    @staticmethod
    def _replaced_member_response(
        group: GroupMetadata, member: MemberMetadata, old_leader: str, can_skip_assignment: bool
    ) -> JoinGroupResponse:
        leads = group.is_leader(member.member_id)
        response = current_generation(group, member.member_id, skip_assignment=can_skip_assignment and leads)
        if not can_skip_assignment:
            response.leader, response.members = old_leader, []
        return response

    def _join_as_current_member(self, group: GroupMetadata, request: JoinGroupRequest, respond: JoinCallback) -> None:
        member = group.checked_member(request.member_id, request.group_instance_id)
        unchanged = member.matches(_protocols(request))
        # A follower that joins again without a change, and a member whose response was lost, get the current
        # generation. A leader that joins again has seen its topics change, which concerns the whole group.
        is_lost_response = group.is_in(GroupState.AWAITING_SYNC) and unchanged
        is_same_follower = group.is_in(GroupState.STABLE) and unchanged and not group.is_leader(member.member_id)
        if is_lost_response or is_same_follower:
            respond(current_generation(group, member.member_id))
            return
        if member.is_awaiting_join:
            group.invoke_join_callback(member, join_error(member.member_id, Errors.REBALANCE_IN_PROGRESS))
        group.update_member(
            member, _protocols(request), request.rebalance_timeout_ms, request.session_timeout_ms, respond
        )
        reason = f"Member {member.member_id} joins again; client reason: {request.reason or NO_REASON}"
        self.rebalancer.maybe_prepare_rebalance(group, reason)

    # ── SyncGroup ─────────────────────────────────────────────────────────────────────────────────────────────────

    def handle_sync_group(self, request: SyncGroupRequest, respond: SyncCallback) -> None:
        """A member asks for its assignment; the leader's request brings everybody's."""
        error = self.check_group(request.group_id)
        if error is Errors.COORDINATOR_LOAD_IN_PROGRESS:
            # The state of the rebalance is lost with the old coordinator, so the members must join again.
            error = Errors.REBALANCE_IN_PROGRESS
        group = self.group_manager.get_group(request.group_id)
        if error is not Errors.NONE or group is None:
            respond(sync_error(Errors.UNKNOWN_MEMBER_ID if error is Errors.NONE else error))
            return
        with group.lock:
            try:
                self._sync(group, request, respond)
            except ApiError as failure:
                respond(sync_error(failure.error))

    def _sync(self, group: GroupMetadata, request: SyncGroupRequest, respond: SyncCallback) -> None:
        if group.is_in(GroupState.DEAD):
            raise Errors.COORDINATOR_NOT_AVAILABLE.exception()
        member = group.checked_member(request.member_id, request.group_instance_id, request.generation_id)
        for asked, actual in (
            (request.protocol_type, group.protocol_type),
            (request.protocol_name, group.protocol_name),
        ):
            if asked is not None and asked != actual:
                raise Errors.INCONSISTENT_GROUP_PROTOCOL.exception()
        if group.is_in(GroupState.PREPARING_REBALANCE):
            raise Errors.REBALANCE_IN_PROGRESS.exception()
        if group.is_in(GroupState.AWAITING_SYNC):
            group.invoke_sync_callback(member, sync_error(Errors.REBALANCE_IN_PROGRESS))
            member.awaiting_sync_callback = respond
            self.rebalancer.remove_pending_sync_member(group, member.member_id)
            if group.is_leader(member.member_id):
                self._store_assignment(group, {a.member_id: bytes(a.assignment) for a in request.assignments})
        else:
            self.rebalancer.remove_pending_sync_member(group, member.member_id)
            respond(current_assignment(group, member))
            self.rebalancer.schedule_next_heartbeat_expiration(group, member)

    def _store_assignment(self, group: GroupMetadata, brought: Mapping[str, bytes]) -> None:
        """Store the leader's assignment, then respond to every parked SyncGroup."""
        generation_id = group.generation_id
        missing = group.members.keys() - brought.keys()
        if missing:
            logger.warning("Setting empty assignments for members %s of %s", sorted(missing), group.group_id)
        assignment = {member_id: brought.get(member_id, b"") for member_id in group.members}

        def on_stored(error: Errors) -> None:
            # A member may have joined since, so that this generation is over.
            if not group.is_in(GroupState.AWAITING_SYNC) or group.generation_id != generation_id:
                return
            if error is Errors.NONE:
                self.rebalancer.set_and_propagate_assignment(group, assignment)
                group.transition_to(GroupState.STABLE)
            else:
                self.rebalancer.reset_and_propagate_assignment_error(group, error)
                self.rebalancer.maybe_prepare_rebalance(group, f"Error {error.name} when storing group assignment")

        self.group_manager.store_group(group, assignment, on_stored)
        self.group_manager.metrics.rebalanced()

    # ── Heartbeat ─────────────────────────────────────────────────────────────────────────────────────────────────

    def handle_heartbeat(
        self, group_id: str, member_id: str, group_instance_id: str | None, generation_id: int
    ) -> Errors:
        """Keep the member's session alive. Returns REBALANCE_IN_PROGRESS if it must join again."""
        error = self.check_group(group_id)
        if error is not Errors.NONE:
            # The previous coordinator cannot be asked, so the member is taken to be alive until the log is read.
            return Errors.NONE if error is Errors.COORDINATOR_LOAD_IN_PROGRESS else error
        group = self.group_manager.get_group(group_id)
        if group is None:
            return Errors.UNKNOWN_MEMBER_ID
        with group.lock:
            if group.is_in(GroupState.DEAD):
                return Errors.COORDINATOR_NOT_AVAILABLE
            try:
                member = group.checked_member(member_id, group_instance_id, generation_id)
            except ApiError as failure:
                return failure.error
            self.rebalancer.schedule_next_heartbeat_expiration(group, member)
            is_preparing = group.is_in(GroupState.PREPARING_REBALANCE)
            return Errors.REBALANCE_IN_PROGRESS if is_preparing else Errors.NONE

    # ── LeaveGroup ────────────────────────────────────────────────────────────────────────────────────────────────

    def handle_leave_group(self, group_id: str, leaving: Sequence[MemberIdentity]) -> LeaveGroupResponse:
        """Remove members at their own request, or static members by instance id at an administrator's."""
        error = self.check_group(group_id)
        if error is not Errors.NONE:
            return LeaveGroupResponse(error_code=error.code)
        group = self.group_manager.get_group(group_id)
        if group is None:
            return leave_response(leaving, [Errors.UNKNOWN_MEMBER_ID] * len(leaving))
        with group.lock:
            if group.is_in(GroupState.DEAD):
                return LeaveGroupResponse(error_code=Errors.COORDINATOR_NOT_AVAILABLE.code)
            return leave_response(leaving, [self._leave(group, identity) for identity in leaving])

    def _leave(self, group: GroupMetadata, identity: MemberIdentity) -> Errors:
        member_id, instance_id = identity.member_id, identity.group_instance_id
        if member_id in group.pending_members:
            self.rebalancer.remove_pending_member_and_update_group(group, member_id)
            self.rebalancer.complete_heartbeat(group, member_id)
            return Errors.NONE
        if member_id == UNKNOWN_MEMBER_ID and instance_id is not None:
            member_id = group.static_member_id(instance_id) or UNKNOWN_MEMBER_ID
        try:
            member = group.checked_member(member_id, instance_id)
        except ApiError as failure:
            return Errors.UNKNOWN_MEMBER_ID if member_id == UNKNOWN_MEMBER_ID else failure.error
        reason = f"Removing member {member_id} on LeaveGroup; client reason: {identity.reason or NO_REASON}"
        self.rebalancer.remove_member_and_update_group(group, member, reason)
        self.rebalancer.complete_heartbeat(group, member_id)
        return Errors.NONE

    # ── leadership of the offsets partitions ──────────────────────────────────────────────────────────────────────

    def on_election(self, offsets_partition: int, coordinator_epoch: int) -> None:
        """This broker leads a partition of ``__consumer_offsets`` (0.10.2: handleGroupImmigration)."""
        logger.info("Elected as the group coordinator for partition %d", offsets_partition)
        self.group_manager.schedule_load(offsets_partition, coordinator_epoch, self.rebalancer.on_group_loaded)

    def on_resignation(self, offsets_partition: int, coordinator_epoch: int | None) -> None:
        """This broker does not, or no longer, lead the partition (0.10.2: handleGroupEmigration)."""
        logger.info("Resigned as the group coordinator for partition %d", offsets_partition)
        self.group_manager.schedule_unload(offsets_partition, coordinator_epoch, self.rebalancer.on_group_unloaded)


def _supports_protocols(group: GroupMetadata, request: JoinGroupRequest) -> bool:
    return group.supports_protocols(request.protocol_type, [protocol.name for protocol in request.protocols])


def _protocols(request: JoinGroupRequest) -> Protocols:
    """Name and metadata of each protocol. A name that is listed twice counts once, or one member would count as two."""
    protocols: dict[str, bytes] = {}
    for protocol in request.protocols:
        protocols.setdefault(protocol.name, bytes(protocol.metadata))
    return list(protocols.items())


def leave_response(leaving: Sequence[MemberIdentity], errors: Sequence[Errors]) -> LeaveGroupResponse:
    """The response with one error for each member."""
    members = [
        MemberResponse(member_id=m.member_id, group_instance_id=m.group_instance_id, error_code=error.code)
        for m, error in zip(leaving, errors, strict=True)
    ]
    return LeaveGroupResponse(members=members)
