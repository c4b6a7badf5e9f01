"""A connection for callers that send a request, wait for the response, and send the next one.

Kafka 0.10.2: core/.../network/BlockingChannel.scala · book 2.2.3
"""

from __future__ import annotations

import contextlib
import errno
import logging
import math
import socket
from collections import deque
from typing import NamedTuple, Self

from kafka_lite.common.errors import ApiError
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.network.authentication_error import AuthenticationError, SaslAuthenticationError
from kafka_lite.network.authenticator import AuthenticatorEnd
from kafka_lite.network.channel_builder import ClientChannelBuilder
from kafka_lite.network.receive import InvalidReceiveError, NetworkReceive
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.framing import decode_response, encode_request
from kafka_lite.protocol.schema import Message, Request
from kafka_lite.protocol.schema_error import SchemaError

logger = logging.getLogger(__name__)

DEFAULT_TIMEOUT_MS = 30_000
MAX_RESPONSE_BYTES = 256 * 1024 * 1024
SYSTEMS_BUFFER = -1
"""A buffer size that the system chooses and adapts."""
_READ_BYTES = 64 * 1024
_TIMEOUT_STEP_MS = 100
"""Timeouts of the socket are rounded up to this. Setting one is a system call, which most reads are thus spared."""


class NotConnectedError(ConnectionError):
    """There is no connection: the broker could not be reached, or the connection was lost or closed."""


class ResponseTimeoutError(ConnectionError):
    """The response timed out. The connection was closed, because the response may still arrive."""


class InvalidResponseError(ConnectionError):
    """The received frame is not the response to the request; the connection was closed."""


class _InFlight(NamedTuple):
    api_key: ApiKey
    version: int
    correlation_id: int


