"""One connection: at most one frame going out, one coming in, and those that wait to be handled.

Kafka 0.10.2: clients/.../common/network/KafkaChannel.java · book 2.1.4
"""

from __future__ import annotations

import contextlib
import socket
from collections import deque
from collections.abc import Callable
from enum import Enum
from typing import Final

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.common.sendable import Buffer
from kafka_lite.network.authentication_error import AuthenticationError, SaslAuthenticationError
from kafka_lite.network.authenticator import Authenticator
from kafka_lite.network.memory_pool import MemoryPool
from kafka_lite.network.nio_selector import BOTH, READ, WRITE
from kafka_lite.network.receive import InvalidReceiveError, NetworkReceive
from kafka_lite.network.send import NetworkSend
from kafka_lite.network.transport_layer import TransportLayer


class IllegalStateError(KafkaError):
    """The state of the connection does not allow the call: an error of the caller, not of the peer."""


class ChannelState(Enum):
    """The life of a connection.

    CONNECTING
        action: wait until the socket can be written to
        transition: connect finished → READY, or AUTHENTICATE if there is a handshake of TLS or SASL; connect failed →
        CLOSED
    AUTHENTICATE
        action: exchange the messages of TLS, then those of SASL
        transition: all exchanged → READY; refused by either side, or closed → CLOSED
    READY
        action: read and write frames
        transition: client authenticates again → AUTHENTICATE; closed by the peer, by an error or by ourselves → CLOSED
    CLOSED
        action: none
        transition: none
    """

    CONNECTING = "CONNECTING"
    AUTHENTICATE = "AUTHENTICATE"
    READY = "READY"
    CLOSED = "CLOSED"


# Python 3.11 looks up a member of an Enum on every access: a cost on every socket event.
CONNECTING: Final = ChannelState.CONNECTING
AUTHENTICATE: Final = ChannelState.AUTHENTICATE
READY: Final = ChannelState.READY
CLOSED: Final = ChannelState.CLOSED

VALID_PREVIOUS_STATES: dict[ChannelState, frozenset[ChannelState]] = {
    CONNECTING: frozenset(),
    AUTHENTICATE: frozenset({CONNECTING, READY}),
    READY: frozenset({CONNECTING, AUTHENTICATE}),
    CLOSED: frozenset({CONNECTING, AUTHENTICATE, READY}),
}


