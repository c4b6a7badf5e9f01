"""How the connections of a selector are protected, and how their peers prove who they are.

Kafka 0.10.2: clients/.../common/network/ChannelBuilder.java, PlaintextChannelBuilder.java · book 2.1.4
"""

from __future__ import annotations

import socket
from typing import Protocol

from kafka_lite.network.authenticator import Authenticator, AuthenticatorEnd
from kafka_lite.network.nio_selector import NioSelector
from kafka_lite.network.transport_layer import PlaintextTransportLayer, TransportLayer


class ChannelBuilder(Protocol):
    """Makes the two parts of a connection that depend on its security protocol."""

    def build_transport(self, selector: NioSelector, sock: socket.socket, peer_host: str) -> TransportLayer:
        """The transport of a connection; ``peer_host`` is the name that was asked for, empty for an accepted one."""
        ...

    def build_authenticator(self, transport: TransportLayer, peer_host: str) -> Authenticator | None:
        """The exchange that precedes the first request; None if there is none beyond the transport's handshake."""
        ...


class ClientChannelBuilder(ChannelBuilder, Protocol):
    """The same for clients, some of which have a blocking socket of their own."""

    def wrap_socket(self, sock: socket.socket, host: str) -> socket.socket:
        """Take over a connected, blocking socket. Raises SslAuthenticationError and OSError, and closes it then."""
        ...

    def new_end(self, host: str) -> AuthenticatorEnd | None:
        """The client's end of the exchange with ``host`` that precedes the first request; None if there is none."""
        ...


class PlaintextChannelBuilder:
    """Connections that are not protected."""

    def build_transport(self, selector: NioSelector, sock: socket.socket, peer_host: str) -> TransportLayer:  # noqa: ARG002  # plaintext checks no names
        """The transport of a connection."""
        return PlaintextTransportLayer(selector, sock)

    def build_authenticator(self, transport: TransportLayer, peer_host: str) -> Authenticator | None:  # noqa: ARG002
        """There is none."""
        return None

    def wrap_socket(self, sock: socket.socket, host: str) -> socket.socket:  # noqa: ARG002  # plaintext checks no names
        """The socket itself."""
        return sock

    def new_end(self, host: str) -> AuthenticatorEnd | None:  # noqa: ARG002
        """There is none."""
        return None