class BlockingChannel:
    """One connection to one broker; responses come in the order of the requests.

    Most callers want ``exchange``. ``send`` and ``receive`` are its halves, for callers that keep several requests in
    flight. Any error closes the connection, since nothing that follows could be trusted; all errors are
    ``ConnectionError`` and name the broker. Only ``abort`` is thread-safe.
    """

    def __init__(
        self,
        host: str,
        port: int,
        *,
        client_id: str | None = "kafka-lite",
        read_timeout_ms: float = DEFAULT_TIMEOUT_MS,
        max_response_bytes: int = MAX_RESPONSE_BYTES,
        receive_buffer_bytes: int = SYSTEMS_BUFFER,
        security: ClientChannelBuilder | None = None,
        time: Time = SYSTEM_TIME,
    ) -> None:
        """``security``: how the connection is protected; None: not at all."""
        self.host = host
        self.port = port
        self._client_id = client_id
        self._read_timeout_ms = read_timeout_ms
        self._max_response_bytes = max_response_bytes
        self._receive_buffer_bytes = receive_buffer_bytes
        self._security = security
        self._end: AuthenticatorEnd | None = None
        self._time = time
        self._sock: socket.socket | None = None
        self._in_flight: deque[_InFlight] = deque()
        self._correlation_id = 0
        self.last_request_bytes = 0
        """Size of the request that was sent last."""
        self._ahead = b""  # bytes that were read beyond the last response

    def __enter__(self) -> Self:
        self.connect()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection, as far as this side knows."""
        return self._sock is not None

    def connect(self) -> None:
        """Connect, unless connected. Raises NotConnectedError if the broker cannot be reached.

        Raises AuthenticationError, which no other attempt would change, if one end does not accept the other.
        """
        if self._sock is not None:
            return
        try:
            sock = socket.create_connection((self.host, self.port), timeout=self._read_timeout_ms / 1000)
        except OSError as error:
            raise NotConnectedError(
                f"cannot connect to {self.host}:{self.port}: {error.strerror or error}. Is a broker running there, "
                f"and is this the host and port of one of its listeners?"
            ) from error
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if self._receive_buffer_bytes > 0:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self._receive_buffer_bytes)
        self._sock = sock
        if self._security is not None:
            self._secure(sock, self._security)

    def _secure(self, sock: socket.socket, security: ClientChannelBuilder) -> None:
        try:
            self._sock = security.wrap_socket(sock, self.host)
            self._end = security.new_end(self.host)
            if self._end is not None:
                self._authenticate(self._end, self._end.start())
        except AuthenticationError as error:
            self.close()
            raise type(error)(f"{self.host}:{self.port}: {error.reason}") from error
        except OSError as error:
            raise self._lost(error) from error

    def _authenticate(self, end: AuthenticatorEnd, frame: bytes | None) -> None:
        """Exchange frames until the client's end is complete. Raises AuthenticationError and this module's errors."""
        deadline_ms = self._time.hi_res_ms() + self._read_timeout_ms
        while True:
            if frame is not None:
                self._send_frame(frame)
            if end.complete:
                return
            try:
                frame = end.receive(self._receive_frame(deadline_ms - self._time.hi_res_ms()))
            except ApiError as error:
                raise SaslAuthenticationError(str(error)) from error

    def _authenticate_again(self, end: AuthenticatorEnd) -> None:
        """Renew the session if it is time, and no response is on its way (KIP-368)."""
        due_ms = end.reauthentication_time_ms
        if due_ms is None or self._in_flight or self._time.hi_res_ms() < due_ms:
            return
        try:
            self._authenticate(end, end.reauthenticate(None))
        except AuthenticationError as error:
            self.close()
            raise type(error)(f"{self.host}:{self.port}: {error.reason}") from error

    def close(self) -> None:
        """Close the connection; what is in flight is lost. ``connect`` opens a new one."""
        if self._sock is not None:
            self._sock.close()
            self._sock = None
        self._end = None
        self._in_flight.clear()
        self._ahead = b""

    def abort(self) -> None:
        """Interrupt the owner's wait from another thread: it raises NotConnectedError and closes the connection.

        To close the socket here would not be enough: a thread that reads from it would not notice.
        """
        sock = self._sock
        if sock is not None:
            with contextlib.suppress(OSError):  # no longer connected, or just closed
                socket.socket.shutdown(sock, socket.SHUT_RDWR)  # that of a TLS socket would take its engine from it

    def exchange(self, request: Request, version: int, timeout_ms: float | None = None) -> Message:
        """Send a request and wait for its response. Raises this module's kinds of ConnectionError."""
        self.send(request, version)
        return self.receive(timeout_ms)

    def send(self, request: Request, version: int, *, expect_response: bool = True) -> int:
        """Send a request and return its correlation id.

        ``expect_response=False`` is for the one request that has no response: Produce with acks=0.
        """
        self._correlation_id = (self._correlation_id + 1) & 0x7FFFFFFF
        frame = encode_request(request, version, self._correlation_id, self._client_id)
        self.last_request_bytes = len(frame)
        if self._end is not None:
            self._authenticate_again(self._end)
        self._send_frame(frame)
        if expect_response:
            self._in_flight.append(_InFlight(request.API_KEY, version, self._correlation_id))
        return self._correlation_id

    def _send_frame(self, frame: bytes) -> None:
        sock = self._connected_socket()
        try:
            _set_timeout(sock, self._read_timeout_ms)
            sock.sendall(len(frame).to_bytes(4, "big") + frame)
        except OSError as error:
            raise self._lost(error) from error

    def receive(self, timeout_ms: float | None = None) -> Message:
        """The response to the oldest request in flight."""
        if not self._in_flight:
            self._connected_socket()
            raise ValueError("no request is in flight, so there is no response to wait for")
        payload = self._receive_frame(self._read_timeout_ms if timeout_ms is None else timeout_ms)
        expected = self._in_flight.popleft()
        try:
            correlation_id, message = decode_response(expected.api_key, expected.version, payload)
        except SchemaError as error:
            raise self._invalid(f"the response to {expected.api_key.name} cannot be read: {error}") from error
        if correlation_id != expected.correlation_id:
            raise self._invalid(
                f"received the response to request {correlation_id} instead of {expected.correlation_id}"
            )
        return message

    def _receive_frame(self, timeout_ms: float) -> memoryview:
        """Read exactly one frame, within ``timeout_ms`` for all of it."""
        deadline_ms = self._time.hi_res_ms() + timeout_ms
        receive = NetworkReceive(f"{self.host}:{self.port}", self._max_response_bytes)
        try:
            while not receive.complete:
                if self._ahead:
                    data = memoryview(self._ahead)
                    self._ahead = bytes(data[receive.feed(data) :])
                elif receive.missing_bytes < _READ_BYTES:
                    self._ahead = self._read_some(deadline_ms)
                else:
                    self._read_into(receive, deadline_ms)
        except InvalidReceiveError as error:
            raise self._invalid(f"{error}. Is something other than a broker listening there?") from error
        except TimeoutError as error:
            self.close()
            raise ResponseTimeoutError(
                f"no response from {self.host}:{self.port} within {timeout_ms:g} ms. Is the broker overloaded?"
            ) from error
        except OSError as error:
            raise self._lost(error) from error
        except MemoryError as error:  # lost, since what is left of this response would be taken for the next one
            raise self._lost(OSError(errno.ENOMEM, "not enough memory for the response")) from error
        return receive.payload

    def _read_some(self, deadline_ms: float) -> bytes:
        """Read a small frame, or the beginning of a large one, and perhaps what follows it."""
        data = self._socket_until(deadline_ms).recv(_READ_BYTES)
        self._check_read(len(data), deadline_ms)
        return data

    def _read_into(self, receive: NetworkReceive, deadline_ms: float) -> None:
        """Read more of a large frame straight into its place."""
        with receive.room() as room:
            count = self._socket_until(deadline_ms).recv_into(room)
        receive.advance(count)
        self._check_read(count, deadline_ms)

    def _socket_until(self, deadline_ms: float) -> socket.socket:
        sock = self._connected_socket()
        _set_timeout(sock, deadline_ms - self._time.hi_res_ms())
        return sock

    def _check_read(self, count: int, deadline_ms: float) -> None:
        if count == 0:
            raise ConnectionResetError("the broker closed the connection")
        if self._time.hi_res_ms() > deadline_ms:
            raise TimeoutError

    def _connected_socket(self) -> socket.socket:
        if self._sock is None:
            raise NotConnectedError(f"not connected to {self.host}:{self.port}; call connect() first")
        return self._sock

    def _lost(self, error: OSError) -> ConnectionError:
        if isinstance(error, NotConnectedError):
            return error
        self.close()
        if isinstance(error, AuthenticationError):  # with TLS 1.3, instead of the first response
            return type(error)(f"{self.host}:{self.port}: {error.reason}")
        return NotConnectedError(
            f"lost the connection to {self.host}:{self.port}: {error.strerror or error}; the broker's log may say why"
        )

    def _invalid(self, message: str) -> InvalidResponseError:
        self.close()
        return InvalidResponseError(f"{self.host}:{self.port}: {message}")


def _set_timeout(sock: socket.socket, timeout_ms: float) -> None:
    """Let calls of the socket wait for ``timeout_ms``, rounded up."""
    timeout_s = max(math.ceil(timeout_ms / _TIMEOUT_STEP_MS), 1) * _TIMEOUT_STEP_MS / 1000
    if sock.gettimeout() != timeout_s:
        sock.settimeout(timeout_s)
