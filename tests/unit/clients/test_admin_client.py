"""Single requests: which broker is asked, in which version, and how the connection is protected."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.clients import admin_client
from kafka_lite.clients.admin_client import ADMIN_CONFIG, AdminClient
from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.network.authentication_error import SaslAuthenticationError
from kafka_lite.network.blocking_channel import NotConnectedError
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataResponse
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersion, ApiVersionsResponse

SERVERS = {"bootstrap.servers": "127.0.0.1:1,127.0.0.1:2"}
PLAIN = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.username": "alice",
    "sasl.password": "secret",
}


class Brokers:
    """Two brokers, at the ports 1 and 2."""

    def __init__(self) -> None:
        self.failures: dict[int, Exception] = {}
        self.highest = 12
        self.asked: list[tuple[int, int]] = []
        """Port and version."""
        self.opened: list[dict[str, Any]] = []

    def channel(self, _: str, port: int, **how: Any) -> Channel:
        self.opened.append(how)
        return Channel(self, port)


class Channel:
    """A connection to one of them."""

    def __init__(self, brokers: Brokers, port: int) -> None:
        self._brokers, self._port = brokers, port

    def __enter__(self) -> Channel:
        if self._port in self._brokers.failures:
            raise self._brokers.failures[self._port]
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to close."""

    def exchange(self, request: Any, version: int) -> Any:
        if request.API_KEY is ApiKey.API_VERSIONS:
            metadata = ApiVersion(api_key=ApiKey.METADATA, min_version=0, max_version=self._brokers.highest)
            return ApiVersionsResponse(api_keys=[metadata])
        self._brokers.asked.append((self._port, version))
        return MetadataResponse(controller_id=self._port)


@pytest.fixture
def brokers(monkeypatch: pytest.MonkeyPatch) -> Brokers:
    made = Brokers()
    monkeypatch.setattr(admin_client, "BlockingChannel", made.channel)
    return made


def ask(client: AdminClient, **more: int) -> MetadataResponse:
    return client.send_any_node(MetadataRequest(topics=None), MetadataResponse, **more)


def test_the_first_broker_that_responds_is_asked(brokers: Brokers) -> None:
    client = AdminClient(SERVERS)
    assert ask(client).controller_id == 1
    brokers.failures[1] = NotConnectedError("no one at port 1")
    assert ask(client).controller_id == 2
    brokers.failures[2] = NotConnectedError("no one at port 2")
    with pytest.raises(NotConnectedError, match="port 2"):
        ask(client)


def test_the_version_is_one_that_both_sides_and_the_caller_know(brokers: Brokers) -> None:
    client = AdminClient(SERVERS)
    ask(client, max_version=4)
    brokers.highest = 2
    ask(client, max_version=4)
    assert brokers.asked == [(1, 4), (1, 2)]
    brokers.highest = -1
    with pytest.raises(ApiError, match=r"The broker 127\.0\.0\.1:1 is too old for METADATA") as raised:
        ask(client)
    assert raised.value.error is Errors.UNSUPPORTED_VERSION


def test_a_broker_without_the_first_version_of_the_caller_is_not_asked(brokers: Brokers) -> None:
    client, request = AdminClient(SERVERS), MetadataRequest(topics=None)
    brokers.highest = 4
    client.send(("h", 1), request, MetadataResponse, min_version=4)
    with pytest.raises(ApiError, match=r"The broker h:1 is too old for METADATA 5$") as raised:
        client.send(("h", 1), request, MetadataResponse, min_version=5)
    assert raised.value.error is Errors.UNSUPPORTED_VERSION
    assert brokers.asked == [(1, 4)]


def test_a_client_that_is_refused_does_not_ask_the_next_broker(brokers: Brokers) -> None:
    """A second attempt would end in the same way, and count as another wrong password."""
    brokers.failures[1] = SaslAuthenticationError("Authentication failed")
    with pytest.raises(SaslAuthenticationError):
        ask(AdminClient(SERVERS))
    assert len(brokers.opened) == 1


def test_connections_are_protected_as_the_properties_say(brokers: Brokers) -> None:
    ask(AdminClient(SERVERS))
    ask(AdminClient(SERVERS | PLAIN | {"client.id": "me", "request.timeout.ms": "5"}))
    plain, secured = brokers.opened
    assert plain["security"] is None
    assert secured["security"].new_end("localhost") is not None
    assert (secured["client_id"], secured["read_timeout_ms"]) == ("me", 5)


def test_keys_of_other_clients_are_left_to_them() -> None:
    AdminClient(SERVERS | {"linger.ms": "no number", "application.id": "a"})


@pytest.mark.parametrize(
    ("wrong", "key"),
    [
        ({"bootstrap.servers": "nowhere"}, "bootstrap.servers"),
        ({"security.protocol": "TLS"}, "security.protocol"),
        ({"request.timeout.ms": "-1"}, "request.timeout.ms"),
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN"}, "sasl.jaas.config"),
    ],
)
def test_values_that_cannot_be_used_are_refused(wrong: dict[str, str], key: str) -> None:
    with pytest.raises(ConfigError, match=key):
        AdminClient(SERVERS | wrong)
    assert key in ADMIN_CONFIG
