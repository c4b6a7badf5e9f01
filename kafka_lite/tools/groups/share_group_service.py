"""The requests of ``share-groups`` to brokers and coordinators: share groups, their members and offsets.

Kafka 4.1: tools/.../tools/consumer/group/ShareGroupCommand.java (ShareGroupService) · book 5.2.2
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages import api_90_describe_share_group_offsets as offsets_of
from kafka_lite.protocol.messages import api_91_alter_share_group_offsets as alter
from kafka_lite.protocol.messages import api_92_delete_share_group_offsets as delete
from kafka_lite.protocol.messages.api_03_metadata import MetadataResponseBroker
from kafka_lite.protocol.messages.api_16_list_groups import ListGroupsRequest, ListGroupsResponse
from kafka_lite.protocol.messages.api_77_share_group_describe import (
    Member,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
)
from kafka_lite.tools.common.tool_errors import ToolError
from kafka_lite.tools.groups.group_service import MOVING, GroupService, by_topic

SHARE = "share"
FIRST_LIST_GROUPS_VERSION_WITH_TYPES = 5


@dataclass(frozen=True)
class ShareMember:
    """A member of a share group, with its partitions."""

    member_id: str
    host: str
    client_id: str
    epoch: int
    assignment: tuple[TopicPartition, ...]


@dataclass(frozen=True)
class ShareGroupDescription:
    """A share group."""

    group: str
    state: str
    coordinator: MetadataResponseBroker
    group_epoch: int
    assignment_epoch: int
    members: tuple[ShareMember, ...]


@dataclass(frozen=True)
class ShareOffset:
    """Where a group is in a partition. None: not known yet."""

    partition: TopicPartition
    start_offset: int | None
    leader_epoch: int | None


class ShareGroupService(GroupService):
    """Raises ToolError and ConnectionError, as all of GroupService does."""

    def list_groups(self, states: Collection[str] = ()) -> dict[str, str]:
        """The share groups of all brokers with their states, sorted, optionally only those in some states."""
        found: dict[str, str] = {}
        for broker in self._channel.brokers:
            response = self._until_settled(f"listing the groups of broker {broker}", partial(self._list, broker))
            found |= {each.group_id: each.group_state for each in response.groups if each.group_type == SHARE}
        wanted = {state.lower() for state in states}
        return {group: found[group] for group in sorted(found) if not wanted or found[group].lower() in wanted}

    def _list(self, broker: int) -> tuple[Errors, ListGroupsResponse]:
        _, newest = self._channel.api_versions(broker).get(ListGroupsRequest.API_KEY, (0, 0))
        if newest < FIRST_LIST_GROUPS_VERSION_WITH_TYPES:
            return Errors.NONE, ListGroupsResponse()  # it knows no share groups
        response = self._channel.send(ListGroupsRequest(types_filter=[SHARE]), ListGroupsResponse, broker)
        return Errors.for_code(response.error_code), response

    def describe(self, group: str) -> ShareGroupDescription:
        """A group with its members. Raises ToolError if there is no such share group."""
        return self._at_coordinator(group, partial(self._describe, group))

    def _describe(self, group: str, broker: int) -> tuple[Errors, ShareGroupDescription]:
        if ShareGroupDescribeRequest.API_KEY not in self._channel.api_versions(broker):
            raise ToolError("The cluster does not serve share groups.")
        request = ShareGroupDescribeRequest(group_ids=[group])
        (described,) = self._channel.send(request, ShareGroupDescribeResponse, broker).groups
        error = Errors.for_code(described.error_code)
        if error is Errors.GROUP_ID_NOT_FOUND:
            raise ToolError(f"Share group '{group}' does not exist.")
        return error, ShareGroupDescription(
            group,
            described.group_state,
            self._channel.brokers[broker],
            described.group_epoch,
            described.assignment_epoch,
            tuple(sorted(map(_member, described.members), key=lambda member: member.member_id)),
        )

    def offsets(self, group: str) -> list[ShareOffset]:
        """Where the group is in its partitions, sorted."""
        return self._at_coordinator(group, partial(self._offsets, group))

    def _offsets(self, group: str, broker: int) -> tuple[Errors, list[ShareOffset]]:
        asked = offsets_of.DescribeShareGroupOffsetsRequestGroup(group_id=group, topics=None)
        request = offsets_of.DescribeShareGroupOffsetsRequest(groups=[asked])
        (described,) = self._channel.send(request, offsets_of.DescribeShareGroupOffsetsResponse, broker).groups
        rows = [
            ShareOffset(TopicPartition(topic.topic_name, each.partition_index), *_known(each))
            for topic in described.topics
            for each in topic.partitions
        ]
        return Errors.for_code(described.error_code), sorted(rows, key=lambda row: row.partition)

    def alter_offsets(self, group: str, offsets: Mapping[TopicPartition, int]) -> dict[TopicPartition, Errors]:
        """Let a group without members begin at other offsets; returns the error of each partition."""
        topics = [
            alter.AlterShareGroupOffsetsRequestTopic(
                topic_name=topic,
                partitions=[
                    alter.AlterShareGroupOffsetsRequestPartition(
                        partition_index=number, start_offset=offsets[TopicPartition(topic, number)]
                    )
                    for number in numbers
                ],
            )
            for topic, numbers in by_topic(offsets).items()
        ]
        request = alter.AlterShareGroupOffsetsRequest(group_id=group, topics=topics)

        def ask(broker: int) -> tuple[Errors, dict[TopicPartition, Errors]]:
            response = self._channel.send(request, alter.AlterShareGroupOffsetsResponse, broker)
            return Errors.for_code(response.error_code), {
                TopicPartition(topic.topic_name, each.partition_index): Errors.for_code(each.error_code)
                for topic in response.responses
                for each in topic.partitions
            }

        return dict.fromkeys(offsets, Errors.UNKNOWN_SERVER_ERROR) | self._at_coordinator(group, ask)

    def delete_offsets(self, group: str, topics: Collection[str]) -> tuple[Errors, dict[str, str | None]]:
        """Let a group without members forget topics; returns the group's error, and the message of each topic's."""
        request = delete.DeleteShareGroupOffsetsRequest(
            group_id=group,
            topics=[delete.DeleteShareGroupOffsetsRequestTopic(topic_name=topic) for topic in dict.fromkeys(topics)],
        )

        def ask(broker: int) -> tuple[Errors, tuple[Errors, dict[str, str | None]]]:
            response = self._channel.send(request, delete.DeleteShareGroupOffsetsResponse, broker)
            error = Errors.for_code(response.error_code)
            outcome = {
                topic.topic_name: (topic.error_message or Errors.for_code(topic.error_code).message)
                if topic.error_code
                else None
                for topic in response.responses
            }
            return (error if error in MOVING else Errors.NONE), (error, outcome)

        return self._at_coordinator(group, ask)


def _member(described: Member) -> ShareMember:
    assignment = tuple(
        TopicPartition(topic.topic_name, partition)
        for topic in sorted(described.assignment.topic_partitions, key=lambda topic: topic.topic_name)
        for partition in sorted(topic.partitions)
    )
    return ShareMember(
        described.member_id, described.client_host, described.client_id, described.member_epoch, assignment
    )


def _known(described: offsets_of.DescribeShareGroupOffsetsResponsePartition) -> tuple[int | None, int | None]:
    if described.error_code or described.start_offset < 0:
        return None, None
    return described.start_offset, described.leader_epoch
