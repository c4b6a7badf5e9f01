"""One thread serves many connections: Kafka's selector, for servers and clients alike.

Kafka 0.10.2: clients/.../common/network/Selector.java · book 2.1.4
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import socket
from typing import Final

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.network.authentication_error import AuthenticationError
from kafka_lite.network.channel_builder import ChannelBuilder, PlaintextChannelBuilder
from kafka_lite.network.delayed_closings import DelayedClosings
from kafka_lite.network.idle_expiry_manager import IdleExpiryManager
from kafka_lite.network.kafka_channel import (
    AUTHENTICATE,
    CLOSED,
    CONNECTING,
    READY,
    IllegalStateError,
    KafkaChannel,
)
from kafka_lite.network.metrics.selector_counters import SelectorCounters
from kafka_lite.network.nio_selector import BOTH, READ, WRITE, NioSelector
from kafka_lite.network.receive import UNLIMITED, InvalidReceiveError, NetworkReceive
from kafka_lite.network.send import NetworkSend

logger = logging.getLogger(__name__)

NO_IDLE_TIMEOUT_MS = -1
USE_DEFAULT_BUFFER_SIZE = -1
READ_BUFFER_BYTES = 64 * 1024
WAKEUP: Final = "wakeup"
"""The attachment of the socket that ends a poll; every other socket has its channel attached."""


class Selector:
    """Sends and receives frames over many non-blocking connections.

    ``connect``, ``register``, ``send`` and ``mute`` ask for work, and ``poll`` does it. The results are in
    ``connected``, ``disconnected``, ``completed_sends`` and ``completed_receives`` until the next ``poll``. Each
    connection has at most one completed receive per poll, in the order of arrival.

    Not thread-safe: one thread owns it. Only ``wakeup`` may be called from others.
    """

    def __init__(
        self,
        max_receive_size: int = UNLIMITED,
        connections_max_idle_ms: float = NO_IDLE_TIMEOUT_MS,
        time: Time = SYSTEM_TIME,
        counters: SelectorCounters | None = None,
        channel_builder: ChannelBuilder | None = None,
        failed_authentication_delay_ms: float = 0,
    ) -> None:
        """``channel_builder``: how connections are protected; not at all if there is none.

        ``failed_authentication_delay_ms``: how long a peer waits for its refusal, so that guessing takes time.
        """
        self.connected: list[str] = []
        """Ids of connections that ``connect`` began and that are ready now."""
        self.disconnected: dict[str, str] = {}
        """Ids of connections that were lost, each with the reason; not those closed by ``close(id)``."""
        self.failed_authentications: dict[str, AuthenticationError] = {}
        """Connections that were lost because of a failed authentication, at either end, each with the reason."""
        self.completed_sends: list[NetworkSend] = []
        self.completed_receives: list[NetworkReceive] = []
        self.counters = counters or SelectorCounters()
        """The counters that ``SelectorMetrics`` shows."""
        self.records_network_thread_time = False
        """Whether each channel's ``network_thread_time_ms`` grows: for quotas of request time."""

        self._max_receive_size = max_receive_size
        self._time = time
        self._channel_builder: ChannelBuilder = channel_builder or PlaintextChannelBuilder()
        self._idle: IdleExpiryManager | None = None
        if connections_max_idle_ms >= 0:
            self._idle = IdleExpiryManager(connections_max_idle_ms, time.hi_res_ms())
        self._delayed_closings: DelayedClosings | None = None
        if failed_authentication_delay_ms > 0:
            self._delayed_closings = DelayedClosings(failed_authentication_delay_ms)
        self._channels: dict[str, KafkaChannel] = {}
        # Channels that poll has to serve before it asks the kernel.
        self._immediately_connected: dict[str, KafkaChannel] = {}
        self._new_sends: dict[str, KafkaChannel] = {}
        self._ready_receives: dict[str, KafkaChannel] = {}
        self._unread: dict[str, KafkaChannel] = {}

        self._read_buffer = bytearray(READ_BUFFER_BYTES)
        self._selector = NioSelector()
        self._wakeup_reader, self._wakeup_writer = socket.socketpair()
        self._wakeup_reader.setblocking(False)
        self._wakeup_writer.setblocking(False)
        self._selector.register(self._wakeup_reader, READ, WAKEUP)
        self._polling = False
        self._wakeup_pending = False

    # ── Asking for work ───────────────────────────────────────────────────────────────────────────────────────────

    def connect(
        self,
        connection_id: str,
        host: str,
        port: int,
        send_buffer_bytes: int = USE_DEFAULT_BUFFER_SIZE,
        receive_buffer_bytes: int = USE_DEFAULT_BUFFER_SIZE,
    ) -> None:
        """Begin to connect; the outcome appears in ``connected`` or ``disconnected`` after a later poll.

        Raises IllegalStateError if the id is taken, OSError if the host cannot be resolved or reached at all.
        """
        if connection_id in self._channels:
            raise IllegalStateError(f"there is already a connection with id {connection_id}")
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        sock = socket.socket(family, kind, protocol)
        try:
            configure_socket(sock, send_buffer_bytes, receive_buffer_bytes)
            error = sock.connect_ex(address)
            if error not in (0, errno.EINPROGRESS):
                raise OSError(error, os.strerror(error))
        except OSError:
            sock.close()
            raise
        channel = self._add_channel(connection_id, sock, f"{host}:{port}", host)
        if error:
            channel.await_connect()
        else:
            self._immediately_connected[connection_id] = channel

    def register(self, connection_id: str, sock: socket.socket, remote_address: str) -> KafkaChannel:
        """Take over a connection that was accepted elsewhere (non-blocking, connected).

        Raises OSError, and closes the socket, if the peer has reset it in the meantime.
        """
        channel = self._add_channel(connection_id, sock, remote_address, "")
        try:
            channel.finish_connect()
        except OSError:
            self._forget(channel)
            raise
        return channel

    def _add_channel(
        self, connection_id: str, sock: socket.socket, remote_address: str, peer_host: str
    ) -> KafkaChannel:
        transport = self._channel_builder.build_transport(self._selector, sock, peer_host)
        authenticator = self._channel_builder.build_authenticator(transport, peer_host)
        channel = KafkaChannel(connection_id, transport, self._max_receive_size, remote_address, authenticator)
        self.counters.connections_created += 1
        self._channels[connection_id] = channel
        channel.last_active_ms = self._time.hi_res_ms()
        return channel

    def send(self, send: NetworkSend) -> None:
        """Queue a frame for the next poll. Raises IllegalStateError unless the connection is ready and idle."""
        channel = self._channel_or_fail(send.destination)
        channel.set_send(send)
        self._new_sends[channel.id] = channel

    def write(self, send: NetworkSend) -> bool:
        """Send a frame at once. True if all of it is out; the next polls write what the socket did not take.

        Most responses fit into the socket's buffer, so they need not wait for a poll. Raises IllegalStateError like
        ``send``. A connection that turns out to be broken is in ``disconnected`` after the next poll.
        """
        channel = self._channel_or_fail(send.destination)
        channel.set_send(send)
        started_ms = self._time.hi_res_ms() if self.records_network_thread_time else 0.0
        try:
            is_out = channel.write() is not None
        except Exception:
            logger.debug("Cannot write to %s", channel.remote_address, exc_info=True)
            self._new_sends[channel.id] = channel  # poll tries again, fails, and closes the connection
            return False
        if is_out:
            self.counters.sent(send)
        if self.records_network_thread_time:
            channel.network_thread_time_ms += self._time.hi_res_ms() - started_ms
        return is_out

    def mute(self, connection_id: str) -> None:
        """Read nothing more from the connection until ``unmute``."""
        self._channel_or_fail(connection_id).mute()

    def unmute(self, connection_id: str) -> None:
        """Resume reading, beginning with the frames that are already here."""
        channel = self._channel_or_fail(connection_id)
        channel.unmute()
        if channel.staged:
            self._ready_receives[connection_id] = channel
        elif channel.reads_without_event:
            self._read_at_once(channel)

    def wakeup(self) -> None:
        """Make the poll in progress, or the next one, return at once. The only method that any thread may call.

        Each side writes its own flag before it reads the other's, so at least one of them sees the other. A byte is
        sent only to a thread that sleeps or is about to.
        """
        if self._wakeup_pending:
            return
        self._wakeup_pending = True
        if self._polling:
            with contextlib.suppress(OSError):  # full: it wakes up anyway; closed: there is no thread to wake
                self._wakeup_writer.send(b"\0")

    # ── Poll ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def poll(self, timeout_ms: float) -> None:
        """Do the work that was asked for, as far as the network allows; wait up to ``timeout_ms`` if there is none.

        ``counters`` counts the poll, as other methods count what is sent and handed out.
        """
        self._clear()
        if self._immediately_connected:
            self._do_at_once(self._immediately_connected, WRITE)
        if self._new_sends:
            # Most frames fit into the socket's buffer: write at once, and watch for the write event only for the rest.
            self._do_at_once(self._new_sends, WRITE)
        if self._unread:
            self._do_at_once(self._unread, READ)
        if self.completed_sends or self.connected or self.disconnected or self._ready_receives:
            timeout_ms = 0.0
        select_ms = self._time.hi_res_ms()
        if self._delayed_closings is not None:
            timeout_ms = self._delayed_closings.timeout_ms(timeout_ms, select_ms)
        events = self._select(timeout_ms)
        now_ms = self._time.hi_res_ms()
        for fd, ready in events:
            channel = self._selector.attachments.get(fd)
            if isinstance(channel, KafkaChannel):
                channel.last_active_ms = now_ms
                ready = ready if ready <= BOTH else BOTH  # an error: reading or writing raises it
                if self.records_network_thread_time:
                    self._measured_io(channel, ready)
                else:
                    self._guarded_io(channel, ready)
            elif channel is WAKEUP:
                self._drain_wakeups()
        if self._ready_receives:
            self._complete_receives()
        if self._delayed_closings is not None:
            for channel, error in self._delayed_closings.due(now_ms):
                self._refuse(channel, error)
        # Uses the time at the end of select, so that a connection that was just served is not closed.
        self._close_idle_connections(now_ms)
        self.counters.polled(select_ms, now_ms, self._time.hi_res_ms())

    def _clear(self) -> None:
        """Forget what the last poll found."""
        if self.connected:
            self.connected.clear()
        if self.disconnected:
            self.disconnected.clear()
            self.failed_authentications.clear()
        if self.completed_sends:
            self.completed_sends.clear()
        if self.completed_receives:
            self.completed_receives.clear()

    def _do_at_once(self, channels: dict[str, KafkaChannel], ready: int) -> None:
        """Treat the channels as if the kernel had reported them ready."""
        while channels:
            _, channel = channels.popitem()
            self._guarded_io(channel, ready)

    def _select(self, timeout_ms: float) -> list[tuple[int, int]]:
        """Wait for events up to ``timeout_ms``, but not at all if ``wakeup`` was called since the last select."""
        self._polling = True
        if self._wakeup_pending:
            timeout_ms = 0.0
        events = self._selector.select(timeout_ms / 1000)
        self._polling = False
        self._wakeup_pending = False
        return events

    def _drain_wakeups(self) -> None:
        try:
            while self._wakeup_reader.recv(4096):
                pass
        except BlockingIOError:
            pass

    def _measured_io(self, channel: KafkaChannel, ready: int) -> None:
        started_ms = self._time.hi_res_ms()
        self._guarded_io(channel, ready)
        channel.network_thread_time_ms += self._time.hi_res_ms() - started_ms

    def _guarded_io(self, channel: KafkaChannel, ready: int) -> None:
        """Read and write; an error closes this connection only."""
        try:
            self._do_io(channel, ready)
        except AuthenticationError as error:
            self._authentication_failed(channel, error)
        except OSError as error:
            logger.debug("Connection with %s disconnected: %s", channel.remote_address, error)
            self._disconnect(channel, error.strerror or str(error))
        except InvalidReceiveError as error:
            logger.warning("Closing connection %s with %s: %s", channel.id, channel.remote_address, error)
            self._disconnect(channel, str(error))
        except Exception as error:
            logger.exception("Unexpected error from %s; closing connection", channel.remote_address)
            self._disconnect(channel, repr(error))

    def _do_io(self, channel: KafkaChannel, ready: int) -> None:
        """Do what a channel is ready for: finish connecting, read, write. Raises OSError."""
        if channel.state is CLOSED:
            return  # closed by its first event of this poll
        if channel.state is CONNECTING:
            channel.finish_connect()
            self.connected.append(channel.id)
            return
        if channel.state is AUTHENTICATE:
            if channel.prepare():
                self._read_at_once(channel)  # bytes that came with the end of the handshake
            return
        if ready & READ:
            self._read(channel)
        if ready & WRITE and channel.has_send:
            send = channel.write()
            if send is not None:
                self.counters.sent(send)
                self.completed_sends.append(send)

    def _read(self, channel: KafkaChannel) -> None:
        """Read what has come, if the channel may read; note the channel if a frame is complete."""
        if not channel.may_read:
            channel.pause_reading()
            return
        channel.read(self._read_buffer)
        while not channel.staged and channel.reads_without_event:
            channel.read(self._read_buffer)
        if channel.staged:
            self._ready_receives[channel.id] = channel

    def _complete_receives(self) -> None:
        """Hand out one frame of each channel that has one and is not muted."""
        channels, self._ready_receives = self._ready_receives, {}
        for channel in channels.values():
            if channel.muted or not channel.staged:
                continue  # unmute brings it back
            self.completed_receives.append(self.take_staged(channel))
            if channel.staged:
                self._ready_receives[channel.id] = channel
            else:
                channel.resume_reading()
                if channel.reads_without_event:
                    self._read_at_once(channel)

    def take_staged(self, channel: KafkaChannel) -> NetworkReceive:
        """Take the first of a channel's complete frames. There must be one."""
        receive = channel.staged.popleft()
        self.counters.received(receive)
        return receive

    def _read_at_once(self, channel: KafkaChannel) -> None:
        """Read in the next poll, once the frames before have been handed out: a bad size closes the connection."""
        if channel.may_read:
            self._unread[channel.id] = channel

    def _authentication_failed(self, channel: KafkaChannel, error: AuthenticationError) -> None:
        logger.info("Failed authentication with %s (%s)", channel.remote_address, error.strerror or str(error))
        if self._delayed_closings is None:
            self._refuse(channel, error)
        else:
            self._delayed_closings.add(channel, error, self._time.hi_res_ms())

    def _refuse(self, channel: KafkaChannel, error: AuthenticationError) -> None:
        with contextlib.suppress(OSError):  # the peer has left in the meantime
            channel.send_refusal(error)
        self._disconnect(channel, error.strerror or str(error))
        self.failed_authentications[channel.id] = error

    def _close_idle_connections(self, now_ms: float) -> None:
        if self._idle is None:
            return
        for channel in self._idle.poll_expired_connections(now_ms, self._channels.values()):
            logger.debug("Closing idle connection with %s", channel.remote_address)
            self._disconnect(channel, "idle for longer than connections.max.idle.ms")

    # ── Connections ───────────────────────────────────────────────────────────────────────────────────────────────

    def channel(self, connection_id: str) -> KafkaChannel | None:
        """The connection, if it is open."""
        return self._channels.get(connection_id)

    def channels(self) -> list[KafkaChannel]:
        """All open connections."""
        return list(self._channels.values())

    def is_channel_ready(self, connection_id: str) -> bool:
        """Whether the connection is established."""
        channel = self._channels.get(connection_id)
        return channel is not None and channel.state is READY

    def close(self, connection_id: str | None = None) -> None:
        """Close one connection, which does not appear in ``disconnected``; without an id, close everything."""
        if connection_id is not None:
            channel = self._channels.get(connection_id)
            if channel is not None:
                self._forget(channel)
            return
        for channel in self.channels():
            self._forget(channel)
        self._selector.close()
        self._wakeup_reader.close()
        self._wakeup_writer.close()

    def _disconnect(self, channel: KafkaChannel, reason: str) -> None:
        self._forget(channel)
        self.disconnected[channel.id] = reason

    def _forget(self, channel: KafkaChannel) -> None:
        for channels in (
            self._channels,
            self._immediately_connected,
            self._new_sends,
            self._ready_receives,
            self._unread,
        ):
            channels.pop(channel.id, None)
        self.counters.connections_closed += 1
        channel.close()

    def _channel_or_fail(self, connection_id: str) -> KafkaChannel:
        channel = self._channels.get(connection_id)
        if channel is None:
            raise IllegalStateError(f"there is no connection with id {connection_id}")
        return channel


def configure_socket(sock: socket.socket, send_buffer_bytes: int, receive_buffer_bytes: int) -> None:
    """Non-blocking, without Nagle's delay, with keep-alive; with these buffer sizes unless they are -1."""
    sock.setblocking(False)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if send_buffer_bytes != USE_DEFAULT_BUFFER_SIZE:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer_bytes)
    if receive_buffer_bytes != USE_DEFAULT_BUFFER_SIZE:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer_bytes)
