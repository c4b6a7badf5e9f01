"""Faults: which requests they affect, how often, and how."""

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
def test_an_api_has_several_spellings(in_force, name):
    assert in_force.fault(name).api is ApiKey.LIST_OFFSETS


def test_an_unknown_api_is_an_error_of_the_test(in_force):
    with pytest.raises(ValueError, match="no API 'Prodce'"):
        in_force.fault("Prodce")


def test_a_fault_is_in_force_once_its_count_is_given(in_force):
    fault = in_force.fault(error=Errors.NOT_LEADER_OR_FOLLOWER).for_topic("a", 1).delay(5)
    assert in_force == []
    assert fault.not_in_force == (
        "not in force: PRODUCE of a-1: delayed by 5 ms, NOT_LEADER_OR_FOLLOWER; "
        "end it with .once(), .times(n) or .always()"
    )
    fault.once()
    assert in_force == [fault]


def test_once_affects_one_request(in_force):
    fault = in_force.fault().drop_response().once()
    assert [takes(fault) for _ in range(3)] == [True, False, False]
    assert fault.count == 1


def test_times_and_skip(in_force):
    fault = in_force.fault().drop_response().skip(1).times(2)
    assert [takes(fault) for _ in range(5)] == [False, True, True, False, False]


def test_always_ends_with_the_block(in_force):
    with in_force.fault().drop_response().always() as fault:
        assert all(takes(fault) for _ in range(100))
        assert in_force == [fault]
    assert in_force == []
    assert fault.count == 100


def test_other_apis_are_not_affected(in_force):
    assert not takes(in_force.fault("Fetch").drop_response().once())
    assert takes(in_force.fault(None).drop_response().once())


def test_selection_by_topic_partition_client_and_predicate(in_force):
    assert takes(in_force.fault().drop_response().for_topic("a").once())
    assert not takes(in_force.fault().drop_response().for_topic("b").once())
    assert takes(in_force.fault().drop_response().for_topic("a", 0).once())
    assert not takes(in_force.fault().drop_response().for_topic("a", 1).once())
    assert takes(in_force.fault().drop_response().from_client("billing").once())
    assert not takes(in_force.fault().drop_response().from_client("shipping").once())
    assert takes(in_force.fault().drop_response().when(lambda header, body: body.acks == 1).once())
    assert not takes(in_force.fault().drop_response().when(lambda header, body: header.api_version > 7).once())


def test_a_request_that_does_not_match_does_not_count(in_force):
    fault = in_force.fault().drop_response().for_topic("a").once()
    assert not takes(fault, body("b"))
    assert takes(fault, body("a"))


def test_metadata_of_all_topics_matches_every_topic(in_force):
    fault = in_force.fault("Metadata", Errors.LEADER_NOT_AVAILABLE).for_topic("a", 1).times(2)
    named = [metadata.MetadataRequestTopic(name="b")]
    assert takes(fault, metadata.MetadataRequest(topics=None), METADATA_HEADER, ApiKey.METADATA)
    assert not takes(fault, metadata.MetadataRequest(topics=named), METADATA_HEADER, ApiKey.METADATA)


def test_contradictions_are_errors_of_the_test(in_force):
    with pytest.raises(ValueError, match="cannot also be 'handled, response dropped, connection closed'"):
        in_force.fault(error=Errors.NOT_LEADER_OR_FOLLOWER).drop_response()
    with pytest.raises(ValueError, match="cannot also be"):
        in_force.fault().drop_response().cut_response()
    with pytest.raises(ValueError, match="does nothing yet"):
        in_force.fault().once()
    with pytest.raises(ValueError, match="already in force"):
        in_force.fault().drop_response().once().always()
    with pytest.raises(ValueError, match="NONE is not an error"):
        in_force.fault(error=Errors.NONE)
    with pytest.raises(ValueError, match="never happens"):
        in_force.fault().drop_response().times(0)
    with pytest.raises(ValueError, match="a delay cannot be -1"):
        in_force.fault().delay(-1)
    with pytest.raises(ValueError, match="no_response"):
        in_force.fault().slow_response(0)


def test_wait_times_out_until_the_fault_has_occurred(in_force):
    fault = in_force.fault().drop_response().once()
    with pytest.raises(TimeoutError, match="affected 0 of 1 requests"):
        fault.wait(timeout_s=0)
    takes(fault)
    fault.wait(timeout_s=0)


def test_a_fault_describes_its_ending(in_force):
    assert in_force.fault().no_response().ending is Ending.NO_RESPONSE
    assert str(in_force.fault().no_response()) == "PRODUCE: handled, no response"
    assert str(in_force.fault(None).delay_response(7)) == "any request: response delayed by 7 ms, handled as usual"
