"""A response that leaves out what was asked for is an error of the tools, never success or absence."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kafka_lite.admin.admin_utils import TOPICS
from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.replica_leader_election import ElectionType
from kafka_lite.protocol.messages.api_02_list_offsets import ListOffsetsResponse
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorResponse
from kafka_lite.protocol.messages.api_19_create_topics import CreateTopicsResponse
from kafka_lite.protocol.messages.api_20_delete_topics import DeletableTopicResult, DeleteTopicsResponse
from kafka_lite.protocol.messages.api_21_delete_records import DeleteRecordsResponse
from kafka_lite.protocol.messages.api_32_describe_configs import DescribeConfigsResponse
from kafka_lite.protocol.messages.api_37_create_partitions import CreatePartitionsResponse
from kafka_lite.protocol.messages.api_43_elect_leaders import ElectLeadersResponse
from kafka_lite.protocol.messages.api_44_incremental_alter_configs import IncrementalAlterConfigsResponse
from kafka_lite.protocol.messages.api_45_alter_partition_reassignments import AlterPartitionReassignmentsResponse
from kafka_lite.protocol.messages.api_47_offset_delete import OffsetDeleteResponse
from kafka_lite.protocol.messages.api_61_describe_producers import DescribeProducersResponse
from kafka_lite.protocol.schema import Response
from kafka_lite.tools.admin.configs import alter_configs
from kafka_lite.tools.admin.delete_records import Deletion, delete_records
from kafka_lite.tools.admin.leader_election import elect
from kafka_lite.tools.admin.partition_offsets import LATEST, NO_OFFSET, Offset, list_offsets
from kafka_lite.tools.admin.reassignment_service import BrokerReassignmentService
from kafka_lite.tools.admin.topic_service import BrokerTopicService, NewTopic
from kafka_lite.tools.common.tool_errors import ToolError
from kafka_lite.tools.groups.consumer_group_service import ConsumerGroupService
from kafka_lite.tools.transactions.transaction_service import describe_producers
from tests.support.scripted_channel import ScriptedChannel, metadata

P0 = TopicPartition("flights", 0)
UNKNOWN = Errors.UNKNOWN_SERVER_ERROR

CALLS: dict[str, tuple[Response, Callable[[ScriptedChannel], object]]] = {
    "create": (CreateTopicsResponse(topics=[]), lambda c: BrokerTopicService(c).create(NewTopic("flights"))),
    "add partitions": (
        CreatePartitionsResponse(results=[]),
        lambda c: BrokerTopicService(c).add_partitions("flights", 2, None),
    ),
    "delete": (
        DeleteTopicsResponse(responses=[DeletableTopicResult(name="weather")]),
        lambda c: BrokerTopicService(c).delete(["weather", "flights"]),
    ),
    "describe": (DescribeConfigsResponse(results=[]), lambda c: BrokerTopicService(c).describe(["flights"])),
    "alter configs": (
        IncrementalAlterConfigsResponse(responses=[]),
        lambda c: alter_configs(c, TOPICS, "flights", {"retention.ms": "5"}, None),
    ),
    "reassign": (
        AlterPartitionReassignmentsResponse(responses=[]),
        lambda c: BrokerReassignmentService(c).start({P0: [1]}),
    ),
    "producers": (DescribeProducersResponse(topics=[]), lambda c: describe_producers(c, [P0])),
}


def channel_of(*responses: Response) -> ScriptedChannel:
    channel = ScriptedChannel(metadata(P0), *responses)
    channel.refresh()
    return channel


@pytest.mark.parametrize(("response", "call"), CALLS.values(), ids=CALLS)
def test_what_a_response_leaves_out_has_failed(response: Response, call: Callable[[ScriptedChannel], object]) -> None:
    with pytest.raises(ToolError, match="the broker's response has no result for flights"):
        call(channel_of(response))


def test_an_offset_that_a_response_leaves_out_is_not_known() -> None:
    found = list_offsets(channel_of(ListOffsetsResponse(topics=[])), [P0], LATEST)
    assert found == [Offset(P0, NO_OFFSET, UNKNOWN)]


def test_records_are_not_deleted_if_the_response_leaves_the_partition_out() -> None:
    found = delete_records(channel_of(DeleteRecordsResponse(topics=[])), {P0: 5})
    assert list(found) == [Deletion(P0, -1, UNKNOWN)]


def test_a_leader_is_not_elected_if_the_response_leaves_the_partition_out() -> None:
    channel = channel_of(ElectLeadersResponse(replica_election_results=[]))
    assert elect(channel, ElectionType.PREFERRED, [P0]) == {P0: (UNKNOWN, "")}
    assert elect(channel, ElectionType.PREFERRED, None) == {}, "no partition needs an election"


def test_a_committed_offset_is_not_deleted_if_the_response_leaves_the_partition_out() -> None:
    channel = channel_of(FindCoordinatorResponse(node_id=1), OffsetDeleteResponse(topics=[]))
    assert ConsumerGroupService(channel).delete_offsets("g", [P0]) == (Errors.NONE, {P0: UNKNOWN})
