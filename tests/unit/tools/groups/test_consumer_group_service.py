"""The group tools' requests to coordinators that load, move, or do not answer all that they were asked."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages import api_69_consumer_group_describe as modern
from kafka_lite.protocol.messages.api_08_offset_commit import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kafka_lite.protocol.messages.api_09_offset_fetch import (
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from kafka_lite.protocol.messages.api_15_describe_groups import (
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from kafka_lite.protocol.messages.api_16_list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from kafka_lite.protocol.messages.api_42_delete_groups import DeletableGroupResult, DeleteGroupsResponse
from kafka_lite.protocol.schema import Response
from kafka_lite.tools.common.tool_errors import ToolError
from kafka_lite.tools.groups.consumer_group_service import ConsumerGroupService, GroupListing, ModernMember
from tests.support.scripted_channel import ScriptedChannel, counted, metadata

LOADING = Errors.COORDINATOR_LOAD_IN_PROGRESS.code
MOVED = Errors.NOT_COORDINATOR.code
T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
COORDINATOR = FindCoordinatorResponse(node_id=1)


def service_of(*responses: Response) -> tuple[ConsumerGroupService, ScriptedChannel]:
    """A service, and the channel to a cluster of one broker that gives these responses."""
    channel = ScriptedChannel(metadata(), *responses)
    channel.refresh()
    return ConsumerGroupService(channel), channel


def groups(*names: str, error: int = 0) -> ListGroupsResponse:
    listed = [ListedGroup(group_id=name, protocol_type="consumer") for name in names]
    return ListGroupsResponse(error_code=error, groups=listed)


def described(group: str, state: str = "Stable", error: int = 0, protocol: str = "consumer") -> DescribeGroupsResponse:
    entry = DescribedGroup(error_code=error, group_id=group, group_state=state, protocol_type=protocol, members=[])
    return DescribeGroupsResponse(groups=[entry])


def committed(offsets: dict[TopicPartition, int], error: int = 0) -> OffsetFetchResponse:
    topics = [
        OffsetFetchResponseTopic(
            name=topic,
            partitions=[
                OffsetFetchResponsePartition(partition_index=number, committed_offset=offset, error_code=error)
            ],
        )
        for (topic, number), offset in offsets.items()
    ]
    return OffsetFetchResponse(topics=topics)


def accepted(*partitions: TopicPartition, error: int = 0) -> OffsetCommitResponse:
    topics = [
        OffsetCommitResponseTopic(
            name=topic, partitions=[OffsetCommitResponsePartition(partition_index=number, error_code=error)]
        )
        for topic, number in partitions
    ]
    return OffsetCommitResponse(topics=topics)


def test_a_broker_that_loads_groups_is_asked_again_for_its_list() -> None:
    service, channel = service_of(groups(error=LOADING), groups("a", "b"), described("a"))
    assert service.list_groups() == [GroupListing("a", "Stable"), GroupListing("b", "")]
    assert counted(channel, [ListGroupsRequest]) == [2]


def test_a_list_of_a_broker_that_goes_on_loading_is_an_error_and_not_a_short_list() -> None:
    service, channel = service_of(groups("a", error=LOADING))
    with pytest.raises(ToolError, match="listing the groups of broker 1: COORDINATOR_LOAD_IN_PROGRESS"):
        service.list_groups()
    assert counted(channel, [ListGroupsRequest])[0] > 10


def test_groups_are_described_for_their_states_if_a_broker_cannot_list_these() -> None:
    service, channel = service_of(groups("a"), described("a", "Empty"))
    assert service.list_groups(states=["empty"]) == [GroupListing("a", "Empty")]
    assert service.list_groups(states=["stable"]) == []
    assert counted(channel, [DescribeGroupsRequest]) == [2]


def test_no_group_needs_no_description() -> None:
    service, channel = service_of(groups())
    assert service.list_groups() == []
    assert counted(channel, [DescribeGroupsRequest]) == [0]


def test_a_coordinator_that_has_moved_is_looked_for_again() -> None:
    service, channel = service_of(COORDINATOR, described("g", error=MOVED), described("g", "Empty"))
    assert service.describe("g").state == "Empty"
    assert counted(channel, [FindCoordinatorRequest, DescribeGroupsRequest]) == [2, 2]


def test_a_group_that_kafka_4_does_not_find_is_dead() -> None:
    service, _ = service_of(COORDINATOR, described("g", "", Errors.GROUP_ID_NOT_FOUND.code))
    assert service.describe("g").state == "Dead"


def test_a_group_that_the_coordinator_assigns_is_described_by_a_request_of_its_own() -> None:
    partitions = [modern.TopicPartitions(topic_name=name, partitions=[0, 1]) for name in ("u", "t")]
    member = modern.Member(
        member_id="m",
        client_id="c",
        client_host="/h",
        instance_id="i",
        member_epoch=6,
        assignment=modern.Assignment(topic_partitions=partitions),
        target_assignment=modern.Assignment(topic_partitions=partitions[1:]),
    )
    group = modern.DescribedGroup(
        group_id="g", group_state="Assigning", assignor_name="uniform", assignment_epoch=7, members=[member]
    )
    dead = described("g", "Dead")
    service, channel = service_of(COORDINATOR, dead, modern.ConsumerGroupDescribeResponse(groups=[group]))
    channel.versions = {**channel.versions, 69: (0, 0)}
    found = service.describe("g")
    assert (found.state, found.assignor) == ("Assigning", "uniform")
    (shown,) = found.members
    assert (shown.member_id, shown.instance_id, shown.host, shown.client_id) == ("m", "i", "/h", "c")
    assert shown.assignment == (T0, T1, TopicPartition("u", 0), TopicPartition("u", 1))
    assert isinstance(shown, ModernMember)
    assert (shown.epoch, shown.target_epoch, shown.target) == (6, 7, (T0, T1))


@pytest.mark.parametrize("error", [Errors.GROUP_ID_NOT_FOUND, Errors.UNSUPPORTED_VERSION])
def test_a_group_that_neither_request_finds_is_dead(error: Errors) -> None:
    nothing = modern.ConsumerGroupDescribeResponse(groups=[modern.DescribedGroup(error_code=error.code)])
    service, channel = service_of(COORDINATOR, described("g", "Dead"), nothing)
    channel.versions = {**channel.versions, 69: (0, 0)}
    assert service.describe("g").state == "Dead"


def test_a_group_of_another_protocol_is_refused() -> None:
    service, _ = service_of(COORDINATOR, described("g", protocol="connect"))
    with pytest.raises(ToolError, match=r"g is not a consumer group \(connect\)"):
        service.describe("g")


def test_committed_offsets_omit_partitions_without_one() -> None:
    service, _ = service_of(COORDINATOR, committed({T0: 5, T1: -1}))
    assert service.committed_offsets("g") == {T0: 5}


def test_offsets_of_a_transaction_that_is_about_to_end_are_asked_for_again() -> None:
    unstable = committed({T0: -1}, Errors.UNSTABLE_OFFSET_COMMIT.code)
    service, _ = service_of(COORDINATOR, unstable, committed({T0: 7}))
    assert service.committed_offsets("g") == {T0: 7}


def test_an_offset_that_is_not_known_is_an_error_and_not_an_absent_one() -> None:
    service, _ = service_of(COORDINATOR, committed({T0: -1}, Errors.TOPIC_AUTHORIZATION_FAILED.code))
    with pytest.raises(ToolError, match="that group 'g' has committed for t-0: TOPIC_AUTHORIZATION_FAILED"):
        service.committed_offsets("g")


def test_a_commit_is_repeated_while_the_coordinator_loads() -> None:
    service, channel = service_of(COORDINATOR, accepted(T0, error=LOADING), accepted(T0))
    service.commit_offsets("g", {T0: 3})
    assert counted(channel, [FindCoordinatorRequest]) == [2]


def test_refused_commits_are_named() -> None:
    service, _ = service_of(COORDINATOR, accepted(T0, T1, error=Errors.UNKNOWN_MEMBER_ID.code))
    with pytest.raises(ToolError, match=r"rejected t-0 \(UNKNOWN_MEMBER_ID\), t-1 \(UNKNOWN_MEMBER_ID\)"):
        service.commit_offsets("g", {T0: 3, T1: 4})


def test_a_commit_without_an_answer_is_not_taken_for_done() -> None:
    service, _ = service_of(COORDINATOR, accepted(T0))
    with pytest.raises(ToolError, match=r"rejected t-1 \(UNKNOWN_SERVER_ERROR\)"):
        service.commit_offsets("g", {T0: 3, T1: 4})


def test_each_group_has_the_result_of_its_deletion() -> None:
    done = DeleteGroupsResponse(results=[DeletableGroupResult(group_id="g", error_code=0)])
    not_empty = DeletableGroupResult(group_id="g", error_code=Errors.NON_EMPTY_GROUP.code)
    service, _ = service_of(COORDINATOR, done, DeleteGroupsResponse(results=[not_empty]))
    assert service.delete_groups(["g", "h"]) == {"g": Errors.NONE, "h": Errors.NON_EMPTY_GROUP}
