"""The requests of ``consumer-groups`` to brokers and coordinators: groups, members, offsets and log ends.

Kafka 0.10.2: core/.../admin/ConsumerGroupCommand.scala (KafkaConsumerGroupService, ConsumerGroupService),
core/.../admin/AdminClient.scala · book 5.2.2
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_03_metadata import MetadataResponseBroker
from kafka_lite.protocol.messages.api_08_offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from kafka_lite.protocol.messages.api_09_offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from kafka_lite.protocol.messages.api_15_describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from kafka_lite.protocol.messages.api_16_list_groups import ListGroupsRequest, ListGroupsResponse
from kafka_lite.protocol.messages.api_47_offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from kafka_lite.protocol.messages.api_69_consumer_group_describe import Assignment as ModernAssignment
from kafka_lite.protocol.messages.api_69_consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)
from kafka_lite.protocol.messages.api_69_consumer_group_describe import Member as DescribedModernMember
from kafka_lite.protocol.messages.consumer_protocol import ConsumerProtocolAssignment
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.protocol.version_prefixed import decode_with_version
from kafka_lite.tools.admin.partition_offsets import LATEST, Offsets, list_offsets
from kafka_lite.tools.common.tool_errors import ToolError
from kafka_lite.tools.groups.group_service import MOVING, GroupService, by_topic

CONSUMER_GROUPS = frozenset({"consumer", ""})
"""Protocol types of consumer groups: empty for a group that only has offsets."""
CLASSIC = "Classic"
ONE_GROUP = 7
"""Last OffsetFetch version that takes a single group."""
COMMIT_BY_NAME = 9
"""Last OffsetCommit version whose topics have names."""
SINCE_STATES = 4


@dataclass(frozen=True)
class GroupListing:
    """A group as ListGroups returns it."""

    group: str
    state: str = ""
    type: str = CLASSIC


@dataclass(frozen=True)
class Member:
    """A group member, with its partitions if the group is stable."""

    member_id: str
    instance_id: str
    host: str
    client_id: str
    assignment: tuple[TopicPartition, ...]


@dataclass(frozen=True)
class ModernMember(Member):
    """A member of a group of KIP-848, with the partitions that it is led to."""

    epoch: int
    target_epoch: int
    target: tuple[TopicPartition, ...]


@dataclass(frozen=True)
class GroupDescription:
    """A group; state ``Dead`` means that it does not exist. ``assignor``: the protocol its members agreed on."""

    group: str
    state: str
    assignor: str
    coordinator: MetadataResponseBroker
    members: tuple[Member, ...]


@dataclass(frozen=True)
class PartitionRow:
    """A group's progress in a partition. Unknown fields are None and printed as ``-``.

    ``error``: why the log end offset is not known.
    """

    group: str
    topic: str | None = None
    partition: int | None = None
    offset: int | None = None
    log_end_offset: int | None = None
    member: Member | None = None
    error: Errors = Errors.NONE

    @property
    def lag(self) -> int | None:
        """Number of messages still to be consumed."""
        if self.offset is None or self.log_end_offset is None:
            return None
        return self.log_end_offset - self.offset


class ConsumerGroupService(GroupService):
    """Raises ToolError and ConnectionError, as all of GroupService does."""

    # ── Listing groups ────────────────────────────────────────────────────────────────────────────────────────────

    def list_groups(self, states: Collection[str] = (), types: Collection[str] = ()) -> list[GroupListing]:
        """The consumer groups of all brokers, sorted, optionally filtered by state and type.

        If a broker is too old to list states, its groups are described to find them.
        """
        listed = {each.group: each for broker in self._channel.brokers for each in self._list_of(broker)}
        groups = [listed[group] for group in sorted(listed)]
        wanted_states, wanted_types = {each.lower() for each in states}, {each.lower() for each in types}
        return [
            each for each in groups
            if (not wanted_states or each.state.lower() in wanted_states)
            and (not wanted_types or each.type.lower() in wanted_types)
        ]  # fmt: skip

    def _list_of(self, broker: int) -> list[GroupListing]:
        response = self._until_settled(f"listing the groups of broker {broker}", partial(self._ask_for_list, broker))
        groups = [each for each in response.groups if each.protocol_type in CONSUMER_GROUPS]
        _, newest = self._channel.api_versions(broker).get(ListGroupsRequest.API_KEY, (0, 0))
        if newest >= SINCE_STATES:
            # Brokers say "classic", Kafka's tool says "Classic".
            return [
                GroupListing(each.group_id, each.group_state, (each.group_type or CLASSIC).capitalize())
                for each in groups
            ]
        states = {each.group: each.state for each in self._describe_at(broker, [each.group_id for each in groups])}
        return [GroupListing(each.group_id, states.get(each.group_id, "")) for each in groups]

    def _ask_for_list(self, broker: int) -> tuple[Errors, ListGroupsResponse]:
        """A broker that is loading groups lists some of them only: its error says so."""
        response = self._channel.send(ListGroupsRequest(), ListGroupsResponse, broker)
        return Errors.for_code(response.error_code), response

    # ── Describing groups ─────────────────────────────────────────────────────────────────────────────────────────

    def describe(self, group: str) -> GroupDescription:
        """Members, state and assignor of a group. Raises ToolError if it is not a consumer group."""
        return self._at_coordinator(group, partial(self._describe_one, group))

    def _describe_one(self, group: str, broker: int) -> tuple[Errors, GroupDescription]:
        response = self._channel.send(DescribeGroupsRequest(groups=[group]), DescribeGroupsResponse, broker)
        described = response.groups[0]
        error = Errors.for_code(described.error_code)
        if error is Errors.GROUP_ID_NOT_FOUND:  # Kafka 4's reply for a group that does not exist
            described.group_state, error = "Dead", Errors.NONE
        if error is Errors.NONE and described.group_state == "Dead":
            modern = self._describe_modern(group, broker)
            if modern is not None:
                return Errors.NONE, modern
        if error is Errors.NONE and described.protocol_type not in CONSUMER_GROUPS:
            raise ToolError(f"GroupId {group} is not a consumer group ({described.protocol_type}).")
        return error, self._description(broker, described)

    def _describe_modern(self, group: str, broker: int) -> GroupDescription | None:
        """The group if it is one of KIP-848, of which DescribeGroups knows nothing."""
        if ConsumerGroupDescribeRequest.API_KEY not in self._channel.api_versions(broker):
            return None
        request = ConsumerGroupDescribeRequest(group_ids=[group])
        (described,) = self._channel.send(request, ConsumerGroupDescribeResponse, broker).groups
        if Errors.for_code(described.error_code) in (Errors.GROUP_ID_NOT_FOUND, Errors.UNSUPPORTED_VERSION):
            return None
        self._check(described.error_code, f"group '{group}'")
        members = tuple(_modern_member(each, described.assignment_epoch) for each in described.members)
        at = self._channel.brokers[broker]
        return GroupDescription(group, described.group_state, described.assignor_name, at, members)

    def _describe_at(self, broker: int, groups: Collection[str]) -> list[GroupDescription]:
        if not groups:
            return []
        response = self._channel.send(DescribeGroupsRequest(groups=list(groups)), DescribeGroupsResponse, broker)
        for each in response.groups:
            if each.error_code != Errors.GROUP_ID_NOT_FOUND.code:  # it is Dead by now
                self._check(each.error_code, f"group '{each.group_id}'")
        return [self._description(broker, each) for each in response.groups]

    def _description(self, broker: int, described: DescribedGroup) -> GroupDescription:
        members = tuple(_member(each) for each in described.members)
        at = self._channel.brokers[broker]
        return GroupDescription(described.group_id, described.group_state, described.protocol_data, at, members)

    # ── Offsets ───────────────────────────────────────────────────────────────────────────────────────────────────

    def committed_offsets(self, group: str) -> Offsets:
        """All offsets that the group has committed."""
        return self._at_coordinator(group, partial(self._fetch_offsets, group))

    def _fetch_offsets(self, group: str, broker: int) -> tuple[Errors, Offsets]:
        request = OffsetFetchRequest(group_id=group, topics=None)
        response = self._channel.send(request, OffsetFetchResponse, broker, ONE_GROUP)
        offsets: Offsets = {}
        error = Errors.for_code(response.error_code)
        for topic in response.topics:
            for each in topic.partitions:
                partition, code = TopicPartition(topic.name, each.partition_index), each.error_code
                if Errors.for_code(code) in MOVING:
                    error = Errors.for_code(code)
                elif code:
                    self._check(code, f"the offset that group '{group}' has committed for {partition}")
                elif each.committed_offset >= 0:
                    offsets[partition] = each.committed_offset
        return error, offsets

    def commit_offsets(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Commit for a group that has no members. Raises ToolError naming the partitions that were refused."""
        topics = [
            OffsetCommitRequestTopic(
                name=topic,
                partitions=[
                    OffsetCommitRequestPartition(
                        partition_index=partition, committed_offset=offsets[TopicPartition(topic, partition)],
                        committed_metadata="",
                    )
                    for partition in partitions
                ],
            )
            for topic, partitions in by_topic(offsets).items()
        ]  # fmt: skip
        request = OffsetCommitRequest(group_id=group, topics=topics)

        def commit(broker: int) -> tuple[Errors, dict[TopicPartition, Errors]]:
            response = self._channel.send(request, OffsetCommitResponse, broker, COMMIT_BY_NAME)
            errors = {
                TopicPartition(topic.name, each.partition_index): Errors.for_code(each.error_code)
                for topic in response.topics
                for each in topic.partitions
            }
            moving = next((error for error in errors.values() if error in MOVING), Errors.NONE)
            return moving, dict.fromkeys(offsets, Errors.UNKNOWN_SERVER_ERROR) | errors

        refused = {p: error for p, error in self._at_coordinator(group, commit).items() if error is not Errors.NONE}
        if refused:
            raise ToolError(
                f"the coordinator of group '{group}' rejected "
                + ", ".join(f"{partition} ({error.name})" for partition, error in sorted(refused.items()))
            )

    def rows(self, description: GroupDescription, settle_ms: float | None = None) -> list[PartitionRow]:
        """The rows of ``--describe``: assigned partitions by member, largest assignment first, then unassigned ones.

        ``settle_ms``: how long to ask for log end offsets again if there is an error; ``timeout_ms`` if it is None.
        """
        group, offsets = description.group, self.committed_offsets(description.group)
        members = [member for member in description.members if member.assignment]
        members.sort(key=lambda member: len(member.assignment), reverse=True)
        assigned = {partition: member for member in members for partition in sorted(member.assignment)}
        owners = assigned | dict.fromkeys(sorted(set(offsets) - assigned.keys()))
        return self.rows_of(group, owners, offsets, settle_ms)

    def rows_of(
        self,
        group: str,
        owners: Mapping[TopicPartition, Member | None],
        offsets: Mapping[TopicPartition, int],
        settle_ms: float | None = None,
    ) -> list[PartitionRow]:
        """One row per partition, with its log end offset, or else the error."""
        wait_ms = self._timeout_ms if settle_ms is None else settle_ms
        ends = {each.partition: each for each in list_offsets(self._channel, owners, LATEST, wait_ms)}
        return [
            PartitionRow(
                group, *partition, offsets.get(partition),
                ends[partition].offset if ends[partition].error is Errors.NONE else None, member, ends[partition].error,
            )
            for partition, member in owners.items()
        ]  # fmt: skip

    # ── Deletion ──────────────────────────────────────────────────────────────────────────────────────────────────

    def delete_offsets(
        self, group: str, partitions: Iterable[TopicPartition]
    ) -> tuple[Errors, dict[TopicPartition, Errors]]:
        """Delete committed offsets. Returns the group's error and that of each partition."""
        wanted = list(partitions)
        topics = [
            OffsetDeleteRequestTopic(
                name=topic, partitions=[OffsetDeleteRequestPartition(partition_index=each) for each in numbers]
            )
            for topic, numbers in by_topic(wanted).items()
        ]
        request = OffsetDeleteRequest(group_id=group, topics=topics)

        def delete(broker: int) -> tuple[Errors, tuple[Errors, dict[TopicPartition, Errors]]]:
            response = self._channel.send(request, OffsetDeleteResponse, broker)
            error = Errors.for_code(response.error_code)
            outcome = {
                TopicPartition(topic.name, each.partition_index): Errors.for_code(each.error_code)
                for topic in response.topics
                for each in topic.partitions
            }
            left_out = {} if error is not Errors.NONE else dict.fromkeys(wanted, Errors.UNKNOWN_SERVER_ERROR)
            return (error if error in MOVING else Errors.NONE), (error, left_out | outcome)

        return self._at_coordinator(group, delete)


