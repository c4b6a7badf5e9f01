"""A client's connection with TLS: the same frames, once its certificate is accepted.

The handshake is part of the first reads, so it takes no step of its own in the selector loop. A certificate that was
accepted makes the client known by the scheme ``x509``, as its subject.

ZooKeeper 3.8: zookeeper-server/.../server/NettyServerCnxnFactory.java, auth/X509AuthenticationProvider.java
· book 2.3.2
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable
from typing import NamedTuple

from kafka_lite.zookeeper.embedded.authentication import X509_SCHEME
from kafka_lite.zookeeper.embedded.protocol import Id
from kafka_lite.zookeeper.embedded.server_cnxn import ServerCnxn


class SecurePort(NamedTuple):
    """A port on which clients must use TLS."""

    context: ssl.SSLContext
    client_id: Callable[[bytes], str]
    """The id of the scheme ``x509`` for a certificate in DER; raises KafkaError if there is none in it."""
    port: int = 0
    """0: any free one."""
    host: str | None = None
    """The address to listen on; None: that of the other port."""


class SecureServerCnxn(ServerCnxn):
    """Encrypts what ``ServerCnxn`` sends, and decrypts what it reads.

    OpenSSL reads one record at a time and no further, and a read takes all of it: nothing waits in memory where the
    selector does not see it.
    """

    def __init__(
        self, sock: socket.socket, address: tuple[str, int], max_packet_bytes: int, secure_port: SecurePort
    ) -> None:
        """Raises OSError if the client has gone."""
        sock.setblocking(False)
        secured = secure_port.context.wrap_socket(sock, server_side=True, do_handshake_on_connect=False)
        super().__init__(secured, address, max_packet_bytes)
        self._secured = secured
        self._client_id = secure_port.client_id
        self._is_secure = False
        self._handshake_wants_write = False

    @property
    def wants_write(self) -> bool:
        """Whether there are bytes to send, of replies or of the handshake."""
        return super().wants_write or self._handshake_wants_write

    def receive(self) -> bool:
        """Take the next step of the handshake, or read. Raises OSError, KafkaError for a certificate without a name."""
        self._handshake_wants_write = False
        try:
            if not self._is_secure:
                self._secured.do_handshake()
                self._is_secure = True
                self._identify()
            return super().receive()
        except ssl.SSLWantReadError:
            return True
        except ssl.SSLWantWriteError:
            self._handshake_wants_write = True
            return True

    def _identify(self) -> None:
        certificate = self._secured.getpeercert(binary_form=True)
        if certificate:
            self.identities.append(Id(X509_SCHEME, self._client_id(certificate)))

    def flush(self) -> bool:
        """Send what the socket accepts. Returns False if the connection can be closed. Raises OSError."""
        if self._handshake_wants_write:
            return self.receive()
        try:
            return super().flush()
        except (ssl.SSLWantWriteError, ssl.SSLWantReadError):
            return True
