"""The thread that carries the bytes of a test cluster's network.

Kafka has no such thing; its system tests leave it to the kernel · book 6.2
"""

from __future__ import annotations

import contextlib
import logging
import math
import selectors
import socket
import struct
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.testing.network.way import Stream, Way

logger = logging.getLogger(__name__)

HOST = "127.0.0.1"
READ_BYTES = 64 * 1024
CONNECT_TIMEOUT_S = 1.0
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


@dataclass(frozen=True)
class Route:
    """Connections of one machine to a port of another one, with the state of both directions.

    ``is_refused`` says whether connections are reset as soon as they are opened, because their sender is dead.
    """

    sender: str
    receiver: str
    target_port: int
    there: Way
    back: Way
    is_refused: Callable[[], bool]


class TcpProxy(ShutdownableThread):
    """Accepts connections on one port for each route, and forwards their bytes as the route's ways allow.

    One thread carries everything. Call ``wake_up`` after a change of a way.
    """

    def __init__(self) -> None:
        super().__init__("kafka-lite-network")
        self._selector = selectors.DefaultSelector()
        self._wakeup_reader, self._wakeup_writer = socket.socketpair()
        self._wakeup_reader.setblocking(False)
        self._selector.register(self._wakeup_reader, selectors.EVENT_READ)
        self._lock = threading.Lock()
        self._listeners: dict[socket.socket, Route] = {}
        self._connections: set[_Connection] = set()

    def open(self, route: Route) -> int:
        """Listen for the connections of a route, and return the port. Must be called before the thread starts."""
        listener = socket.create_server((HOST, 0))
        listener.setblocking(False)
        self._selector.register(listener, selectors.EVENT_READ)
        self._listeners[listener] = route
        port: int = listener.getsockname()[1]
        return port

    def reset(self, machine: str) -> None:
        """Reset all connections from and to a machine, as its kernel does if the process is killed."""
        with self._lock:
            for connection in list(self._connections):
                if machine in (connection.route.sender, connection.route.receiver):
                    self._remove(connection, reset=True)

    def wake_up(self) -> None:
        """End the select in progress."""
        with contextlib.suppress(OSError):  # closed: the thread has ended
            self._wakeup_writer.send(b"\0")

    # ── the thread ────────────────────────────────────────────────────────────────────────────────────────────────

    def do_work(self) -> None:
        """Wait for sockets or for the next part that is due, then move all bytes that can move."""
        ready = {key.fileobj: events for key, events in self._selector.select(self._timeout_s())}
        with self._lock:
            if self._wakeup_reader in ready:
                with contextlib.suppress(BlockingIOError):
                    self._wakeup_reader.recv(4096)
            for listener in self._listeners.keys() & ready.keys():
                self._accept(listener)
            for connection in list(self._connections):
                try:
                    if not connection.move(ready):
                        self._remove(connection)
                except OSError as error:  # one of the two ends is gone
                    logger.debug("%s -> %s: %s", connection.route.sender, connection.route.receiver, error)
                    self._remove(connection, reset=True)

    def _timeout_s(self) -> float | None:
        with self._lock:
            next_ms = min((connection.due_ms() for connection in self._connections), default=math.inf)
        return None if next_ms == math.inf else max(next_ms - SYSTEM_TIME.hi_res_ms(), 0) / 1000

    def _accept(self, listener: socket.socket) -> None:
        route = self._listeners[listener]
        try:
            client, _ = listener.accept()
        except OSError:
            return  # the client has given up in the meantime
        connection = _Connection(route, client, self._selector)
        if route.is_refused():
            connection.close(reset=True)
        else:
            self._connections.add(connection)

    def _remove(self, connection: _Connection, *, reset: bool = False) -> None:
        self._connections.discard(connection)
        connection.close(reset=reset)

    def on_exit(self) -> None:
        """Close everything."""
        with self._lock:
            for connection in list(self._connections):
                self._remove(connection)
            self._selector.close()
            for sock in (self._wakeup_reader, self._wakeup_writer, *self._listeners):
                sock.close()


class _Connection:
    """One connection through the proxy: two sockets, and a stream in each direction."""

    def __init__(self, route: Route, client: socket.socket, selector: selectors.BaseSelector) -> None:
        self.route = route
        self._selector = selector
        self._client = client
        self._server: socket.socket | None = None
        self._there = Stream(route.there)
        self._back = Stream(route.back)
        self._ended: set[socket.socket] = set()
        """The sockets whose peer sends no more."""
        self._full: set[socket.socket] = set()
        """The sockets that cannot be written to at the moment."""
        self._interests: dict[socket.socket, int] = {}
        _configure(client)

    def due_ms(self) -> float:
        """When the next part may be written; infinite if nothing is under way, or it waits for a socket."""
        there = math.inf if self._server is None or self._server in self._full else self._there.due_ms()
        back = math.inf if self._client in self._full else self._back.due_ms()
        return min(there, back)

    def move(self, ready: Mapping[Any, int]) -> bool:
        """Read and write what is possible now; False once both sides have ended. Raises OSError."""
        server = self._server or self._connect()
        if server is None:
            return True
        now_ms = SYSTEM_TIME.hi_res_ms()
        for source, stream, target in ((self._client, self._there, server), (server, self._back, self._client)):
            if ready.get(source, 0) & selectors.EVENT_READ:
                self._read(source, stream, now_ms)
            self._write(stream, target, now_ms)
        self._set_interest(self._client, self._there)
        self._set_interest(server, self._back)
        return len(self._ended) < 2 or self._there.has_parts or self._back.has_parts

    def _connect(self) -> socket.socket | None:
        """Connect to the receiver once both directions work, because TCP's handshake needs both."""
        if self.route.there.is_cut or self.route.back.is_cut:
            return None
        self._server = socket.create_connection((HOST, self.route.target_port), timeout=CONNECT_TIMEOUT_S)
        _configure(self._server)
        return self._server

    def _read(self, source: socket.socket, stream: Stream, now_ms: float) -> None:
        try:
            data = source.recv(READ_BYTES)
        except BlockingIOError:
            return
        stream.take_in(data, now_ms)
        if not data:
            self._ended.add(source)

    def _write(self, stream: Stream, target: socket.socket, now_ms: float) -> None:
        self._full.discard(target)
        while (part := stream.due_part(now_ms)) is not None:
            if not part:
                target.shutdown(socket.SHUT_WR)
                stream.delivered(0)
                continue
            try:
                stream.delivered(target.send(part))
            except BlockingIOError:
                self._full.add(target)
                return

    def _set_interest(self, sock: socket.socket, stream: Stream) -> None:
        """Wait for ``sock``, whose bytes go to ``stream``, to become readable or writable, if that is of use."""
        wanted = selectors.EVENT_READ if stream.has_room and sock not in self._ended else 0
        wanted |= selectors.EVENT_WRITE if sock in self._full else 0
        known = self._interests.get(sock, 0)
        if wanted == known:
            return
        if not known:
            self._selector.register(sock, wanted)
        elif not wanted:
            self._selector.unregister(sock)
        else:
            self._selector.modify(sock, wanted)
        self._interests[sock] = wanted

    def close(self, *, reset: bool = False) -> None:
        """Close both sockets; ``reset``: so that the peers get an error instead of the end of the stream."""
        for sock in (self._client, self._server):
            if sock is None:
                continue
            if self._interests.pop(sock, 0):
                self._selector.unregister(sock)
            if reset:
                with contextlib.suppress(OSError):
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
            sock.close()


def _configure(sock: socket.socket) -> None:
    sock.setblocking(False)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
