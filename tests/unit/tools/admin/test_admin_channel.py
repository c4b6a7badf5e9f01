"""The metadata that tools see: a topic that is unknown for a moment is asked for again, other errors are not hidden."""

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest
from kafka_lite.tools.admin.admin_channel import SETTLE_MS, UNKNOWN_TOPIC_MS
from kafka_lite.tools.common.tool_errors import ToolError
from tests.support.scripted_channel import ScriptedChannel, counted, metadata

F0, W0 = TopicPartition("flights", 0), TopicPartition("weather", 0)
UNKNOWN, NO_LEADER = Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.LEADER_NOT_AVAILABLE


@pytest.mark.parametrize("topics", [["flights", "weather"], None], ids=["named", "all"])
@pytest.mark.parametrize("error", [UNKNOWN, NO_LEADER])
def test_a_topic_with_a_passing_error_is_asked_for_again(topics, error):
    channel = ScriptedChannel(metadata(W0, flights=error), metadata(F0, W0))
    assert channel.leaders(topics) == {F0: 1, W0: 1}
    assert counted(channel, [MetadataRequest]) == [2]


def test_a_topic_that_stays_unknown_is_left_out_of_the_leaders_but_is_an_error_of_metadata():
    channel = ScriptedChannel(metadata(W0, flights=UNKNOWN))
    began_ms = channel.time.hi_res_ms()
    assert channel.leaders(["flights", "weather"]) == {W0: 1}
    assert UNKNOWN_TOPIC_MS <= channel.time.hi_res_ms() - began_ms < SETTLE_MS
    with pytest.raises(ToolError, match=r"unknown topic flights.*topics --list.*try again"):
        channel.metadata(["flights", "weather"])


def test_a_topic_missing_from_the_response_of_an_old_broker_is_unknown():
    with pytest.raises(ToolError, match="unknown topic flights"):
        ScriptedChannel(metadata(W0)).metadata(["flights"])


@pytest.mark.parametrize("topics", [["flights"], None], ids=["named", "all"])
def test_an_error_that_stays_is_raised(topics):
    channel = ScriptedChannel(metadata(W0, flights=NO_LEADER))
    with pytest.raises(ToolError, match="topic flights: LEADER_NOT_AVAILABLE"):
        channel.leaders(topics)
    assert channel.time.hi_res_ms() >= SETTLE_MS


def test_an_error_that_is_not_retriable_is_raised_at_once():
    channel = ScriptedChannel(metadata(flights=Errors.INVALID_TOPIC_EXCEPTION))
    with pytest.raises(ToolError, match="topic flights: INVALID_TOPIC_EXCEPTION"):
        channel.leaders(["flights"])
    assert counted(channel, [MetadataRequest]) == [1]


def test_one_request_returns_the_topics_with_their_errors():
    channel = ScriptedChannel(metadata(W0, flights=UNKNOWN))
    assert {topic.name: topic.error_code for topic in channel.ask_metadata(None)} == {"flights": 3, "weather": 0}
