"""What all tools of groups ask: coordinators that load or move, groups to delete, and where logs begin and end."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from kafka_lite.protocol.messages.api_42_delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from kafka_lite.protocol.schema import Response
from kafka_lite.tools.common.tool_errors import ToolError
from kafka_lite.tools.groups.group_service import GroupService, by_topic
from tests.support.scripted_channel import ScriptedChannel, metadata, offsets

T0, T1, U3 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 3)
COORDINATOR = FindCoordinatorResponse(node_id=1)


def service_of(*responses: Response, **topics: Errors) -> tuple[GroupService, ScriptedChannel]:
    channel = ScriptedChannel(metadata(T0, T1, U3, **topics), *responses)
    channel.refresh()
    return GroupService(channel), channel


def deleted(error: Errors = Errors.NONE) -> DeleteGroupsResponse:
    return DeleteGroupsResponse(results=[DeletableGroupResult(group_id="g", error_code=error.code)])


def test_partitions_are_grouped_by_topic() -> None:
    assert by_topic([T1, U3, T0]) == {"t": [0, 1], "u": [3]}
    assert by_topic([]) == {}


def test_each_group_is_deleted_at_its_coordinator() -> None:
    service, channel = service_of(COORDINATOR, deleted(), deleted(Errors.NON_EMPTY_GROUP))
    assert service.delete_groups(["a", "b"]) == {"a": Errors.NONE, "b": Errors.NON_EMPTY_GROUP}
    kinds = [
        type(request)
        for request in channel.requests
        if isinstance(request, FindCoordinatorRequest | DeleteGroupsRequest)
    ]
    assert kinds == [FindCoordinatorRequest, DeleteGroupsRequest] * 2


@pytest.mark.parametrize("error", [Errors.NOT_COORDINATOR, Errors.COORDINATOR_LOAD_IN_PROGRESS])
def test_a_coordinator_that_has_moved_is_looked_up_again(error: Errors) -> None:
    service, channel = service_of(COORDINATOR, deleted(error), deleted())
    assert service.delete_groups(["g"]) == {"g": Errors.NONE}
    assert sum(isinstance(request, FindCoordinatorRequest) for request in channel.requests) == 2


def test_a_coordinator_that_stays_away_is_an_error() -> None:
    service, _ = service_of(FindCoordinatorResponse(error_code=Errors.COORDINATOR_NOT_AVAILABLE.code))
    with pytest.raises(ToolError, match="group 'g': COORDINATOR_NOT_AVAILABLE"):
        service.find_coordinator("g")


def test_another_error_is_final() -> None:
    service, channel = service_of(FindCoordinatorResponse(error_code=Errors.GROUP_AUTHORIZATION_FAILED.code))
    with pytest.raises(ToolError, match="GROUP_AUTHORIZATION_FAILED"):
        service.find_coordinator("g")
    assert sum(isinstance(request, FindCoordinatorRequest) for request in channel.requests) == 1


def test_logs_and_partitions_are_those_of_the_leaders() -> None:
    service, _ = service_of(offsets({T0: 5, T1: 7}))
    assert service.log_offsets([T0, T1], -1) == {T0: 5, T1: 7}
    assert service.partitions_of(["t", "u"]) == {"t": [0, 1], "u": [3]}
