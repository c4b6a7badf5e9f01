"""The thread that accepts connections and hands them to the processors.

Kafka 0.10.2: core/.../network/SocketServer.scala (Acceptor) · book 2.3.1
"""

from __future__ import annotations

import errno
import heapq
import itertools
import logging
import selectors
import socket
from collections.abc import Sequence
from dataclasses import dataclass

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.time import Time
from kafka_lite.network.channel_builder import ChannelBuilder
from kafka_lite.network.connection_quotas import ConnectionQuotas, TooManyConnectionsError
from kafka_lite.network.connection_rate_quotas import ConnectionRateQuotas, ConnectionThrottledError
from kafka_lite.network.processor import Processor
from kafka_lite.network.selector import configure_socket

logger = logging.getLogger(__name__)

SELECT_TIMEOUT_MS = 500
ACCEPT_BACKLOG = 128
PAUSE_AFTER_ERROR_MS = 100
"""How long to leave connections in the kernel's queue when they cannot be accepted (no more file descriptors)."""


@dataclass(frozen=True)
class Listener:
    """One entry of ``listeners``: an address, and the name by which clients and brokers refer to it."""

    host: str = ""
    """Name or address to bind; empty: all interfaces."""
    port: int = 0
    """TCP port; 0: the kernel chooses one, see ``SocketServer.bound_port``."""
    name: str = "PLAINTEXT"
    security_protocol: str = "PLAINTEXT"
    channel_builder: ChannelBuilder | None = None
    """How its connections are protected; None: not at all."""


class PortInUseError(KafkaError):
    """Another socket listens on ``host:port``."""

    def __init__(self, text: str, host: str, port: int) -> None:
        super().__init__(text)
        self.host, self.port = host, port


class Acceptor(ShutdownableThread):
    """One per listener: listens, accepts, checks the quotas, and gives each connection to the next processor in turn.

    No error of a connection ends this thread. If the process has no file descriptors left, it logs that once and waits;
    the connections stay in the kernel's queue, and their clients wait, too.
    """

    def __init__(
        self,
        listener: Listener,
        processors: Sequence[Processor],
        connection_quotas: ConnectionQuotas,
        connection_rates: ConnectionRateQuotas,
        send_buffer_bytes: int,
        receive_buffer_bytes: int,
        time: Time,
    ) -> None:
        self._server_socket = open_server_socket(listener.host, listener.port, receive_buffer_bytes)
        self.port: int = self._server_socket.getsockname()[1]
        """The port it listens on, even if the kernel chose it."""
        super().__init__(f"kafka-socket-acceptor-{listener.name}-{self.port}")
        self._listener_name = listener.name
        self._quotas = connection_quotas
        self._rates = connection_rates
        self._time = time
        # Connections of addresses that open too many per second, by the time at which they are closed.
        self._throttled: list[tuple[float, int, socket.socket]] = []
        self._throttled_numbers = itertools.count()
        self._next_processor = itertools.cycle(processors)
        self._send_buffer_bytes = send_buffer_bytes
        self._receive_buffer_bytes = receive_buffer_bytes
        self._failing = False
        self._wakeup_reader, self._wakeup_writer = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._server_socket, selectors.EVENT_READ)
        self._selector.register(self._wakeup_reader, selectors.EVENT_READ)

    def do_work(self) -> None:
        """Wait for connections and accept one; close those whose addresses have been delayed for long enough."""
        timeout_ms: float = SELECT_TIMEOUT_MS
        if self._throttled:
            timeout_ms = min(timeout_ms, max(self._throttled[0][0] - self._time.hi_res_ms(), 0))
        for key, _ in self._selector.select(timeout_ms / 1000):
            if key.fileobj is self._server_socket and self.is_running:
                self._accept()
        self._close_throttled()

    def _accept(self) -> None:
        try:
            sock, address = self._server_socket.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return  # the client has given up in the meantime
        except OSError as error:
            if not self._failing:
                logger.error("Error while accepting connections on port %d: %s", self.port, error.strerror)
            self._failing = True
            self.pause(PAUSE_AFTER_ERROR_MS)
            return
        self._failing = False
        self._assign(sock, unmapped(address[0]), address[1])

    def _assign(self, sock: socket.socket, host: str, port: int) -> None:
        """Count the connection, set its options and hand it over. If anything fails, close it."""
        try:
            self._await_connection_rate()
            self._rates.record_ip_connection(self._listener_name, host)
            self._quotas.inc(host)
        except ConnectionThrottledError as throttled:
            self._close_later(sock, throttled)
            return
        except TooManyConnectionsError as error:
            logger.info(
                "Rejected connection from %s, address already has the configured maximum of %d connections.",
                error.address,
                error.maximum,
            )
            sock.close()
            return
        try:
            configure_socket(sock, self._send_buffer_bytes, self._receive_buffer_bytes)
        except OSError as error:
            logger.debug("Connection from %s:%d ended before it was set up: %s", host, port, error)
            self._quotas.dec(host)
            sock.close()
            return
        processor = next(self._next_processor)
        logger.debug("Accepted connection from %s:%d and assigned it to processor %d", host, port, processor.id)
        processor.accept(sock, host, port)

    def _await_connection_rate(self) -> None:
        """Count the connection; if the listener or the broker has too many, wait with it, and with those after it."""
        throttle_time_ms = self._rates.record_connection(self._listener_name)
        if throttle_time_ms > 0:
            logger.debug("Listener %s waits for %d ms: its connection rate", self._listener_name, throttle_time_ms)
            self.pause(throttle_time_ms)

    def _close_later(self, sock: socket.socket, throttled: ConnectionThrottledError) -> None:
        """Keep a refused connection open, unread, so that its client does not come back at once."""
        logger.debug("Delaying the closing of a connection: %s", throttled)
        end_ms = self._time.hi_res_ms() + throttled.throttle_time_ms
        heapq.heappush(self._throttled, (end_ms, next(self._throttled_numbers), sock))

    def _close_throttled(self) -> None:
        while self._throttled and self._throttled[0][0] <= self._time.hi_res_ms():
            heapq.heappop(self._throttled)[2].close()

    def wake_up(self) -> None:
        """End the select in progress."""
        self._wakeup_writer.send(b"\0")

    def close(self) -> None:
        """Release the port. The thread must have ended, or never have started."""
        self._selector.close()
        throttled = [sock for _, _, sock in self._throttled]
        for sock in (self._server_socket, self._wakeup_reader, self._wakeup_writer, *throttled):
            sock.close()


