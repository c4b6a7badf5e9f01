"""Connections that a processor has been given but not yet taken, or cannot take."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from kafka_lite.common.security.kafka_principal import ANONYMOUS, KafkaPrincipal
from kafka_lite.common.time import MockTime
from kafka_lite.network.channel_builder import ChannelBuilder, PlaintextChannelBuilder
from kafka_lite.network.connection_quotas import ConnectionQuotas
from kafka_lite.network.nio_selector import NioSelector
from kafka_lite.network.processor import Processor
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel
from kafka_lite.network.transport_layer import TransportLayer
from kafka_lite.network.unserved_requests import UnservedRequests
from kafka_lite.protocol.framing import encode_request
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest
from tests.support.patience import patient_s

HOST = "127.0.0.1"
ALICE = KafkaPrincipal("User", "alice")


class Given:
    """A processor without a thread, and connections that the quotas count."""

    def __init__(self, channel_builder: ChannelBuilder | None = None) -> None:
        self.quotas = ConnectionQuotas(10, {})
        self.requests = RequestChannel(1, 10)
        self.processor = Processor(
            0, "p", "PLAINTEXT", "PLAINTEXT", MockTime(), 1000, 60_000, self.requests, self.quotas,
            UnservedRequests(), channel_builder,
        )  # fmt: skip
        self.clients: list[socket.socket] = []

    def connection(self) -> socket.socket:
        """The broker's end."""
        with socket.create_server((HOST, 0)) as listener:
            client = socket.create_connection(listener.getsockname())
            broker, (host, port) = listener.accept()
        client.settimeout(patient_s(30))
        self.clients.append(client)
        self.quotas.inc(host)
        self.processor.accept(broker, host, port)
        return broker

    def close(self) -> None:
        for client in self.clients:
            client.close()


@pytest.fixture
def given() -> Iterator[Given]:
    given = Given()
    yield given
    given.close()


def test_a_stop_closes_the_connections_that_were_taken_and_those_that_were_not(given: Given) -> None:
    taken = given.connection()
    given.processor.do_work()
    assert given.processor.connection_count == 1
    waiting = given.connection()
    assert given.quotas.get(HOST) == 2
    given.processor.close_all()
    assert (taken.fileno(), waiting.fileno()) == (-1, -1)
    assert [client.recv(1) for client in given.clients] == [b"", b""]
    assert given.quotas.get(HOST) == 0


def test_a_connection_that_ends_before_it_is_taken_is_not_counted_any_more(given: Given) -> None:
    given.connection().close()
    other = given.connection()
    given.processor.do_work()
    assert (given.quotas.get(HOST), given.processor.connection_count, other.fileno() >= 0) == (1, 1, True)
    given.processor.close_all()
    assert given.quotas.get(HOST) == 0


class KnownUser:
    """A channel builder whose peers are all alice."""

    def build_transport(self, selector: NioSelector, sock: socket.socket, peer_host: str) -> TransportLayer:
        transport = PlaintextChannelBuilder().build_transport(selector, sock, peer_host)
        transport.principal = ALICE
        return transport

    def build_authenticator(self, transport: TransportLayer, peer_host: str) -> None:
        pass


@pytest.mark.parametrize(("builder", "principal"), [(None, ANONYMOUS), (KnownUser(), ALICE)])
def test_requests_carry_the_user_of_their_connection(builder: ChannelBuilder | None, principal: KafkaPrincipal) -> None:
    """The first one and those that were pipelined after it."""
    given = Given(builder)
    given.connection()
    frame = encode_request(ApiVersionsRequest(), 0, 7, "client")
    given.clients[0].sendall((len(frame).to_bytes(4, "big") + frame) * 3)
    request = None
    while request is None:
        given.processor.do_work()
        found = given.requests.receive_request(0)
        request = found if isinstance(found, Request) else None

    users = []
    while request is not None:
        users.append(request.principal)
        request = request.following
    assert users == [principal] * 3
    given.processor.close_all()
    given.close()
