"""A client's blocking TLS socket, which tells a refused certificate from a lost connection.

With TLS 1.3 a client's handshake is over before the broker has seen its certificate::

    client ── hello ────────────────────────▶ broker
           ◀─ hello, certificate, finished ──
           ── certificate, finished ────────▶            the client may send its first request
           ◀─ alert ─────────────────────────            in place of the response

Kafka 2.4: clients/.../common/network/SslTransportLayer.java (maybeProcessHandshakeFailure) · book 2.1.4
"""

from __future__ import annotations

import contextlib
import errno
import ssl
from typing import Any, NoReturn

from kafka_lite.network.authentication_error import SslAuthenticationError
from kafka_lite.security.ssl.ssl_transport_layer import reason_of

_REFUSALS = ("ALERT_UNKNOWN_CA", "ALERT_ACCESS_DENIED", "ALERT_DECRYPT_ERROR")


def is_refusal(error: ssl.SSLError) -> bool:
    """Whether the peer has sent an alert about this end's certificate."""
    reason = error.reason or ""
    return ("ALERT" in reason and "CERTIFICATE" in reason) or reason.endswith(_REFUSALS)


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
