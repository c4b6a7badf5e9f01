"""What is not known yet is asked for again, what stays unknown is an error: on a scripted channel, without waiting."""

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_02_list_offsets import ListOffsetsRequest, ListOffsetsResponse
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataResponse
from kafka_lite.tools.admin.admin_channel import SETTLE_MS, UNKNOWN_TOPIC_MS
from kafka_lite.tools.admin.partition_offsets import LATEST, NO_OFFSET, Offset, known_offsets, list_offsets
from kafka_lite.tools.common.tool_errors import ToolError
from tests.support.scripted_channel import ScriptedChannel, counted, metadata, offsets

P0, P1 = TopicPartition("flights", 0), TopicPartition("flights", 1)
BOTH = metadata(P0, P1)
REQUESTS = (MetadataRequest, ListOffsetsRequest)


@pytest.mark.parametrize("error", [error for error in Errors if error.retriable])
def test_a_partition_with_a_retriable_error_is_asked_for_again_alone(error):
    channel = ScriptedChannel(BOTH, offsets({P0: 7, P1: error}), offsets({P1: 8}))
    assert known_offsets(list_offsets(channel, [P0, P1], LATEST)) == {P0: 7, P1: 8}
    assert counted(channel, REQUESTS) == [2, 2], "with refreshed metadata"
    assert [len(topic.partitions) for topic in channel.requests[-1].topics] == [1]


def test_an_error_that_stays_is_in_the_result_and_raised_where_offsets_are_needed():
    channel = ScriptedChannel(BOTH, offsets({P0: 7, P1: Errors.NOT_LEADER_OR_FOLLOWER}))
    results = list_offsets(channel, [P0, P1], LATEST)
    assert results == [Offset(P0, 7, Errors.NONE), Offset(P1, NO_OFFSET, Errors.NOT_LEADER_OR_FOLLOWER)]
    assert channel.time.hi_res_ms() >= SETTLE_MS
    with pytest.raises(ToolError, match=r"flights-1 \(NOT_LEADER_OR_FOLLOWER\).* are not known.*topics --describe"):
        known_offsets(results)


def test_an_error_that_is_not_retriable_is_not_asked_for_again():
    channel = ScriptedChannel(BOTH, offsets({P0: Errors.TOPIC_AUTHORIZATION_FAILED}))
    (result,) = list_offsets(channel, [P0], LATEST)
    assert (result.error, counted(channel, REQUESTS)) == (Errors.TOPIC_AUTHORIZATION_FAILED, [1, 1])


def test_no_record_so_late_is_no_error():
    channel = ScriptedChannel(BOTH, offsets({P0: NO_OFFSET, P1: 5}))
    assert known_offsets(list_offsets(channel, [P0, P1], 1_000)) == {P1: 5}


@pytest.mark.parametrize(
    "first",
    [
        metadata(flights=Errors.UNKNOWN_TOPIC_OR_PARTITION),
        metadata(flights=Errors.LEADER_NOT_AVAILABLE),
        metadata(),
        metadata(P0),
        metadata(P0, P1, leader=-1),
        metadata(P0, P1, leader=9),
    ],
    ids=["unknown topic", "topic without leader", "no topic", "fewer partitions", "no leader", "leader not alive"],
)
def test_a_topic_unknown_for_a_moment_is_asked_for_again(first):
    channel = ScriptedChannel(first, BOTH, offsets({P0: 7, P1: 8}))
    assert known_offsets(list_offsets(channel, [P0, P1], LATEST)) == {P0: 7, P1: 8}


def test_a_topic_that_stays_unknown_does_not_exist():
    channel = ScriptedChannel(metadata(flights=Errors.UNKNOWN_TOPIC_OR_PARTITION))
    began_ms = channel.time.hi_res_ms()
    (result,) = list_offsets(channel, [P0], LATEST)
    assert result.error is Errors.UNKNOWN_TOPIC_OR_PARTITION
    assert UNKNOWN_TOPIC_MS <= channel.time.hi_res_ms() - began_ms < SETTLE_MS


def test_a_leader_that_closes_the_connection_is_asked_again():
    class Restarting(ScriptedChannel):
        def send(self, request, response_class, broker_id=None, max_version=1 << 15):
            if response_class is ListOffsetsResponse and not counted(self, REQUESTS)[1]:
                self.requests.append(request)
                raise ConnectionError("closed")
            return super().send(request, response_class, broker_id, max_version)

    assert known_offsets(list_offsets(Restarting(BOTH, offsets({P0: 7})), [P0], LATEST)) == {P0: 7}


def test_a_leader_that_stays_away_is_an_error_of_its_partitions():
    class Dead(ScriptedChannel):
        def send(self, request, response_class, broker_id=None, max_version=1 << 15):
            if response_class is MetadataResponse:
                return BOTH
            raise ConnectionError("refused")

    assert {each.error for each in list_offsets(Dead(), [P0, P1], LATEST)} == {Errors.NETWORK_EXCEPTION}


def test_without_patience_each_partition_is_asked_for_once():
    channel = ScriptedChannel(BOTH, offsets({P0: Errors.NOT_LEADER_OR_FOLLOWER}))
    (result,) = list_offsets(channel, [P0], LATEST, settle_ms=0)
    assert (result.error, counted(channel, REQUESTS)) == (Errors.NOT_LEADER_OR_FOLLOWER, [1, 1])
