"""Requests about groups: JoinGroup, SyncGroup, Heartbeat, LeaveGroup, DescribeGroups, ListGroups, DeleteGroups.

Kafka 0.10.2: core/.../server/KafkaApis.scala (handleJoinGroupRequest, ...) · book 5.2.1, 5.2.4
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from kafka_lite.common.api_version import ApiVersion
from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.group_admin import GroupAdmin
from kafka_lite.coordinator.group.group_coordinator import GroupCoordinator, JoiningClient
from kafka_lite.coordinator.group.member_metadata import MAX_INSTANCE_ID, join_error, sync_error
from kafka_lite.coordinator.group.modern.migration.group_requests import GroupRequests
from kafka_lite.network.request import Request
from kafka_lite.protocol.messages import api_11_join_group as join_group
from kafka_lite.protocol.messages import api_12_heartbeat as heartbeat
from kafka_lite.protocol.messages import api_13_leave_group as leave_group
from kafka_lite.protocol.messages import api_14_sync_group as sync_group
from kafka_lite.protocol.messages import api_15_describe_groups as describe_groups
from kafka_lite.protocol.messages import api_16_list_groups as list_groups
from kafka_lite.protocol.messages import api_42_delete_groups as delete_groups
from kafka_lite.server.apis.api_handler import Respond
from kafka_lite.server.apis.metadata_apis import NO_AUTHORIZED_OPERATIONS

FIRST_JOIN_VERSION_WITH_REBALANCE_TIMEOUT = 1
FIRST_JOIN_VERSION_WITH_MEMBER_ID_REQUIRED = 4
FIRST_JOIN_VERSION_WITH_NULLABLE_PROTOCOL = 7
FIRST_JOIN_VERSION_WITH_SKIPPED_ASSIGNMENT = 9
FIRST_LEAVE_VERSION_WITH_MANY_MEMBERS = 3
FIRST_SYNC_VERSION_WITH_PROTOCOL = 5
FIRST_DESCRIBE_VERSION_WITH_ERROR = 6

MAX_PROTOCOLS = 100
"""How many protocols a member may support. Clients have one or two."""
MAX_METADATA_BYTES = 2 * 1024 * 1024
"""How much metadata a member may have for all of its protocols. That of the chosen one has to fit into a record of
``__consumer_offsets``, which has one megabyte by default."""

MAX_METADATA_OF_ALL_BYTES = 64 * 1024 * 1024
"""How much metadata the members of all groups may have, including those that vanished before their sessions ended."""
MUCH_METADATA_BYTES = 16 * 1024
"""Less than this, a member may have in any case."""

GROUP_OPERATIONS = sum(1 << code for code in (3, 6, 8, 10, 11))
"""READ, DELETE, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS: what every client may do with a group if there is no
authorizer."""

DeleteStates = Callable[[Collection[str], Callable[[Mapping[str, Errors]], None]], None]


class GroupApis:
    """Handlers that translate between the wire and the group coordinator. None of them blocks.

    Static members are rejected as long as the cluster has brokers before 2.3: such a broker would take over the group
    without their instance ids and make them dynamic members.
    """

    def __init__(
        self,
        coordinator: GroupCoordinator | GroupRequests,
        admin: GroupAdmin,
        inter_broker_protocol_version: ApiVersion,
        delete_states: DeleteStates = lambda _group_ids, respond: respond({}),
    ) -> None:
        """``delete_states`` deletes the states of share groups, and responds with those that must stay."""
        self._coordinator = coordinator
        self._admin = admin
        self._delete_states = delete_states
        self._static_members_allowed = inter_broker_protocol_version >= ApiVersion.KAFKA_2_3_IV0

    # ── members ───────────────────────────────────────────────────────────────────────────────────────────────────

    def handle_join_group(self, request: Request, body: join_group.JoinGroupRequest, respond: Respond) -> None:
        """Join a group; the response is sent once the generation begins."""
        version = request.header.api_version
        if version < FIRST_JOIN_VERSION_WITH_REBALANCE_TIMEOUT:
            body.rebalance_timeout_ms = body.session_timeout_ms
        client = JoiningClient(
            request.header.client_id or "",
            _client_host(request),
            version >= FIRST_JOIN_VERSION_WITH_MEMBER_ID_REQUIRED,
            version >= FIRST_JOIN_VERSION_WITH_SKIPPED_ASSIGNMENT,
        )

        def send(response: join_group.JoinGroupResponse) -> None:
            if response.protocol_name is None and version < FIRST_JOIN_VERSION_WITH_NULLABLE_PROTOCOL:
                response.protocol_name = ""
            respond(response)

        if self._is_refused(body.group_instance_id):
            send(join_error(body.member_id, Errors.UNSUPPORTED_VERSION))
        elif len(body.group_instance_id or "") > MAX_INSTANCE_ID:
            send(join_error(body.member_id, Errors.INVALID_REQUEST))
        elif (error := self._error_of_size(body)) is not Errors.NONE:
            send(join_error(body.member_id, error))
        else:
            self._coordinator.handle_join_group(body, client, send)

    def _is_refused(self, group_instance_id: str | None) -> bool:
        return group_instance_id is not None and not self._static_members_allowed

    def _error_of_size(self, body: join_group.JoinGroupRequest) -> Errors:
        """Whether a member has more protocols or metadata than a group, or all groups together, may keep."""
        size = sum(len(each.metadata) for each in body.protocols)
        if len(body.protocols) > MAX_PROTOCOLS or size > MAX_METADATA_BYTES:
            return Errors.MESSAGE_TOO_LARGE
        if (
            size >= MUCH_METADATA_BYTES
            and self._admin.metadata_bytes(body.member_id) + size > MAX_METADATA_OF_ALL_BYTES
        ):
            return Errors.GROUP_MAX_SIZE_REACHED
        return Errors.NONE

    def handle_sync_group(self, request: Request, body: sync_group.SyncGroupRequest, respond: Respond) -> None:
        """Request the member's assignment; the response is sent once the leader has sent the assignments."""
        if self._is_refused(body.group_instance_id):
            respond(sync_error(Errors.UNSUPPORTED_VERSION))
        elif request.header.api_version >= FIRST_SYNC_VERSION_WITH_PROTOCOL and not says_protocol(body):
            respond(sync_error(Errors.INCONSISTENT_GROUP_PROTOCOL))
        else:
            self._coordinator.handle_sync_group(body, respond)

    def handle_heartbeat(self, _request: Request, body: heartbeat.HeartbeatRequest, respond: Respond) -> None:
        """Keep a member's session alive."""
        if self._is_refused(body.group_instance_id):
            error = Errors.UNSUPPORTED_VERSION
        else:
            error = self._coordinator.handle_heartbeat(
                body.group_id, body.member_id, body.group_instance_id, body.generation_id
            )
        respond(heartbeat.HeartbeatResponse(error_code=error.code))

    def handle_leave_group(self, request: Request, body: leave_group.LeaveGroupRequest, respond: Respond) -> None:
        """Remove members. Before version 3 it is one member, whose error is that of the whole response."""
        if request.header.api_version >= FIRST_LEAVE_VERSION_WITH_MANY_MEMBERS:
            respond(self._coordinator.handle_leave_group(body.group_id, body.members))
            return
        response = self._coordinator.handle_leave_group(
            body.group_id, [leave_group.MemberIdentity(member_id=body.member_id)]
        )
        error_code = response.members[0].error_code if response.members else response.error_code
        respond(leave_group.LeaveGroupResponse(error_code=error_code))

    # ── administrators ────────────────────────────────────────────────────────────────────────────────────────────

    def handle_describe_groups(
        self, request: Request, body: describe_groups.DescribeGroupsRequest, respond: Respond
    ) -> None:
        """State and members of groups. One that there is not is Dead, and since version 6 an error."""
        knows_error = request.header.api_version >= FIRST_DESCRIBE_VERSION_WITH_ERROR
        groups = [self._admin.handle_describe_group(group_id) for group_id in body.groups]
        for group in groups:
            if not knows_error:
                group.error_message = None
            elif group.error_message is not None:
                group.error_code = Errors.GROUP_ID_NOT_FOUND.code
            group.authorized_operations = (
                GROUP_OPERATIONS
                if body.include_authorized_operations and not group.error_code
                else NO_AUTHORIZED_OPERATIONS
            )
        respond(describe_groups.DescribeGroupsResponse(groups=groups))

    def handle_list_groups(self, _request: Request, body: list_groups.ListGroupsRequest, respond: Respond) -> None:
        """The groups of this broker."""
        respond(self._admin.handle_list_groups(body.states_filter, body.types_filter))

    def handle_delete_groups(
        self, _request: Request, body: delete_groups.DeleteGroupsRequest, respond: Respond
    ) -> None:
        """Delete groups without members: the states of share groups first, wherever they are."""
        names = list(dict.fromkeys(body.groups_names))

        def on_states_deleted(refused: Mapping[str, Errors]) -> None:
            deleted = self._admin.handle_delete_groups([name for name in names if name not in refused])
            results = [
                delete_groups.DeletableGroupResult(group_id=name, error_code={**refused, **deleted}[name].code)
                for name in names
            ]
            respond(delete_groups.DeleteGroupsResponse(results=results))

        self._delete_states(names, on_states_deleted)


def _client_host(request: Request) -> str:
    """The client's address as Java prints one without a host name, for DescribeGroups."""
    return f"/{request.client_address}"


def says_protocol(body: sync_group.SyncGroupRequest) -> bool:
    """Whether a member says which protocol it takes its group to have, which version 5 asks for."""
    return body.protocol_type is not None and body.protocol_name is not None
