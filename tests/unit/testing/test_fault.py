"""What goes wrong, with which requests, how often."""

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages import api_00_produce as produce
from kafka_lite.protocol.messages import api_03_metadata as metadata
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.testing.fault import Ending, Fault

HEADER = RequestHeader(api_key=0, api_version=7, correlation_id=1, client_id="billing")
METADATA_HEADER = RequestHeader(api_key=3, api_version=7, correlation_id=1, client_id="billing")


class InForce(list):
    def fault(self, api="Produce", error=None):
        return Fault(api, error, self.append, self.remove)


@pytest.fixture
def in_force():
    return InForce()


def body(topic="a", partition=0):
    data = [produce.PartitionProduceData(index=partition, records=b"")]
    return produce.ProduceRequest(acks=1, topic_data=[produce.TopicProduceData(name=topic, partition_data=data)])


def takes(fault, request=None, header=HEADER, key=ApiKey.PRODUCE):
    return fault.takes(key, header, request or body())


@pytest.mark.parametrize("name", ["ListOffsets", "LIST_OFFSETS", "list_offsets", ApiKey.LIST_OFFSETS])
def test_an_api_has_many_spellings(in_force, name):
    assert in_force.fault(name).api is ApiKey.LIST_OFFSETS


def test_an_unknown_api_is_an_error_of_the_test(in_force):
    with pytest.raises(ValueError, match="no API 'Prodce'"):
        in_force.fault("Prodce")


def test_it_is_in_force_when_it_is_said_how_often(in_force):
    fault = in_force.fault(error=Errors.NOT_LEADER_OR_FOLLOWER).for_topic("a", 1).delay(5)
    assert in_force == []
    assert fault.not_in_force == (
        "not in force: PRODUCE of a-1: delayed by 5 ms, NOT_LEADER_OR_FOLLOWER; "
        "end it with .once(), .times(n) or .always()"
    )
    fault.once()
    assert in_force == [fault]


def test_once_is_once(in_force):
    fault = in_force.fault().drop_answer().once()
    assert [takes(fault) for _ in range(3)] == [True, False, False]
    assert fault.count == 1


def test_times_and_skip(in_force):
    fault = in_force.fault().drop_answer().skip(1).times(2)
    assert [takes(fault) for _ in range(5)] == [False, True, True, False, False]


def test_always_ends_with_the_block(in_force):
    with in_force.fault().drop_answer().always() as fault:
        assert all(takes(fault) for _ in range(100))
        assert in_force == [fault]
    assert in_force == []
    assert fault.count == 100


def test_other_apis_are_not_concerned(in_force):
    assert not takes(in_force.fault("Fetch").drop_answer().once())
    assert takes(in_force.fault(None).drop_answer().once())


def test_a_topic_a_partition_a_client_a_predicate(in_force):
    assert takes(in_force.fault().drop_answer().for_topic("a").once())
    assert not takes(in_force.fault().drop_answer().for_topic("b").once())
    assert takes(in_force.fault().drop_answer().for_topic("a", 0).once())
    assert not takes(in_force.fault().drop_answer().for_topic("a", 1).once())
    assert takes(in_force.fault().drop_answer().from_client("billing").once())
    assert not takes(in_force.fault().drop_answer().from_client("shipping").once())
    assert takes(in_force.fault().drop_answer().when(lambda header, body: body.acks == 1).once())
    assert not takes(in_force.fault().drop_answer().when(lambda header, body: header.api_version > 7).once())


def test_a_request_that_is_not_concerned_does_not_count(in_force):
    fault = in_force.fault().drop_answer().for_topic("a").once()
    assert not takes(fault, body("b"))
    assert takes(fault, body("a"))


def test_metadata_of_all_topics_concern_every_topic(in_force):
    fault = in_force.fault("Metadata", Errors.LEADER_NOT_AVAILABLE).for_topic("a", 1).times(2)
    named = [metadata.MetadataRequestTopic(name="b")]
    assert takes(fault, metadata.MetadataRequest(topics=None), METADATA_HEADER, ApiKey.METADATA)
    assert not takes(fault, metadata.MetadataRequest(topics=named), METADATA_HEADER, ApiKey.METADATA)


def test_contradictions_are_errors_of_the_test(in_force):
    with pytest.raises(ValueError, match="cannot also be handled, connection closed instead of the answer"):
        in_force.fault(error=Errors.NOT_LEADER_OR_FOLLOWER).drop_answer()
    with pytest.raises(ValueError, match="cannot also be"):
        in_force.fault().drop_answer().cut_answer()
    with pytest.raises(ValueError, match="nothing goes wrong yet"):
        in_force.fault().once()
    with pytest.raises(ValueError, match="in force already"):
        in_force.fault().drop_answer().once().always()
    with pytest.raises(ValueError, match="NONE is no error"):
        in_force.fault(error=Errors.NONE)
    with pytest.raises(ValueError, match="is none"):
        in_force.fault().drop_answer().times(0)
    with pytest.raises(ValueError, match="a delay cannot be -1"):
        in_force.fault().delay(-1)
    with pytest.raises(ValueError, match="no_answer"):
        in_force.fault().slow_answer(0)


def test_waiting_for_it(in_force):
    fault = in_force.fault().drop_answer().once()
    with pytest.raises(TimeoutError, match="met 0 of 1 requests"):
        fault.wait(timeout_s=0)
    takes(fault)
    fault.wait(timeout_s=0)


def test_endings_say_what_they_do(in_force):
    assert in_force.fault().no_answer().ending is Ending.NO_ANSWER
    assert str(in_force.fault().no_answer()) == "PRODUCE: handled, never answered"
    assert str(in_force.fault(None).delay_answer(7)) == "any request: answer delayed by 7 ms, answered"
