from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.runtime.group_admin import GroupAdmin
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.protocol.messages import api_08_offset_commit as commits
from kafka_lite.protocol.messages import api_09_offset_fetch as fetches
from kafka_lite.protocol.messages import api_47_offset_delete as deletions
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorResponse
from kafka_lite.protocol.messages.api_15_describe_groups import DescribedGroup, DescribeGroupsResponse
from kafka_lite.protocol.messages.api_42_delete_groups import DeletableGroupResult, DeleteGroupsResponse

FOUND = FindCoordinatorResponse(error_code=0, node_id=7, host="h", port=9)
T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)


class Brokers:
    """Stands for AdminClient: answers as the test says, and keeps the requests."""

    def __init__(self) -> None:
        self.coordinators: list[Any] = []
        self.answers: list[Any] = []
        self.requests: list[Any] = []

    def send_any_node(self, request: Any, response_class: type, max_version: int) -> Any:
        assert (request.key, response_class) == ("g", FindCoordinatorResponse)
        return self.coordinators.pop(0) if self.coordinators else FOUND

    def send(self, address: Any, request: Any, response_class: type, max_version: int = 0) -> Any:
        assert address == ("h", 9)
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        assert isinstance(answer, response_class)
        return answer


@pytest.fixture
def brokers() -> Brokers:
    return Brokers()


@pytest.fixture
def admin(brokers: Brokers) -> GroupAdmin:
    admin = GroupAdmin({"bootstrap.servers": "127.0.0.1:1"}, MockTime())
    admin._client = brokers  # type: ignore[assignment]
    return admin


def _with_metadata(metadata: str | None) -> fetches.OffsetFetchResponse:
    response = _fetched(("t", 1, 5))
    response.topics[0].partitions[0].metadata = metadata
    return response


def _fetched(*offsets: tuple[str, int, int], error: int = 0) -> fetches.OffsetFetchResponse:
    topics = [
        fetches.OffsetFetchResponseTopic(
            name=topic,
            partitions=[
                fetches.OffsetFetchResponsePartition(partition_index=number, committed_offset=offset, error_code=0)
            ],
        )
        for topic, number, offset in offsets
    ]
    return fetches.OffsetFetchResponse(topics=topics, error_code=error)


def _committed(*codes: int) -> commits.OffsetCommitResponse:
    partitions = [
        commits.OffsetCommitResponsePartition(partition_index=number, error_code=code)
        for number, code in enumerate(codes)
    ]
    return commits.OffsetCommitResponse(topics=[commits.OffsetCommitResponseTopic(name="t", partitions=partitions)])


def test_all_offsets_of_the_group_are_read(brokers: Brokers, admin: GroupAdmin) -> None:
    brokers.answers = [_fetched(("t", 1, 5), ("u", 0, -1))]
    assert admin.committed("g") == {T1: 5}
    assert brokers.requests[0].topics is None


@pytest.mark.parametrize(("stored", "metadata"), [("note", "note"), (None, "")])
def test_offsets_have_their_metadata(brokers: Brokers, admin: GroupAdmin, stored: str | None, metadata: str) -> None:
    brokers.answers = [_with_metadata(stored), _committed(0)]
    offsets = admin.offsets("g")
    assert offsets == {T1: OffsetAndMetadata(5, metadata)}
    admin.commit("g", offsets)
    (partition,) = brokers.requests[1].topics[0].partitions
    assert (partition.committed_offset, partition.committed_metadata) == (5, metadata)


def test_the_state_of_a_group(brokers: Brokers, admin: GroupAdmin) -> None:
    brokers.answers = [
        DescribeGroupsResponse(groups=[DescribedGroup(group_id="g", group_state="Dead", error_code=error)])
        for error in (Errors.NOT_COORDINATOR.code, 0, Errors.GROUP_AUTHORIZATION_FAILED.code)
    ]
    assert admin.state("g") == "Dead"
    assert [request.groups for request in brokers.requests] == [["g"], ["g"]]
    with pytest.raises(ApiError) as raised:
        admin.state("g")
    assert raised.value.error is Errors.GROUP_AUTHORIZATION_FAILED