def _member(described: DescribedGroupMember) -> Member:
    assignment = assigned_partitions(bytes(described.member_assignment))
    instance_id = described.group_instance_id or ""
    return Member(described.member_id, instance_id, described.client_host, described.client_id, assignment)


def _modern_member(described: DescribedModernMember, target_epoch: int) -> ModernMember:
    return ModernMember(
        described.member_id,
        described.instance_id or "",
        described.client_host,
        described.client_id,
        _partitions_in(described.assignment),
        described.member_epoch,
        target_epoch,
        _partitions_in(described.target_assignment),
    )


def _partitions_in(assignment: ModernAssignment) -> tuple[TopicPartition, ...]:
    return tuple(
        TopicPartition(topic.topic_name, partition)
        for topic in sorted(assignment.topic_partitions, key=lambda topic: topic.topic_name)
        for partition in topic.partitions
    )


def assigned_partitions(assignment: bytes) -> tuple[TopicPartition, ...]:
    """The partitions of a member's assignment; empty if it has none or is in another format."""
    try:
        decoded = decode_with_version(ConsumerProtocolAssignment, assignment, lenient=True)
    except SchemaError:
        return ()
    return tuple(
        TopicPartition(topic.topic, partition)
        for topic in decoded.assigned_partitions
        for partition in sorted(topic.partitions)
    )
