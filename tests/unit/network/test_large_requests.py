"""Large requests are decoded by handlers, one at a time, and nobody waits for them."""

from __future__ import annotations

import gc
import struct
from typing import Any

import pytest

from kafka_lite.network import request_parser
from kafka_lite.network.large_requests import LargeRequests
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel
from kafka_lite.network.request_parser import (
    MAX_DECODED_BYTES,
    MAX_DECODED_PRODUCE_BYTES,
    UNDECODED,
    InvalidRequestError,
    parse_large_request,
)
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.framing import encode_request
from kafka_lite.protocol.messages.api_00_produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataRequestTopic
from kafka_lite.protocol.messages.headers import RequestHeader
from tests.support.eventually import eventually
from tests.support.network import (
    connect,
    echo_correlation_id,
    is_closed,
    needs_plain_package,
    read_correlation_id,
    request_frame,
    running_server,
)

NAMES = ["a name of forty bytes, more or less, say"] * (MAX_DECODED_BYTES // 40)
BODY = MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in NAMES])


def large_frame(correlation_id: int) -> bytes:
    frame = encode_request(BODY, 4, correlation_id, "test")
    return struct.pack(">i", len(frame)) + frame


def request(api_key: int = ApiKey.METADATA, number: int = 0) -> Request:
    header = RequestHeader(api_key=api_key, api_version=0, correlation_id=number)
    return Request(0, "c", "PLAINTEXT", "PLAINTEXT", "127.0.0.1", header, UNDECODED, 100_000, 0)


# ---- one at a time ---------------------------------------------------------------------------------------------------


def test_the_next_large_request_is_queued_once_the_one_in_progress_is_handled() -> None:
    queued: list[Request] = []
    large, requests = LargeRequests(queued.append), [request(number=number) for number in range(3)]
    for each in requests:
        large.send(each)
    assert (queued, len(large)) == (requests[:1], 2)
    large.completed(requests[1])
    assert len(large) == 2, "it is not in progress"
    large.completed(requests[0])
    large.completed(requests[0])
    assert (queued, len(large)) == (requests[:2], 1)
    assert [each in large for each in requests] == [False, True, False]
    large.completed(requests[1])
    large.completed(requests[2])
    assert queued == requests
    large.send(requests[0])
    assert len(queued) == 4


def test_several_may_be_in_progress() -> None:
    queued: list[Request] = []
    large, requests = LargeRequests(queued.append, 2), [request(number=number) for number in range(4)]
    for each in requests:
        large.send(each)
    assert queued == requests[:2]
    large.completed(requests[1])
    assert queued == requests[:3]


def test_waiting_requests_are_dropped_at_shutdown() -> None:
    queued: list[Request] = []
    large = LargeRequests(queued.append)
    for number in range(3):
        large.send(request(number=number))
    large.clear()
    large.completed(queued[0])
    assert len(queued) == 1


def test_a_full_queue_does_not_block_a_large_request_of_a_client() -> None:
    channel = RequestChannel(1, 1)
    channel.send_request(request())
    for number in range(3):
        channel.send_large_request(request(number=number))
    assert channel.request_queue_size == 4


@pytest.mark.parametrize("api_key", [ApiKey.LEADER_AND_ISR, ApiKey.STOP_REPLICA, ApiKey.UPDATE_METADATA])
def test_requests_of_the_controller_do_not_wait_for_others(api_key: ApiKey) -> None:
    channel = RequestChannel(1, 10)
    first, second, client = request(), request(api_key), request(number=2)
    for each in (first, client, second):
        channel.send_large_request(each)
    assert [channel.receive_request(0) for _ in range(3)] == [first, second, None]
    channel.let_next_in(second)
    assert channel.receive_request(0) is None
    channel.let_next_in(first)
    assert channel.receive_request(0) is client
    third, fourth = request(api_key), request(api_key)
    channel.send_large_request(third)
    channel.send_large_request(fourth)
    assert [channel.receive_request(0) for _ in range(2)] == [third, None], "the controller itself sends one at a time"
    channel.let_next_in(third)
    assert channel.receive_request(0) is fourth


def test_two_large_produce_requests_are_handled_beside_another_one() -> None:
    channel = RequestChannel(1, 10)
    other, *produces = request(), *(request(ApiKey.PRODUCE, number) for number in range(3))
    for each in (other, *produces):
        channel.send_large_request(each)
    assert [channel.receive_request(0) for _ in range(4)] == [other, *produces[:2], None]
    assert channel.request_queue_size == 1
    channel.let_next_in(other)
    assert channel.receive_request(0) is None
    channel.let_next_in(produces[1])
    assert channel.receive_request(0) is produces[2]


