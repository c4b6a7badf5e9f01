"""Frames that a connection exchanges before its first request, so that both ends know each other.

Kafka 0.10.2: clients/.../common/network/Authenticator.java, and the input and output of
.../common/security/authenticator/SaslServerAuthenticator.java, SaslClientAuthenticator.java · book 2.1.4
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from kafka_lite.common.errors import ApiError
from kafka_lite.common.security.kafka_principal import ANONYMOUS, KafkaPrincipal
from kafka_lite.common.sendable import Buffer
from kafka_lite.network.authentication_error import AuthenticationError, SaslAuthenticationError
from kafka_lite.network.nio_selector import WRITE
from kafka_lite.network.receive import SIZE_BYTES, InvalidReceiveError, NetworkReceive
from kafka_lite.network.send import NetworkSend
from kafka_lite.network.transport_layer import TransportLayer


class AuthenticatorEnd(Protocol):
    """One end of an authentication: a frame in, a frame out, no I/O."""

    @property
    def complete(self) -> bool:
        """Whether this end has no more to say; its last frame may not be out yet."""
        ...

    @property
    def reauthentication_time_ms(self) -> float | None:
        """When a client's end must begin again, on the clock of ``Time.hi_res_ms``; None: never."""
        ...

    @property
    def session_expiration_ms(self) -> float | None:
        """When a broker's end takes no more requests, on the same clock; None: never."""
        ...

    def start(self) -> bytes | None:
        """The first frame; None at a broker's end, which waits for the client."""
        ...

    def reauthenticate(self, handshake: Buffer | None) -> bytes:
        """Begin again: a client's first frame; or a broker's answer to the client's. Raises as ``receive`` does."""
        ...

    def receive(self, frame: Buffer) -> bytes | None:
        """Take a frame; the one to send, or None. Raises ApiError, or AuthenticationFailedError with a last frame."""
        ...


MIN_REAUTHENTICATION_INTERVAL_MS = 1000


class AuthenticationFailedError(SaslAuthenticationError):
    """The peer is not accepted. ``answer`` is its last frame, or None; then the connection is closed."""

    def __init__(self, message: str, answer: bytes | None = None) -> None:
        super().__init__(message)
        self.answer = answer


class Authenticator:
    """Moves the frames of one connection between its end and its transport.

    It reads the socket frame by frame and not further: bytes after the last frame belong to the first request.
    """

    def __init__(
        self,
        transport: TransportLayer,
        end: AuthenticatorEnd,
        max_receive_size: int,
        principal_of: Callable[[], KafkaPrincipal] | None = None,
    ) -> None:
        """``principal_of``: the peer's user once complete, at a broker's end."""
        self.end = end
        self._transport = transport
        self._max_receive_size = max_receive_size
        self._principal_of = principal_of
        self._principal: KafkaPrincipal | None = None
        self._began_again_ms: float | None = None
        self._begin: Callable[[], bytes | None] | None = end.start
        self._size = bytearray()
        self._receive: NetworkReceive | None = None
        self._send: NetworkSend | None = None

    @property
    def principal(self) -> KafkaPrincipal:
        """The user that the peer has proved to be; it stays the same for the whole connection."""
        if self._principal is None:
            if self._principal_of is None or not self.end.complete:
                return ANONYMOUS
            self._principal = self._principal_of()
        return self._principal

    def authenticate(self) -> bool:
        """Exchange the frames that the socket allows now; true once all are out. Raises AuthenticationError, OSError.

        Until then, it watches the events that it waits for, and is called again when there is one.
        """
        if self._begin is not None:
            begin, self._begin = self._begin, None
            self._set_answer(begin())
        while self._flush():
            if self.end.complete:
                return True
            frame = self._read_frame()
            if frame is None:
                return False
            self._set_answer(self._answer_to(frame))
        return False

    def begin_again(self, handshake: Buffer | None) -> None:
        """Let ``authenticate`` begin again. A broker's end already has the client's frame."""
        self._begin = lambda: self.end.reauthenticate(handshake)

    def may_begin_again(self, now_ms: float) -> bool:
        """Whether a client may authenticate again (KIP-368): if its session has an end, and once per second.

        Otherwise its SaslHandshake is a request like others, which is refused.
        """
        if self.end.session_expiration_ms is None:
            return False
        if self._began_again_ms is not None and now_ms - self._began_again_ms < MIN_REAUTHENTICATION_INTERVAL_MS:
            return False
        self._began_again_ms = now_ms
        return True

    def session_expired(self, now_ms: float) -> bool:
        """Whether a request other than SaslHandshake must end the connection."""
        expiration_ms = self.end.session_expiration_ms
        return expiration_ms is not None and now_ms >= expiration_ms

    def send_refusal(self, error: AuthenticationError) -> None:
        """Try to send the last frame to a peer that is not accepted. Raises OSError."""
        if isinstance(error, AuthenticationFailedError) and error.answer is not None:
            self._set_answer(error.answer)
            self._flush()

    def _answer_to(self, frame: Buffer) -> bytes | None:
        try:
            return self.end.receive(frame)
        except ApiError as error:
            raise SaslAuthenticationError(str(error)) from error

    def _set_answer(self, answer: bytes | None) -> None:
        if answer is not None:
            self._send = NetworkSend("", [answer])

    def _flush(self) -> bool:
        """Whether nothing waits to be written any more."""
        if self._send is None:
            return True
        if not self._transport.write(self._send):
            self._transport.add_interest(WRITE)
            return False
        self._transport.remove_interest(WRITE)
        self._send = None
        return True

    def _read_frame(self) -> memoryview | None:
        """The next frame; None if it is not complete yet. Raises AuthenticationError for a size that cannot be."""
        while self._receive is None:
            if not self._read_size():
                return None
        receive = self._receive
        while not receive.complete:
            count = self._transport.recv_into(receive.room()[: receive.missing_bytes])
            if count == 0:
                return None
            receive.advance(count)
        self._receive = None
        return receive.payload

    def _read_size(self) -> bool:
        room = bytearray(SIZE_BYTES - len(self._size))
        count = self._transport.recv_into(room)
        self._size += room[:count]
        if len(self._size) < SIZE_BYTES:
            return count > 0
        receive = NetworkReceive("", self._max_receive_size)
        try:
            receive.feed(self._size)
        except InvalidReceiveError as error:
            raise SaslAuthenticationError(str(error)) from error
        self._size = bytearray()
        self._receive = receive
        return True
