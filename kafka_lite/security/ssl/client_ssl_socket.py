"""A client's blocking TLS socket, which tells a refused certificate from a lost connection.

With TLS 1.3 the refusal comes after the handshake: see ``SslTransportLayer``.

Kafka 2.4: clients/.../common/network/SslTransportLayer.java (maybeProcessHandshakeFailure) · book 2.1.4
"""

from __future__ import annotations

import contextlib
import errno
import ssl
from typing import Any, NoReturn

from kafka_lite.network.authentication_error import SslAuthenticationError
from kafka_lite.security.ssl.ssl_transport_layer import is_refusal, reason_of


class ClientSslSocket(ssl.SSLSocket):
    """Raises SslAuthenticationError instead of SSLError for an alert that refuses the client's certificate."""

    def read(self, len: int = 1024, buffer: Any = None) -> Any:
        """Read decrypted bytes, into a buffer if one is given. ``recv`` and ``recv_into`` call this."""
        try:
            return super().read(len, buffer)
        except ssl.SSLError as error:
            if is_refusal(error):
                _raise_refused(error)
            raise

    def send(self, data: Any, flags: int = 0) -> int:
        """Send some bytes. If the peer has gone, its last words say why."""
        try:
            return super().send(data, flags)
        except (ConnectionError, ssl.SSLEOFError):
            with contextlib.suppress(ssl.SSLError, ConnectionResetError, BrokenPipeError, TimeoutError):
                self.read(1)
            raise


def _raise_refused(error: ssl.SSLError) -> NoReturn:
    raise SslAuthenticationError(errno.EPROTO, f"SSL handshake failed: {reason_of(error)}") from error
