"""The requests of share-groups: what brokers that are older, loading, or not asked for share groups make of them."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages import api_77_share_group_describe as describe
from kafka_lite.protocol.messages import api_90_describe_share_group_offsets as offsets_of
from kafka_lite.protocol.messages import api_91_alter_share_group_offsets as alter
from kafka_lite.protocol.messages import api_92_delete_share_group_offsets as delete
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorResponse
from kafka_lite.protocol.messages.api_16_list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from kafka_lite.protocol.schema import Response
from kafka_lite.tools.common.tool_errors import ToolError
from kafka_lite.tools.groups.share_group_service import ShareGroupService, ShareOffset
from tests.support.scripted_channel import ScriptedChannel, metadata

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
COORDINATOR = FindCoordinatorResponse(node_id=1)


def service_of(*responses: Response, last_version: int = 5) -> tuple[ShareGroupService, ScriptedChannel]:
    channel = ScriptedChannel(metadata(), COORDINATOR, *responses)
    channel.versions = dict.fromkeys(ApiKey, (0, last_version))
    channel.refresh()
    return ShareGroupService(channel), channel


def listed(*groups: tuple[str, str, str], error: Errors = Errors.NONE) -> ListGroupsResponse:
    entries = [ListedGroup(group_id=name, group_state=state, group_type=kind) for name, state, kind in groups]
    return ListGroupsResponse(error_code=error.code, groups=entries)


def test_only_share_groups_are_listed() -> None:
    service, channel = service_of(listed(("b", "Empty", "share"), ("c", "Stable", "classic"), ("a", "Stable", "share")))
    assert service.list_groups() == {"a": "Stable", "b": "Empty"}
    assert service.list_groups(["EMPTY"]) == {"b": "Empty"}
    asked = [request for request in channel.requests if isinstance(request, ListGroupsRequest)]
    assert asked[0].types_filter == ["share"]


def test_a_broker_that_knows_no_types_has_no_share_groups() -> None:
    service, channel = service_of(last_version=4)
    assert service.list_groups() == {}
    assert not any(isinstance(request, ListGroupsRequest) for request in channel.requests)


def test_a_broker_that_loads_groups_is_asked_again() -> None:
    service, _ = service_of(listed(error=Errors.COORDINATOR_LOAD_IN_PROGRESS), listed(("a", "Empty", "share")))
    assert service.list_groups() == {"a": "Empty"}


def test_a_cluster_without_share_groups_says_so() -> None:
    service, channel = service_of()
    del channel.versions[ApiKey.SHARE_GROUP_DESCRIBE]
    with pytest.raises(ToolError, match="does not serve share groups"):
        service.describe("g")


def test_members_and_their_partitions_are_sorted() -> None:
    def member(name: str, *partitions: int) -> describe.Member:
        topic = describe.TopicPartitions(topic_name="t", partitions=list(partitions))
        return describe.Member(member_id=name, assignment=describe.Assignment(topic_partitions=[topic]))

    group = describe.DescribedGroup(group_id="g", group_state="Stable", members=[member("b", 1, 0), member("a")])
    service, _ = service_of(describe.ShareGroupDescribeResponse(groups=[group]))
    described = service.describe("g")
    assert [(each.member_id, each.assignment) for each in described.members] == [("a", ()), ("b", (T0, T1))]
    assert described.coordinator.node_id == 1


def test_offsets_that_are_not_known_are_none() -> None:
    partitions = [
        offsets_of.DescribeShareGroupOffsetsResponsePartition(partition_index=1, start_offset=-1),
        offsets_of.DescribeShareGroupOffsetsResponsePartition(partition_index=0, start_offset=5, leader_epoch=2),
    ]
    topic = offsets_of.DescribeShareGroupOffsetsResponseTopic(topic_name="t", partitions=partitions)
    group = offsets_of.DescribeShareGroupOffsetsResponseGroup(group_id="g", topics=[topic])
    service, _ = service_of(offsets_of.DescribeShareGroupOffsetsResponse(groups=[group]))
    assert service.offsets("g") == [ShareOffset(T0, 5, 2), ShareOffset(T1, None, None)]


def test_partitions_that_a_response_lacks_were_not_altered() -> None:
    partition = alter.AlterShareGroupOffsetsResponsePartition(partition_index=0)
    topic = alter.AlterShareGroupOffsetsResponseTopic(topic_name="t", partitions=[partition])
    service, channel = service_of(alter.AlterShareGroupOffsetsResponse(responses=[topic]))
    assert service.alter_offsets("g", {T0: 3, T1: 4}) == {T0: Errors.NONE, T1: Errors.UNKNOWN_SERVER_ERROR}
    (asked,) = (request for request in channel.requests if isinstance(request, alter.AlterShareGroupOffsetsRequest))
    assert [each.start_offset for each in asked.topics[0].partitions] == [3, 4]


def test_a_group_whose_offsets_cannot_be_altered_is_an_error() -> None:
    service, _ = service_of(alter.AlterShareGroupOffsetsResponse(error_code=Errors.NON_EMPTY_GROUP.code))
    with pytest.raises(ToolError, match="NON_EMPTY_GROUP"):
        service.alter_offsets("g", {T0: 3})


def test_topics_are_deleted_once_with_their_messages() -> None:
    topics = [
        delete.DeleteShareGroupOffsetsResponseTopic(topic_name="t"),
        delete.DeleteShareGroupOffsetsResponseTopic(topic_name="u", error_code=Errors.UNKNOWN_TOPIC_OR_PARTITION.code),
    ]
    moved = delete.DeleteShareGroupOffsetsResponse(error_code=Errors.NOT_COORDINATOR.code)
    service, channel = service_of(moved, delete.DeleteShareGroupOffsetsResponse(responses=topics))
    error, outcome = service.delete_offsets("g", ["t", "u", "t"])
    assert error is Errors.NONE
    assert outcome == {"t": None, "u": Errors.UNKNOWN_TOPIC_OR_PARTITION.message}
    asked = [request for request in channel.requests if isinstance(request, delete.DeleteShareGroupOffsetsRequest)]
    assert [[topic.topic_name for topic in request.topics] for request in asked] == [["t", "u"]] * 2
