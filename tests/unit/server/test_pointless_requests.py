"""What becomes of the requests of a client that closes its connection before they are handled."""

from __future__ import annotations

import socket
import struct
import threading

import pytest

from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel
from kafka_lite.network.request_parser import MAX_DECODED_BYTES
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.framing import encode_request
from kafka_lite.protocol.messages.api_00_produce import ProduceRequest
from kafka_lite.protocol.messages.api_01_fetch import FetchRequest
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataRequestTopic
from kafka_lite.protocol.messages.api_08_offset_commit import OffsetCommitRequest, OffsetCommitRequestTopic
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.protocol.schema import Request as RequestMessage
from kafka_lite.server.kafka_apis import SERVED_VERSIONS
from kafka_lite.server.kafka_request_handler import KafkaRequestHandler
from kafka_lite.server.pointless_requests import READING, is_pointless
from tests.support.eventually import eventually
from tests.support.network import (
    connect,
    echo_correlation_id,
    needs_plain_package,
    read_correlation_id,
    request_frame,
    running_server,
)
from tests.support.patience import patient_s

NAME = "a name of a hundred bytes".ljust(100, ".")
LARGE_READ = MetadataRequest(topics=[MetadataRequestTopic(name=NAME) for _ in range(MAX_DECODED_BYTES // 100)])
LARGE_WRITE = OffsetCommitRequest(topics=[OffsetCommitRequestTopic(name=NAME) for _ in range(MAX_DECODED_BYTES // 100)])


def frame(body: RequestMessage, correlation_id: int) -> bytes:
    encoded = encode_request(body, 4, correlation_id, "test")
    return struct.pack(">i", len(encoded)) + encoded


class Broker:
    """Handles requests, each once ``door`` is open; notes them."""

    def __init__(self) -> None:
        self.door = threading.Event()
        self.begun: list[Request] = []

    def handle(self, request: Request, channel: RequestChannel) -> None:
        self.begun.append(request)
        assert self.door.wait(patient_s(30))
        echo_correlation_id(request, channel)

    @property
    def ids(self) -> list[int]:
        return [request.header.correlation_id for request in self.begun]


@pytest.fixture
def broker() -> Broker:
    return Broker()


def test_a_request_that_is_being_handled_learns_that_its_client_has_left(broker: Broker) -> None:
    with running_server(broker.handle, io_threads=1) as server:
        with connect(server) as leaving:
            leaving.sendall(request_frame(1))
            eventually(lambda: broker.ids == [1])
            assert not broker.begun[0].client_has_left
        eventually(lambda: broker.begun[0].client_has_left)
        broker.door.set()


def test_a_connection_that_is_reset_is_noticed_too(broker: Broker) -> None:
    with running_server(broker.handle, io_threads=1) as server:
        with connect(server) as leaving:
            leaving.sendall(request_frame(1) + request_frame(2))
            eventually(lambda: broker.ids == [1])
            leaving.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closing resets
        eventually(lambda: broker.begun[0].client_has_left)
        broker.door.set()


def test_a_client_that_has_only_sent_more_has_not_left(broker: Broker) -> None:
    with running_server(broker.handle, io_threads=1) as server, connect(server) as client:
        client.sendall(request_frame(1))
        eventually(lambda: broker.ids == [1])
        client.sendall(request_frame(2))
        broker.door.set()
        assert [read_correlation_id(client) for _ in range(2)] == [1, 2]
        assert not any(request.client_has_left for request in broker.begun)


@pytest.mark.parametrize(
    ("body", "is_handled"),
    [
        (FetchRequest(), False),
        (LARGE_READ, False),
        (ProduceRequest(acks=0), True),
        (ProduceRequest(acks=1), True),
        (LARGE_WRITE, True),
    ],
    ids=["fetch", "large metadata", "produce acks=0", "produce acks=1", "large offset commit"],
)
def test_of_a_client_that_has_left_only_what_changes_something_is_handled(
    broker: Broker, body: RequestMessage, is_handled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = threading.Event()
    note = Request.note_client_left
    monkeypatch.setattr(Request, "note_client_left", lambda request: (note(request), left.set()))
    with running_server(broker.handle, io_threads=1) as server, connect(server) as other:
        other.sendall(request_frame(1))
        eventually(lambda: broker.ids == [1])
        with connect(server) as leaving:
            leaving.sendall(frame(body, 2))
            eventually(lambda: server.request_channel.request_queue_size == 1)
        assert left.wait(patient_s(30))
        broker.door.set()
        assert read_correlation_id(other) == 1
        for number in (3, 4):  # the second one only if the place of a large request is free again
            other.sendall(frame(LARGE_READ, number))
            assert read_correlation_id(other) == number
    assert broker.ids == [1, *([2] if is_handled else []), 3, 4]


@needs_plain_package
def test_a_client_that_leaves_while_its_request_is_decoded_is_noticed(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def leaving(self: KafkaRequestHandler, request: Request) -> bool:
        decoded = decode(self, request)
        if request.header.correlation_id == 1:
            request.note_client_left()
        return decoded

    decode = KafkaRequestHandler._decode
    monkeypatch.setattr(KafkaRequestHandler, "_decode", leaving)
    broker.door.set()
    with running_server(broker.handle, io_threads=1) as server, connect(server) as client:
        client.sendall(frame(LARGE_READ, 1) + frame(LARGE_READ, 2))
        assert read_correlation_id(client) == 2, "the place of a large request is free again"
    assert broker.ids == [2]


def test_what_was_pipelined_behind_a_read_is_handled(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    left = threading.Event()
    note = Request.note_client_left
    monkeypatch.setattr(Request, "note_client_left", lambda request: (note(request), left.set()))
    with running_server(broker.handle, io_threads=1) as server, connect(server) as other:
        other.sendall(request_frame(1))
        eventually(lambda: broker.ids == [1])
        with connect(server) as leaving:
            leaving.sendall(frame(FetchRequest(), 2) + frame(ProduceRequest(acks=0), 3))
            eventually(lambda: server.request_channel.request_queue_size == 1)
        assert left.wait(patient_s(30))
        broker.door.set()
        eventually(lambda: broker.ids == [1, 3])


def test_reading_apis_are_named_and_those_that_change_something_are_not() -> None:
    writing = {ApiKey.PRODUCE, ApiKey.OFFSET_COMMIT, ApiKey.HEARTBEAT, ApiKey.JOIN_GROUP, ApiKey.WRITE_TXN_MARKERS}
    assert not READING & writing
    assert set(SERVED_VERSIONS) > READING
    for api_key, expected in ((ApiKey.FETCH, True), (ApiKey.PRODUCE, False)):
        header = RequestHeader(api_key=api_key, api_version=0, correlation_id=1)
        assert is_pointless(Request(0, "c", "", "", "", header, FetchRequest(), 1, 0)) is expected
