"""Requests and responses on the wire in words."""

from kafka_learn.recording.frame_words import Exchange, correlation_id, request_words, response_words, zookeeper_words
from kafka_lite.common.errors import Errors
from kafka_lite.common.sendable import Part
from kafka_lite.protocol.api_keys import ApiKey
from kafka_lite.protocol.framing import encode_request, encode_response
from kafka_lite.protocol.messages.api_00_produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from kafka_lite.protocol.messages.api_01_fetch import FetchableTopicResponse, FetchResponse, PartitionData
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest
from kafka_lite.protocol.messages.api_14_sync_group import SyncGroupResponse
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import memory_records
from kafka_lite.record.record import MAGIC_V2

PRODUCE = Exchange("Produce", 5, is_quiet=False, key=ApiKey.PRODUCE, version=9)


def frame(parts: list[Part]) -> bytes:
    return b"".join(part if isinstance(part, bytes) else bytes(part) for part in parts)  # type: ignore[arg-type]


def records(*values: bytes) -> bytes:
    return bytes(memory_records(MAGIC_V2, CompressionType.NONE, [(None, value) for value in values], timestamp=1))


def produce_response(error_code: int) -> bytes:
    partition = PartitionProduceResponse(index=0, error_code=error_code, base_offset=170)
    topic = TopicProduceResponse(name="t", partition_responses=[partition])
    return frame(encode_response(ProduceResponse(responses=[topic]), 9, 5))


def test_a_produce_request_names_its_first_and_last_record() -> None:
    data = [
        PartitionProduceData(index=0, records=records(b"a", b"b", b"c")),
        PartitionProduceData(index=1, records=None),
    ]
    request = ProduceRequest(acks=-1, timeout_ms=1, topic_data=[TopicProduceData(name="t", partition_data=data)])
    exchange, words = request_words(encode_request(request, 9, 5, "me"))
    assert exchange == PRODUCE
    assert words == "t-0: a … c, t-1: "


def test_a_value_that_is_no_text_has_its_length_only() -> None:
    data = [PartitionProduceData(index=0, records=records(b"\x00\x01\xff"))]
    request = ProduceRequest(acks=-1, timeout_ms=1, topic_data=[TopicProduceData(name="t", partition_data=data)])
    assert request_words(encode_request(request, 9, 5, "me"))[1] == "t-0: 3 bytes"


def test_a_produce_response_says_the_offset_or_the_error() -> None:
    assert response_words(PRODUCE, produce_response(0)) == "t-0: offset 170"
    assert (
        response_words(PRODUCE, produce_response(Errors.NOT_LEADER_OR_FOLLOWER.code)) == "t-0: NOT_LEADER_OR_FOLLOWER"
    )
    assert correlation_id(produce_response(0)) == 5


def test_a_fetch_is_quiet_until_it_gets_records() -> None:
    for found, words in ((None, ""), (records(b"a"), "t-0: a, HW 1")):
        fetch = Exchange("Fetch", 6, is_quiet=True, key=ApiKey.FETCH, version=11)
        partition = PartitionData(partition_index=0, high_watermark=1, records=found)
        response = FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=[partition])])
        assert response_words(fetch, frame(encode_response(response, 11, 6))) == words
        assert fetch.is_quiet == (not words)


def test_a_heartbeat_is_quiet_and_an_error_of_a_group_is_named() -> None:
    request = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
    assert request_words(encode_request(request, 3, 7, "me"))[0].is_quiet
    sync = Exchange("SyncGroup", 8, is_quiet=False, key=ApiKey.SYNC_GROUP, version=3)
    refused = frame(encode_response(SyncGroupResponse(error_code=Errors.REBALANCE_IN_PROGRESS.code), 3, 8))
    assert response_words(sync, refused) == "REBALANCE_IN_PROGRESS"


def test_bytes_that_are_no_request_have_their_length_only() -> None:
    assert request_words(b"\xff" * 20)[1] == "20 bytes"
    assert response_words(PRODUCE, b"\0") == "1 bytes"


def test_writes_to_zookeeper_name_the_znode() -> None:
    path = b"/controller"
    create, read = (
        (7).to_bytes(4, "big") + (n).to_bytes(4, "big") + len(path).to_bytes(4, "big") + path for n in (1, 4)
    )
    assert zookeeper_words(create) == "create /controller"
    assert zookeeper_words(read) is None
