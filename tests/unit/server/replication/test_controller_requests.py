"""Large requests of the controller: refused by their heads, bounded if they come through a client's listener."""

from __future__ import annotations

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.network.large_requests import OF_CONTROLLER
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel, ResponseAction
from kafka_lite.network.request_parser import UNDECODED
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.api_keys import API_SPECS
from kafka_lite.protocol.framing import decode_request, decode_request_head, encode_request
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest
from kafka_lite.protocol.messages.api_05_stop_replica import StopReplicaRequest, StopReplicaTopicV1
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.protocol.schema import MAX_ELEMENTS_OF_CLIENTS, Message
from kafka_lite.protocol.schema import Request as RequestMessage
from kafka_lite.protocol.schema_error import SchemaError, UnsupportedVersionError
from kafka_lite.server.kafka_request_handler import KafkaRequestHandler
from kafka_lite.server.replication.controller_requests import ControllerRequests

VERSIONS = [
    (key, version) for key in sorted(OF_CONTROLLER) for version in range(API_SPECS[key].request.VERSIONS.highest + 1)
]


def order(elements: int = 3, controller_epoch: int = 5) -> StopReplicaRequest:
    topics = [StopReplicaTopicV1(name="t", partition_indexes=list(range(elements - 1)))]
    return StopReplicaRequest(controller_id=1, controller_epoch=controller_epoch, broker_epoch=6, topics=topics)


def received(body: RequestMessage, version: int = 1, listener_name: str = "INTERNAL") -> Request:
    """A request as a processor queues a large one: not decoded."""
    header = RequestHeader(api_key=body.API_KEY, api_version=version, correlation_id=1, client_id="c")
    request = Request(0, "c", listener_name, "PLAINTEXT", "127.0.0.1", header, UNDECODED, 100_000, 0)
    request.frame = memoryview(encode_request(body, version, 1, "c"))
    return request


class Apis:
    """Handles everything, and refuses what has an epoch below 5."""

    def __init__(self) -> None:
        self.handled: list[Message] = []
        self.heads: list[Message] = []

    def handle(self, request: Request) -> None:
        self.handled.append(request.body)

    def refuse(self, request: Request, head: Message) -> bool:
        assert isinstance(head, StopReplicaRequest)
        assert request.header.api_key == head.API_KEY
        self.heads.append(head)
        return head.controller_epoch < 5


class Broker:
    """A request handler with its channel."""

    def __init__(self) -> None:
        self.apis, self.channel = Apis(), RequestChannel(1, 10)
        checks = ControllerRequests(self.apis.refuse, "INTERNAL")
        self.handler = KafkaRequestHandler(0, self.channel, self.apis, MockTime(), large_requests=checks)

    def handle(self, request: Request) -> None:
        self.channel.send_large_request(request)
        self.handler.do_work()

    @property
    def has_closed(self) -> bool:
        response = self.channel.receive_response(0)
        return response is not None and response.action is ResponseAction.CLOSE_CONNECTION


@pytest.fixture
def broker() -> Broker:
    return Broker()


def test_a_request_that_its_head_refuses_is_never_decoded(broker: Broker) -> None:
    broker.handle(stale := received(order(controller_epoch=4)))
    assert broker.apis.heads == [StopReplicaRequest(controller_id=1, controller_epoch=4, broker_epoch=6)]
    assert (broker.apis.handled, stale.body, stale.frame) == ([], UNDECODED, None)
    broker.handle(received(order()))
    assert broker.apis.handled == [order()], "it did not wait for the one that was refused"


def test_others_have_no_head(broker: Broker) -> None:
    broker.handle(received(MetadataRequest(topics=[]), 4))
    assert (broker.apis.heads, broker.apis.handled) == ([], [MetadataRequest(topics=[])])


@pytest.mark.parametrize(("listener_name", "is_served"), [("INTERNAL", True), ("EXTERNAL", False)])
def test_a_listener_of_clients_has_their_bound(broker: Broker, listener_name: str, is_served: bool) -> None:
    broker.handle(received(order(MAX_ELEMENTS_OF_CLIENTS), listener_name=listener_name))
    assert len(broker.apis.handled) == 1
    broker.handle(received(order(MAX_ELEMENTS_OF_CLIENTS + 1), listener_name=listener_name))
    assert (len(broker.apis.handled), broker.has_closed) == ((2, False) if is_served else (1, True))


def test_the_bound_of_other_requests_is_their_own() -> None:
    checks = ControllerRequests(lambda _request, _head: False, "INTERNAL")
    assert checks.max_elements(received(MetadataRequest(), listener_name="EXTERNAL")) is None


def test_a_frame_that_ends_within_the_head_closes_the_connection(
    broker: Broker, caplog: pytest.LogCaptureFixture
) -> None:
    request = received(order())
    assert request.frame is not None
    header_bytes = len(encode_request(order(), 1, 1, "c")) - len(order().encode(1))
    request.frame = request.frame[: header_bytes + 7]
    broker.handle(request)
    assert (broker.has_closed, broker.apis.handled) == (True, [])
    assert caplog.messages == ["Closing connection c: StopReplicaRequest v1: the bytes end before controller_epoch"]


@pytest.mark.parametrize(("api_key", "version"), VERSIONS)
def test_the_head_of_each_version_has_the_epochs(api_key: ApiKey, version: int) -> None:
    request = API_SPECS[api_key].request
    has_broker_epoch = any(f.name == "broker_epoch" and f.is_plain_in(version) for f in request.FIELDS)
    values = {"controller_id": 1, "controller_epoch": 7} | ({"broker_epoch": 1 << 40} if has_broker_epoch else {})
    whole = request(**values)
    frame = encode_request(whole, version, 1, "c")
    head = decode_request_head(frame)
    assert head == decode_request(frame)[1] == whole


def test_the_head_of_an_unknown_version() -> None:
    with pytest.raises(UnsupportedVersionError):
        decode_request_head(bytes.fromhex("0005 0063 00000001 ffff 00"))
    with pytest.raises(SchemaError):
        decode_request_head(b"")
