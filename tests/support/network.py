"""A socket server with handlers that a test provides, and clients that send and receive bytes."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from kafka_lite.common.sendable import Part
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.network import processor
from kafka_lite.network.acceptor import Listener
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel, Response
from kafka_lite.network.send import NetworkSend
from kafka_lite.network.socket_server import SocketServer, SocketServerConfig
from kafka_lite.protocol.framing import encode_request
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest
from kafka_lite.server.kafka_request_handler import KafkaRequestHandlerPool
from kafka_lite.server.quick_requests import InlineRequestHandler
from tests.support.patience import patient_s

LOOPBACK = "127.0.0.1"
needs_plain_package = pytest.mark.skipif(
    not str(processor.__file__).endswith(".py"), reason="puts something in the place of what is compiled"
)

Handler = Callable[[Request, RequestChannel], None]


def respond(request: Request, channel: RequestChannel, parts: list[Part]) -> None:
    channel.send_response(Response(request, NetworkSend(request.connection_id, parts)))


def echo_correlation_id(request: Request, channel: RequestChannel) -> None:
    """The smallest response that distinguishes requests."""
    respond(request, channel, [struct.pack(">i", request.header.correlation_id)])


class _Apis:
    def __init__(self, handler: Handler, channel: RequestChannel) -> None:
        self._handler = handler
        self._channel = channel

    def handle(self, request: Request) -> None:
        self._handler(request, self._channel)


@contextmanager
def running_server(
    handler: Handler = echo_correlation_id,
    *,
    io_threads: int = 2,
    is_quick: Callable[[Request], bool] | None = None,
    time: Time = SYSTEM_TIME,
    **config: Any,
) -> Iterator[SocketServer]:
    """A server with one listener on a free port; afterwards, none of its threads may be left.

    ``is_quick`` says which requests the network threads handle themselves; by default none.
    """
    config.setdefault("listeners", (Listener(LOOPBACK),))
    config.setdefault("num_network_threads", 1)
    before = set(threading.enumerate())
    server = SocketServer(SocketServerConfig(**config), time)
    channel = server.request_channel
    apis = _Apis(handler, channel)
    pool = KafkaRequestHandlerPool(io_threads, channel, apis)
    if is_quick is not None:
        InlineRequestHandler(channel, apis, is_quick)
    try:
        server.startup()
        yield server
    finally:
        server.shutdown()
        pool.shutdown()
    left = set(threading.enumerate()) - before
    assert not [thread for thread in left if thread.name.startswith("kafka-")], f"threads left: {left}"
    for thread in left:  # threads that a handler started: they have responded, but may not have ended yet
        thread.join(patient_s(30))
        assert not thread.is_alive()


def request_frame(correlation_id: int, client_id: str = "test") -> bytes:
    """A heartbeat, with its size prefix."""
    body = encode_request(HeartbeatRequest(group_id="g", generation_id=1, member_id="m"), 0, correlation_id, client_id)
    return struct.pack(">i", len(body)) + body


def connect(server: SocketServer, listener: str = "PLAINTEXT") -> socket.socket:
    return socket.create_connection((LOOPBACK, server.bound_port(listener)), timeout=patient_s(30))


def read_exactly(sock: socket.socket, count: int) -> bytes:
    """``count`` bytes, or fewer if the connection ends."""
    data = bytearray()
    while len(data) < count and (chunk := sock.recv(count - len(data))):
        data += chunk
    return bytes(data)


def read_frame(sock: socket.socket) -> bytes:
    (size,) = struct.unpack(">i", read_exactly(sock, 4))
    return read_exactly(sock, size)


def read_correlation_id(sock: socket.socket) -> int:
    (correlation_id,) = struct.unpack(">i", read_frame(sock))
    return int(correlation_id)


def is_closed(sock: socket.socket) -> bool:
    """Whether the other side closes the connection (waits for it)."""
    try:
        return sock.recv(1) == b""
    except ConnectionResetError:
        return True
