"""Connections on which SASL precedes the first request, over plain text or TLS.

Kafka 0.10.2: clients/.../common/network/SaslChannelBuilder.java · book 2.1.4
"""

from __future__ import annotations

import functools
import socket
from collections.abc import Callable
from dataclasses import dataclass

from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.common.time import Time
from kafka_lite.network.authenticator import Authenticator, AuthenticatorEnd
from kafka_lite.network.channel_builder import ChannelBuilder, ClientChannelBuilder
from kafka_lite.network.nio_selector import NioSelector
from kafka_lite.network.receive import UNLIMITED
from kafka_lite.network.transport_layer import TransportLayer
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.security.delegation_token.delegation_token_cache import DelegationTokenCache
from kafka_lite.security.sasl.sasl_client_authenticator import SaslClientAuthenticator
from kafka_lite.security.sasl.sasl_mechanism import SaslClient, SaslServer
from kafka_lite.security.sasl.sasl_server_authenticator import SaslListener, SaslServerAuthenticator
from kafka_lite.security.scram.credential_provider import CredentialProvider


@dataclass(frozen=True)
class SaslServices:
    """The parts of a broker that its authenticators need."""

    credentials: CredentialProvider
    tokens: DelegationTokenCache
    api_versions: Callable[[RequestHeader, ApiVersionsRequest], ApiVersionsResponse]
    """The versions that the broker serves, for a client that asks before it authenticates."""
    unsupported_api_versions: Callable[[], ApiVersionsResponse]
    time: Time


class SaslServerChannelBuilder:
    """The connections of a listener."""

    def __init__(
        self,
        transports: ChannelBuilder,
        listener: SaslListener,
        principal_of: Callable[[SaslServer], KafkaPrincipal],
        max_receive_size: int,
        time: Time,
    ) -> None:
        """``transports``: plain text, or TLS. ``max_receive_size``: ``sasl.server.max.receive.size``."""
        self.transports = transports
        """The layer below, which encrypts, or does not."""
        self._listener = listener
        self._principal_of = principal_of
        self._max_receive_size = max_receive_size
        self._time = time

    def build_transport(self, selector: NioSelector, sock: socket.socket, peer_host: str) -> TransportLayer:
        """The transport of a connection."""
        return self.transports.build_transport(selector, sock, peer_host)

    def build_authenticator(self, transport: TransportLayer, peer_host: str) -> Authenticator:  # noqa: ARG002
        """The broker's end."""
        end = SaslServerAuthenticator(self._listener, self._principal_of, self._time)

        def principal() -> KafkaPrincipal:
            assert end.principal is not None  # the authenticator asks once the exchange is complete
            return end.principal

        return Authenticator(transport, end, self._max_receive_size, principal)


class SaslClientChannelBuilder:
    """The connections of a client, or of a broker to others."""

    def __init__(
        self, transports: ClientChannelBuilder, new_client: Callable[[str], SaslClient], client_id: str, time: Time
    ) -> None:
        """``new_client``: the client's end of the mechanism towards a host, one per exchange."""
        self._transports = transports
        self._new_client = new_client
        self._client_id = client_id
        self._time = time

    def build_transport(self, selector: NioSelector, sock: socket.socket, peer_host: str) -> TransportLayer:
        """The transport of a connection."""
        return self._transports.build_transport(selector, sock, peer_host)

    def build_authenticator(self, transport: TransportLayer, peer_host: str) -> Authenticator:
        """The client's end."""
        return Authenticator(transport, self.new_end(peer_host), UNLIMITED)

    def wrap_socket(self, sock: socket.socket, host: str) -> socket.socket:
        """A blocking socket, over plain text or TLS."""
        return self._transports.wrap_socket(sock, host)

    def new_end(self, host: str) -> AuthenticatorEnd:
        """The client's end."""
        new_client = functools.partial(self._new_client, host)
        return SaslClientAuthenticator(new_client, self._client_id, self._time)
