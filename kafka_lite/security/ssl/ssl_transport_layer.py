"""TLS between a channel and its socket.

::

    KafkaChannel ── write ──▶ SSLObject ──▶ outgoing ── send ──▶ socket
                 ◀─ recv_into ─    │    ◀── incoming ◀─ recv ──
                        plain text │ TLS records, in memory

The TLS engine does no I/O. It takes the peer's records from one buffer and puts its own into another, and the selector
decides when the socket is read and written, as without TLS. After each read of the socket, all records that are
complete are decrypted, because the kernel reports no event for bytes that it has handed over.

With TLS 1.3 a client's handshake is over before the broker has seen its certificate::

    client ── hello ────────────────────────▶ broker
           ◀─ hello, certificate, finished ──
           ── certificate, finished ────────▶            the client may send its first request
           ◀─ alert ─────────────────────────            in place of the response

So an alert that refuses the certificate is a failed authentication, whenever it comes.

Kafka 0.10.2: clients/.../common/network/SslTransportLayer.java; since 2.4 maybeProcessHandshakeFailure · book 2.1.4
"""

from __future__ import annotations

import contextlib
import errno
import logging
import socket
import ssl
from collections.abc import Callable
from typing import Any

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.network.authentication_error import SslAuthenticationError
from kafka_lite.network.nio_selector import WRITE, NioSelector
from kafka_lite.network.send import NetworkSend
from kafka_lite.network.transport_layer import TransportLayer

logger = logging.getLogger(__name__)

READ_BYTES = 64 * 1024
ENCRYPT_BYTES = 64 * 1024
"""How much is encrypted at once: not more is in memory twice while the socket takes no more."""
_REFUSALS = ("ALERT_UNKNOWN_CA", "ALERT_ACCESS_DENIED", "ALERT_DECRYPT_ERROR")