def check_port_is_free(host: str, port: int) -> None:
    """Fail early if ``host:port`` cannot be listened on. Raises PortInUseError, and KafkaError for any other reason."""
    _bind(host, port, receive_buffer_bytes=-1).close()


def open_server_socket(host: str, port: int, receive_buffer_bytes: int) -> socket.socket:
    """Listen on ``host:port``; without a host, on all interfaces. Raises as ``check_port_is_free`` does."""
    server_socket = _bind(host, port, receive_buffer_bytes)
    try:
        server_socket.listen(ACCEPT_BACKLOG)
        server_socket.setblocking(False)
    except OSError as error:
        server_socket.close()
        raise _cannot_bind(host, port, error) from error
    return server_socket


def _bind(host: str, port: int, receive_buffer_bytes: int) -> socket.socket:
    dual_stack = not host and socket.has_dualstack_ipv6()
    try:
        family = socket.AF_INET6 if dual_stack else socket.getaddrinfo(host or "0.0.0.0", port)[0][0]
        server_socket = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        raise _cannot_bind(host, port, error) from error
    try:
        if dual_stack:
            server_socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        server_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if receive_buffer_bytes >= 0:
            # Before listen: accepted sockets inherit it, and the handshake settles the window scale.
            server_socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer_bytes)
        server_socket.bind((host or ("::" if dual_stack else "0.0.0.0"), port))
    except OSError as error:
        server_socket.close()
        raise _cannot_bind(host, port, error) from error
    return server_socket


def _cannot_bind(host: str, port: int, error: OSError) -> KafkaError:
    text = f"Socket server failed to bind to {host}:{port}: {error.strerror}."
    return PortInUseError(text, host, port) if error.errno == errno.EADDRINUSE else KafkaError(text)


def unmapped(address: str) -> str:
    """The IPv4 address of an IPv4 client of an IPv6 socket: ``::ffff:10.0.0.1`` is 10.0.0.1."""
    return address.removeprefix("::ffff:") if "." in address else address
