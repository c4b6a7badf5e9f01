"""Administration of groups: list, describe and delete them.

Kafka 0.10.2: core/.../coordinator/GroupCoordinator.scala (handleListGroups, handleDescribeGroup);
handleDeleteGroups: 1.1 · book 5.2.2
"""

from __future__ import annotations

import logging
from collections.abc import Collection

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.group_coordinator import GroupCoordinator
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.group_state import GroupState
from kafka_lite.coordinator.group.member_metadata import MemberMetadata
from kafka_lite.coordinator.group.modern.consumer_group import CONSUMER_PROTOCOL_TYPE
from kafka_lite.coordinator.group.modern.share.share_group import SHARE_PROTOCOL_TYPE
from kafka_lite.coordinator.group.modern.share.share_group_state import ShareGroupState
from kafka_lite.protocol.messages.api_15_describe_groups import DescribedGroup, DescribedGroupMember
from kafka_lite.protocol.messages.api_16_list_groups import ListedGroup, ListGroupsResponse

logger = logging.getLogger(__name__)

CLASSIC_GROUP, CONSUMER_GROUP, SHARE_GROUP = "classic", "consumer", "share"
"""The types of groups: with a leader that assigns, with an assignor in the coordinator (KIP-848), or with members that
share partitions (KIP-932)."""


class GroupAdmin:
    """Serves the requests of administrators about groups."""

    def __init__(self, coordinator: GroupCoordinator) -> None:
        self._coordinator = coordinator
        self._groups = coordinator.group_manager

    def metadata_bytes(self, but_of: str) -> int:
        """The metadata that the members of all groups have joined with, without those of one member id."""
        return sum(
            member.metadata_bytes
            for group in self._groups.current_groups
            for member in list(group.members.values())
            if member.member_id != but_of
        )

    def handle_list_groups(self, states: Collection[str], types: Collection[str]) -> ListGroupsResponse:
        """The groups of this broker, restricted to the given states and types if there are any.

        While a partition is loading the list is incomplete, and the response says so by an error code.
        """
        if not self._coordinator.is_active:
            return ListGroupsResponse(error_code=Errors.COORDINATOR_NOT_AVAILABLE.code)
        error = Errors.COORDINATOR_LOAD_IN_PROGRESS if self._groups.is_loading else Errors.NONE
        wanted_states = {state.lower() for state in states}
        wanted_types = {group_type.lower() for group_type in types}
        groups = [
            group
            for group in map(_listed, self._groups.current_groups)
            if (not wanted_types or group.group_type in wanted_types)
            and (not wanted_states or group.group_state.lower() in wanted_states)
        ]
        return ListGroupsResponse(error_code=error.code, groups=groups)

    def handle_describe_group(self, group_id: str) -> DescribedGroup:
        """State and members of a group. An unknown group is Dead, and has an error message, but no error."""
        error = self._coordinator.check_group(group_id, may_be_nameless=True)
        if error is not Errors.NONE:
            return DescribedGroup(group_id=group_id, error_code=error.code)
        group = self._groups.get_group(group_id)
        if group is None or group.modern is not None or group.share is not None:
            reason = f"Group {group_id} {'not found' if group is None else 'is not a classic group'}."
            return DescribedGroup(group_id=group_id, group_state=GroupState.DEAD.value, error_message=reason)
        with group.lock:
            return _described(group)

    def handle_delete_groups(self, group_ids: Collection[str]) -> dict[str, Errors]:
        """Delete groups without members, with their offsets. A share group's states must have been deleted before."""
        return {group_id: self._delete_group(group_id) for group_id in group_ids}

    def _delete_group(self, group_id: str) -> Errors:
        error = self._coordinator.check_group(group_id, may_be_nameless=True)
        if error is not Errors.NONE:
            return error
        group = self._groups.get_group(group_id)
        if group is None:
            return Errors.GROUP_ID_NOT_FOUND
        with group.lock:
            if group.is_in(GroupState.DEAD):
                return Errors.GROUP_ID_NOT_FOUND
            share = group.share
            if group.has_modern_members or not group.is_in(GroupState.EMPTY) or (share is not None and share.members):
                return Errors.NON_EMPTY_GROUP
            group.transition_to(GroupState.DEAD)
            if share is not None:
                share.transition_to(ShareGroupState.DEAD)
            removed = self._groups.cleanup_group_metadata([group], lambda g: g.offsets.remove(g.offsets.all_offsets()))
        logger.info("Group %s was deleted, with %d offsets", group_id, removed)
        return Errors.NONE


def _listed(group: GroupMetadata) -> ListedGroup:
    modern = group.modern
    if modern is not None:
        return ListedGroup(
            group_id=group.group_id,
            protocol_type=CONSUMER_PROTOCOL_TYPE,
            group_state=modern.state.value,
            group_type=CONSUMER_GROUP,
        )
    if group.share is not None:
        return ListedGroup(
            group_id=group.group_id,
            protocol_type=SHARE_PROTOCOL_TYPE,
            group_state=group.share.state.value,
            group_type=SHARE_GROUP,
        )
    return ListedGroup(
        group_id=group.group_id,
        protocol_type=group.protocol_type or "",
        group_state=group.state.value,
        group_type=CLASSIC_GROUP,
    )


def _described(group: GroupMetadata) -> DescribedGroup:
    """Metadata and assignments are only shown for a stable group. In other states they are about to change."""
    is_stable = group.is_in(GroupState.STABLE)
    protocol = (group.protocol_name or "") if is_stable else ""
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state.value,
        protocol_type=group.protocol_type or "",
        protocol_data=protocol,
        members=[_described_member(member, protocol) for member in group.members.values()],
    )


def _described_member(member: MemberMetadata, protocol: str) -> DescribedGroupMember:
    return DescribedGroupMember(
        member_id=member.member_id,
        group_instance_id=member.group_instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        member_metadata=member.metadata(protocol) if protocol else b"",
        member_assignment=member.assignment if protocol else b"",
    )