class SslTransportLayer(TransportLayer):
    """One connection's engine."""

    __slots__ = (
        "_encrypted",
        "_has_ended",
        "_incoming",
        "_is_client",
        "_outgoing",
        "_principal_of",
        "_ready",
        "_ssl",
        "_unsent",
    )

    def __init__(
        self,
        selector: NioSelector,
        sock: socket.socket,
        context: ssl.SSLContext,
        server_hostname: str | None = None,
        principal_of: Callable[[bytes], KafkaPrincipal] | None = None,
    ) -> None:
        """``server_hostname``: the host that a client has asked for; None at a broker's end.

        ``principal_of``: the user of a certificate in DER, at a broker's end; raises KafkaError if it is not accepted.
        """
        super().__init__(selector, sock)
        self._principal_of = principal_of
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._is_client = context.protocol == ssl.PROTOCOL_TLS_CLIENT
        self._ssl = context.wrap_bio(
            self._incoming,
            self._outgoing,
            server_side=not self._is_client,
            server_hostname=server_hostname,
        )
        self._ready = False
        self._has_ended = False  # whether the peer has said that nothing follows, which the next read reports
        self._unsent = memoryview(b"")  # encrypted bytes that the kernel has not taken; ``_outgoing`` follows them
        self._encrypted = 0  # bytes of the send in progress, before encryption, that are not yet with the kernel

    @property
    def peer_certificate(self) -> bytes | None:
        """The peer's certificate in DER, verified; None if it has sent none."""
        return self._ssl.getpeercert(binary_form=True)

    @property
    def version(self) -> str | None:
        """The protocol that was agreed on, such as TLSv1.3."""
        return self._ssl.version()

    def handshake(self) -> bool:
        """Take the next step. True once the handshake is complete and its last message is out.

        Raises AuthenticationError, after an alert to the peer, if its certificate or its messages are not accepted, and
        OSError if the peer closes the connection.
        """
        if not self._ready and self._step():
            self._identify()
            self._ready = True
        if not self._flush():
            self.add_interest(WRITE)
            return False
        self.remove_interest(WRITE)
        if self._ready:
            # The peer's first frame may have come with its last message; the kernel will not report it.
            self.has_buffered_bytes = self._incoming.pending > 0
        return self._ready

    def _identify(self) -> None:
        """Find the user of the peer's certificate, if it has sent one. Raises AuthenticationError."""
        certificate = self.peer_certificate
        if self._principal_of is None or certificate is None:
            return
        try:
            self.principal = self._principal_of(certificate)
        except KafkaError as error:
            raise SslAuthenticationError(errno.EACCES, str(error)) from error

    def _step(self) -> bool:
        """Read what has come and go as far as possible; true if the engine has finished."""
        while True:
            try:
                self._ssl.do_handshake()
                return True
            except ssl.SSLWantReadError:
                if not self._fill():
                    return False
            except ssl.SSLError as error:  # a certificate, a version, a cipher, or no TLS at all
                with contextlib.suppress(OSError):
                    self._flush()  # the alert that says why
                raise _handshake_failed(error) from error

    def _fill(self) -> bool:
        """Read the socket once; false if there is nothing. Raises ConnectionError at the end of the stream."""
        try:
            data = self.sock.recv(READ_BYTES)
        except BlockingIOError:
            return False
        if not data:
            raise ConnectionError(errno.ECONNRESET, "the peer closed the connection")
        self._incoming.write(data)
        return True

    def _flush(self) -> bool:
        """Hand encrypted bytes to the kernel; false if it does not take all of them now."""
        while self._unsent or self._outgoing.pending:
            data = self._unsent or memoryview(self._outgoing.read())
            try:
                sent = self.sock.send(data)
            except BlockingIOError:
                sent = 0
            self._unsent = data[sent:]
            if self._unsent:
                return False
        return True

    def recv_into(self, buffer: bytearray | memoryview) -> int:
        """Read from the socket at most once, and decrypt into the buffer. Returns 0 if no record is complete yet.

        Raises OSError for the end of the stream, even without the peer's closing message, and for a damaged record;
        SslAuthenticationError if the peer refuses this end's certificate.
        """
        room, size = memoryview(buffer), len(buffer)
        read: Any = self._ssl.read  # it returns a number, which typeshed, and so mypyc, does not know
        count, filled, incoming = 0, False, self._incoming
        self.has_buffered_bytes = False
        while count < size:
            # The engine says that it has nothing with an exception, which costs more than a record of a kilobyte.
            if not incoming.pending and not self._ssl.pending() and not self._has_ended:
                if filled or not self._fill_after(count):
                    return count
                filled = True
            try:
                # A record at a time, and librdkafka writes two for each of its records: no more is in this loop.
                while decrypted := read(size - count, room[count:]):
                    count += decrypted
                    if count == size or not incoming.pending:
                        break
                else:
                    break
            except ssl.SSLWantReadError:
                if filled or not self._fill_after(count):
                    return count
                filled = True
            except ssl.SSLZeroReturnError:
                break
            except ssl.SSLError as error:
                self._raise_if_refused(error)
                raise
        if count < size:  # the peer has ended the stream
            self._has_ended = True
            if count:
                return count  # the next call reports the end
            raise ConnectionError(errno.ECONNRESET, "the peer closed the connection")
        self.has_buffered_bytes = self._ssl.pending() > 0 or self._incoming.pending > 0
        return count

    def _raise_if_refused(self, error: ssl.SSLError) -> None:
        if self._is_client and is_refusal(error):
            raise _handshake_failed(error) from error

    def _hear_last_words(self) -> None:
        """Read what the peer has sent before it left. Raises SslAuthenticationError if that refuses the certificate."""
        with contextlib.suppress(OSError):
            while self._fill():
                pass
        try:
            self._ssl.read(1)
        except ssl.SSLError as error:
            self._raise_if_refused(error)

    def _fill_after(self, count: int) -> bool:
        """``_fill``, but bytes that were decrypted already are handed out before the end of the stream is reported."""
        try:
            return self._fill()
        except OSError:
            if count:
                return False
            raise

    def write(self, send: NetworkSend) -> bool:
        """Encrypt and write until the socket takes no more; true if all of it is with the kernel.

        The send advances only when its encrypted bytes are out, so that nobody takes it for completed before. Raises as
        ``recv_into`` does.
        """
        while True:
            if self._unsent or self._outgoing.pending:
                if not self._flush_or_hear():
                    return False
                send.advance(self._encrypted)
                self._encrypted = 0
            if send.completed:
                return True
            data = send.peek(ENCRYPT_BYTES)
            self._ssl.write(data)
            self._encrypted = len(data)

    def _flush_or_hear(self) -> bool:
        """``_flush``; if the peer has gone, its last words say why."""
        try:
            return self._flush()
        except ConnectionError:
            self._hear_last_words()
            raise

    def close(self) -> None:
        """Tell the peer that nothing follows, without waiting for its answer, and close the socket."""
        if self._ready:
            with contextlib.suppress(OSError):
                with contextlib.suppress(ssl.SSLWantReadError):
                    self._ssl.unwrap()
                self._flush()
        super().close()


def is_refusal(error: ssl.SSLError) -> bool:
    """Whether the peer has sent an alert about this end's certificate."""
    untyped: Any = error  # see reason_of
    reason = untyped.reason or ""
    return ("ALERT" in reason and "CERTIFICATE" in reason) or reason.endswith(_REFUSALS)


def _handshake_failed(error: ssl.SSLError) -> SslAuthenticationError:
    return SslAuthenticationError(errno.EPROTO, f"SSL handshake failed: {reason_of(error)}")


def reason_of(error: ssl.SSLError) -> str:
    """The reason without OpenSSL's numbers and places in its source."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"certificate verify failed: {error.verify_message}"
    untyped: Any = error  # its reason may be None, which typeshed, and so mypyc, does not know
    return str(untyped.reason or error).lower().replace("_", " ")