class KafkaChannel:
    """A connection with the frame it sends, the frame it receives, and the complete frames not yet handed out.

    *Staged* frames are the frames after the first that one read of the socket returned: a client that pipelines sends
    many frames in one segment, and the broker handles them one at a time. While frames are staged, or the channel is
    *muted*, nothing is read: the kernel's buffer fills, TCP's window closes, and the client waits. There is no other
    back-pressure.
    """

    __slots__ = (
        "_invalid_receive",
        "_max_receive_size",
        "_receive",
        "_send",
        "_transport",
        "authenticator",
        "id",
        "is_out_of_memory",
        "last_active_ms",
        "memory_pool",
        "muted",
        "network_thread_time_ms",
        "on_end",
        "on_memory",
        "remote_address",
        "staged",
        "state",
    )

    def __init__(
        self,
        channel_id: str,
        transport: TransportLayer,
        max_receive_size: int,
        remote_address: str,
        authenticator: Authenticator | None = None,
    ) -> None:
        """``authenticator``: the exchange that precedes the first request; None without SASL."""
        self.id = channel_id
        self.authenticator = authenticator
        self.remote_address = remote_address
        """``host:port`` of the peer, for logs."""
        self._max_receive_size = max_receive_size
        self.state = CONNECTING
        self.last_active_ms = 0.0
        """When the selector last had an event of it, for ``connections.max.idle.ms``."""
        self.muted = False
        self.memory_pool: MemoryPool | None = None
        """Where a frame that needs several reads leases its memory; None: there is no bound."""
        self.on_memory: Callable[[KafkaChannel], None] | None = None
        """Called, in any thread, when the pool has memory again for a channel that is out of it."""
        self.on_end: Callable[[], None] | None = None
        """Called when the peer has closed the connection and nothing is read, since a request is handled."""
        self.is_out_of_memory = False
        """Whether a frame waits for memory, and nothing is read; its thread sets it back when there may be some."""
        self.network_thread_time_ms = 0.0
        """Time that its thread has spent reading and writing, as far as the selector measures it."""
        self.staged: deque[NetworkReceive] = deque()
        self._transport = transport
        self._receive: NetworkReceive | None = None
        self._invalid_receive: InvalidReceiveError | None = None
        self._send: NetworkSend | None = None
        transport.attach(self)

    @property
    def principal(self) -> KafkaPrincipal:
        """The user that the peer has proved to be."""
        return self._transport.principal if self.authenticator is None else self.authenticator.principal

    def _transition_to(self, target: ChannelState) -> None:
        if self.state not in VALID_PREVIOUS_STATES[target]:
            raise IllegalStateError(f"connection {self.id} cannot go from {self.state.name} to {target.name}")
        self.state = target

    def await_connect(self) -> None:
        """Watch for the end of a connect in progress."""
        self._transport.add_interest(WRITE)

    def finish_connect(self) -> None:
        """The connect has ended; begin the handshake if there is one. Raises OSError if it failed."""
        self._transport.finish_connect()
        self._transport.remove_interest(WRITE)
        self._transport.add_interest(READ)
        if self.authenticator is not None:
            self._transition_to(AUTHENTICATE)
            self._transport.add_interest(WRITE)  # the next poll begins
        else:
            self._transition_to(READY if self._transport.handshake() else AUTHENTICATE)

    def prepare(self) -> bool:
        """Continue the handshake; true if it is complete. Raises OSError if either side refuses it."""
        if self.authenticator is not None:
            self._transport.remove_interest(WRITE)
        if not self._transport.handshake():
            return False
        if self.authenticator is not None:
            self._require_no_frames()
            if not self.authenticator.authenticate():
                return False
            self.muted = False
        self._transition_to(READY)
        return True

    def _require_no_frames(self) -> None:
        if self.staged or self._receive is not None:
            raise SaslAuthenticationError("More frames have come after a SaslHandshake before it was answered")

    def must_authenticate_again(self, now_ms: float) -> bool:
        """Whether a client's session will end soon: no more requests should be sent before it is renewed."""
        if self.authenticator is None or self.state is not READY:
            return False
        due_ms = self.authenticator.end.reauthentication_time_ms
        return due_ms is not None and now_ms >= due_ms

    def reauthenticate(self, handshake: Buffer | None = None) -> None:
        """Begin again: at a broker's end with the client's handshake. Polls continue, and the channel is muted."""
        assert self.authenticator is not None
        self._transition_to(AUTHENTICATE)
        self.muted = True
        self.authenticator.begin_again(handshake)
        self._transport.add_interest(BOTH)

    def delay_close(self) -> None:
        """The peer is not accepted: read nothing more from it. The answer is sent when the connection is closed."""
        self._transport.remove_interest(BOTH)

    def send_refusal(self, error: AuthenticationError) -> None:
        """Tell the peer why it is not accepted, if its protocol has a place for that. Raises OSError."""
        if self.authenticator is not None:
            self.authenticator.send_refusal(error)

    # ── Receiving ─────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def may_read(self) -> bool:
        """Whether more may be read from the socket now."""
        return not self.muted and not self.staged

    def mute(self) -> None:
        """Hand out no more frames and read none.

        The socket is still watched. A client with one request in flight sends nothing before it has the response, so
        this saves two ``epoll_ctl`` calls per request. If bytes arrive all the same, ``pause_reading`` is called.
        """
        self.muted = True

    def unmute(self) -> None:
        """Start to hand out and read frames again."""
        self.muted = False
        self.resume_reading()

    def pause_reading(self) -> None:
        """Stop watching for bytes that may not be read now; otherwise every select would return at once.

        What has come may be the end of the connection. The requests before it are handled as in Kafka, and the channel
        is closed when the end is read; but ``on_end`` learns that nobody will read their responses.
        """
        self._transport.remove_interest(READ)
        if self.on_end is not None and self._transport.is_at_end():
            self.on_end()

    def resume_reading(self) -> None:
        """Watch for bytes again, if they may be read."""
        if not self.muted and not self.staged and not self.is_out_of_memory and self.state is READY:
            self._transport.add_interest(READ)

    def read(self, buffer: bytearray) -> None:
        """Read the socket once and stage the frames that are complete now.

        Small frames come through ``buffer``, so that one system call can bring many of them; the body of a large one
        is read straight into its place. Raises OSError for a broken connection, InvalidReceiveError for a bad size.
        Frames that came before a bad size are staged first, and the error waits until they have been handed out.
        """
        if self._invalid_receive is not None:
            raise self._invalid_receive
        receive = self._receive
        pool = self.memory_pool
        if pool is not None and receive is not None and receive.lease is None and not self._lease(pool, receive):
            return
        if receive is not None and receive.missing_bytes >= len(buffer):
            receive.advance(self._transport.recv_into(receive.room()))
            if receive.complete:
                self._stage(receive)
            return
        count = self._transport.recv_into(buffer)
        try:
            self._split(buffer, count)
        except InvalidReceiveError as error:
            if not self.staged:
                raise
            self._invalid_receive = error

    def _lease(self, pool: MemoryPool, receive: NetworkReceive) -> bool:
        """Lease the memory of a frame whose size is known; false, and reading pauses, if there is none."""
        on_memory = self.on_memory
        if on_memory is None or receive.size < 0:
            return True
        receive.lease = pool.try_lease(receive.size, lambda: on_memory(self))
        self.is_out_of_memory = receive.lease is None
        if self.is_out_of_memory:
            self.pause_reading()
        return not self.is_out_of_memory

    @property
    def reads_without_event(self) -> bool:
        """Whether ``read`` has something to do of which the kernel knows nothing: a bad size, or decrypted bytes."""
        if self.is_out_of_memory:
            return False
        return self._invalid_receive is not None or self._transport.has_buffered_bytes

    def _split(self, data: bytearray, end: int) -> None:
        position = 0
        while position < end:
            receive = self._receive
            if receive is None:
                self._receive = receive = NetworkReceive(self.id, self._max_receive_size)
            position += receive.feed(data, position, end)
            if receive.complete:
                self._stage(receive)

    def _stage(self, receive: NetworkReceive) -> None:
        self.staged.append(receive)
        self._receive = None

    # ── Sending ───────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def has_send(self) -> bool:
        """Whether a frame is on its way out."""
        return self._send is not None

    def set_send(self, send: NetworkSend) -> None:
        """Make ``send`` the frame on its way out. Raises IllegalStateError while another one is."""
        if self._send is not None:
            raise IllegalStateError(f"connection {self.id}: cannot start a send while another is in progress")
        if self.state is not READY:
            raise IllegalStateError(f"connection {self.id} is {self.state.name}; it must be READY to send")
        self._send = send

    def write(self) -> NetworkSend | None:
        """Write what the socket takes. Returns the send if all of it is out; the rest waits for the write event."""
        send = self._send
        if send is None:
            return None
        if not self._transport.write(send):
            self._transport.add_interest(WRITE)
            return None
        self._send = None
        self._transport.remove_interest(WRITE)
        return send

    def disconnect(self) -> None:
        """End the connection; its owner notices at its next read. The only method that other threads may call."""
        with contextlib.suppress(OSError):  # closed in the meantime
            self._transport.sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the socket and drop what was staged. A second call does nothing."""
        if self.state is not CLOSED:
            self._transition_to(CLOSED)
            self.staged.clear()
            self._receive = None  # with its memory
            self._transport.close()
