"""The two ends that the builders make: a client's knows the broker's host, and each exchange has its own."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.common.time import MockTime
from kafka_lite.network.channel_builder import PlaintextChannelBuilder
from kafka_lite.network.transport_layer import TransportLayer
from kafka_lite.protocol.framing import encode_request
from kafka_lite.protocol.messages.api_17_sasl_handshake import SaslHandshakeRequest
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsResponse
from kafka_lite.protocol.messages.api_36_sasl_authenticate import SaslAuthenticateRequest
from kafka_lite.security.plain.plain_sasl_client import PlainSaslClient
from kafka_lite.security.plain.plain_sasl_server import PlainSaslServer, plain_users
from kafka_lite.security.sasl.sasl_server_authenticator import SaslListener
from kafka_lite.security.sasl_channel_builder import SaslClientChannelBuilder, SaslServerChannelBuilder

LISTENER = SaslListener(
    {"PLAIN": lambda: PlainSaslServer(plain_users({"user_alice": "secret"}))},
    lambda _header, _request: ApiVersionsResponse(),
    ApiVersionsResponse,
)


def test_a_client_s_end_is_made_for_the_host_that_was_asked_for() -> None:
    hosts: list[str] = []

    def new_client(host: str) -> PlainSaslClient:
        hosts.append(host)
        return PlainSaslClient("alice", "secret")

    builder = SaslClientChannelBuilder(PlaintextChannelBuilder(), new_client, "client", MockTime())
    first = builder.new_end("broker1")
    second = builder.build_authenticator(Mock(TransportLayer), "broker2").end
    assert first is not second
    assert hosts == ["broker1", "broker2"]


def test_a_broker_s_end_gives_the_user_once_it_is_complete() -> None:
    def principal_of(server: object) -> KafkaPrincipal:
        assert isinstance(server, PlainSaslServer)
        return KafkaPrincipal("User", server.authorization_id)

    builder = SaslServerChannelBuilder(PlaintextChannelBuilder(), LISTENER, principal_of, 100, MockTime())
    authenticator = builder.build_authenticator(Mock(TransportLayer), "")
    assert authenticator.principal.name == "ANONYMOUS"
    for request, version in (
        (SaslHandshakeRequest(mechanism="PLAIN"), 1),
        (SaslAuthenticateRequest(auth_bytes=b"\0alice\0secret"), 2),
    ):
        authenticator.end.receive(encode_request(request, version, 1, "client"))
    assert authenticator.principal == KafkaPrincipal("User", "alice")


@pytest.mark.parametrize("name", ["build_transport", "wrap_socket"])
def test_the_layer_below_is_that_of_the_builder_given(name: str) -> None:
    below = Mock(PlaintextChannelBuilder)
    builder = SaslClientChannelBuilder(below, lambda _host: PlainSaslClient("a", "b"), "client", MockTime())
    arguments = (Mock(), "host") if name == "wrap_socket" else (Mock(), Mock(), "host")
    assert getattr(builder, name)(*arguments) is getattr(below, name).return_value
    getattr(below, name).assert_called_once_with(*arguments)