def test_offsets_are_committed_by_nobody_in_particular(brokers: Brokers, admin: GroupAdmin) -> None:
    brokers.answers = [_committed(0, 0)]
    admin.commit("g", {T1: 6, U0: 7, T0: 5})
    (request,) = brokers.requests
    assert (request.member_id, request.generation_id_or_member_epoch) == ("", -1)
    assert [
        (topic.name, [(each.partition_index, each.committed_offset) for each in topic.partitions])
        for topic in request.topics
    ] == [("t", [(0, 5), (1, 6)]), ("u", [(0, 7)])]


def test_a_partition_that_is_refused_is_an_error(brokers: Brokers, admin: GroupAdmin) -> None:
    brokers.answers = [_committed(0, Errors.UNKNOWN_MEMBER_ID.code)]
    with pytest.raises(ApiError) as raised:
        admin.commit("g", {T0: 5, T1: 6})
    assert raised.value.error is Errors.UNKNOWN_MEMBER_ID


def _deleted(group_code: int, partition_code: int) -> deletions.OffsetDeleteResponse:
    partition = deletions.OffsetDeleteResponsePartition(partition_index=0, error_code=partition_code)
    topic = deletions.OffsetDeleteResponseTopic(name="t", partitions=[partition])
    return deletions.OffsetDeleteResponse(error_code=group_code, topics=[topic])


@pytest.mark.parametrize("codes", [(Errors.GROUP_SUBSCRIBED_TO_TOPIC.code, 0), (0, 86)])
def test_offsets_are_deleted(brokers: Brokers, admin: GroupAdmin, codes: tuple[int, int]) -> None:
    brokers.answers = [_deleted(0, 0), _deleted(*codes)]
    admin.delete_offsets("g", [T0])
    assert [(each.name, each.partitions[0].partition_index) for each in brokers.requests[0].topics] == [("t", 0)]
    with pytest.raises(ApiError) as raised:
        admin.delete_offsets("g", [T0])
    assert raised.value.error is Errors.GROUP_SUBSCRIBED_TO_TOPIC


def _group_result(error: Errors) -> DeleteGroupsResponse:
    return DeleteGroupsResponse(results=[DeletableGroupResult(group_id="g", error_code=error.code)])


def test_a_coordinator_that_moves_is_asked_again(brokers: Brokers, admin: GroupAdmin) -> None:
    brokers.coordinators = [FindCoordinatorResponse(error_code=Errors.COORDINATOR_NOT_AVAILABLE.code)]
    brokers.answers = [_group_result(Errors.NOT_COORDINATOR), _group_result(Errors.NONE)]
    admin.delete_group("g")
    assert len(brokers.requests) == 2
    brokers.answers = [_group_result(Errors.COORDINATOR_LOAD_IN_PROGRESS)] * 1000
    with pytest.raises(ApiError) as raised:
        admin.delete_group("g")
    assert raised.value.error is Errors.COORDINATOR_LOAD_IN_PROGRESS
    assert 200 < 1000 - len(brokers.answers) < 400  # half a minute


@pytest.mark.parametrize(
    "call",
    [
        lambda admin: admin.committed("g"),
        lambda admin: admin.commit("g", {T0: 1}),
        lambda admin: admin.delete_offsets("g", [T0]),
        lambda admin: admin.delete_group("g"),
    ],
)
def test_a_coordinator_that_does_not_respond(
    brokers: Brokers, admin: GroupAdmin, call: Callable[[GroupAdmin], Any]
) -> None:
    brokers.answers = [ConnectionError("refused")]
    with pytest.raises(ConnectError, match="The coordinator of group g does not respond: refused"):
        call(admin)