def test_what_waits_is_dropped_at_a_shutdown_of_the_channel() -> None:
    channel = RequestChannel(1, 10)
    for each in (request(), request(), *(request(ApiKey.PRODUCE) for _ in range(3))):
        channel.send_large_request(each)
    channel.heavy_requests.send(request())
    channel.heavy_requests.send(request())
    assert channel.request_queue_size == 7
    channel.shutdown()
    assert channel.request_queue_size == 0


# ---- what a network thread decodes -----------------------------------------------------------------------------------


def test_of_a_large_request_only_the_header_is_decoded() -> None:
    header, body, _ = parse_large_request(memoryview(encode_request(BODY, 4, 7, "test")))
    assert (header.api_key, header.correlation_id, header.client_id) == (ApiKey.METADATA, 7, "test")
    assert body is UNDECODED


@pytest.mark.parametrize(
    ("size", "decoded"), [(MAX_DECODED_PRODUCE_BYTES // 2, True), (MAX_DECODED_PRODUCE_BYTES, False)]
)
def test_a_produce_request_is_large_by_its_own_bound(size: int, decoded: bool) -> None:
    data = [PartitionProduceData(index=0, records=memoryview(bytes(size)))]
    body = ProduceRequest(topic_data=[TopicProduceData(name="t", partition_data=data)])
    _, parsed, _ = parse_large_request(memoryview(encode_request(body, 7, 1, "test")))
    assert isinstance(parsed, ProduceRequest) is decoded


@pytest.mark.parametrize("frame", [b"", struct.pack(">hhih", 3, 99, 1, -1), struct.pack(">hhih", 999, 0, 1, -1)])
def test_what_is_refused_for_its_header_is_refused_at_once(frame: bytes) -> None:
    with pytest.raises(InvalidRequestError):
        parse_large_request(memoryview(frame + bytes(MAX_DECODED_BYTES if frame else 0)))


# ---- through the server ----------------------------------------------------------------------------------------------


def test_a_handler_decodes_a_large_request() -> None:
    topics: list[int] = []

    def handle(request: Request, channel: RequestChannel) -> None:
        body = request.body
        topics.append(len(body.topics or ()) if isinstance(body, MetadataRequest) else 0)
        echo_correlation_id(request, channel)

    with running_server(handle, is_quick=lambda request: request.frame is None) as server, connect(server) as client:
        client.sendall(large_frame(1) + large_frame(2) + request_frame(3) + large_frame(4))
        assert [read_correlation_id(client) for _ in range(4)] == [1, 2, 3, 4]
    assert topics == [len(NAMES), len(NAMES), 0, len(NAMES)]


def test_no_collection_looks_at_the_objects_of_a_large_request() -> None:
    collecting: list[bool] = []

    def handle(request: Request, channel: RequestChannel) -> None:
        collecting.append(gc.isenabled())
        echo_correlation_id(request, channel)

    with running_server(handle) as server, connect(server) as client:
        client.sendall(large_frame(1))
        assert read_correlation_id(client) == 1
        eventually(gc.isenabled)
        client.sendall(request_frame(2))
        assert read_correlation_id(client) == 2
    assert collecting == [False, True]


def test_a_large_request_that_cannot_be_decoded_closes_its_connection_only() -> None:
    bad = bytearray(large_frame(1))
    bad[4 + 14] = 0x7F  # the count of topics
    with running_server() as server, connect(server) as client, connect(server) as other:
        client.sendall(bad)
        assert is_closed(client)
        other.sendall(large_frame(2) + request_frame(3))
        assert [read_correlation_id(other) for _ in range(2)] == [2, 3]


@needs_plain_package
def test_an_error_of_ours_in_decoding_lets_the_next_large_request_in(monkeypatch: pytest.MonkeyPatch) -> None:
    parse, failures = request_parser.parse_request, [ValueError("a bug")]

    def failing_once(frame: memoryview, max_elements: int | None = None) -> Any:
        if len(frame) > MAX_DECODED_BYTES and failures:
            raise failures.pop()
        return parse(frame, max_elements)

    monkeypatch.setattr("kafka_lite.server.kafka_request_handler.parse_request", failing_once)
    with running_server() as server, connect(server) as client, connect(server) as other:
        client.sendall(large_frame(1))
        assert is_closed(client)
        other.sendall(large_frame(2))
        assert read_correlation_id(other) == 2
