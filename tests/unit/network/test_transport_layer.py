from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from kafka_lite.network.channel_builder import PlaintextChannelBuilder
from kafka_lite.network.nio_selector import BOTH, READ, WRITE, NioSelector
from kafka_lite.network.send import NetworkSend
from kafka_lite.network.transport_layer import TransportLayer


@pytest.fixture
def selector() -> Iterator[NioSelector]:
    made = NioSelector()
    yield made
    made.close()


@pytest.fixture
def sockets() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with ours, theirs:
        yield ours, theirs


def plaintext(selector: NioSelector, sock: socket.socket) -> TransportLayer:
    return PlaintextChannelBuilder().build_transport(selector, sock, "localhost")


def test_plaintext_has_no_handshake_and_passes_bytes(
    selector: NioSelector, sockets: tuple[socket.socket, socket.socket]
) -> None:
    ours, theirs = sockets
    transport = plaintext(selector, ours)
    assert transport.handshake()
    assert not transport.has_buffered_bytes

    assert transport.write(NetworkSend("c", [b"hello"]))
    assert theirs.recv(100) == b"\0\0\0\5hello"
    buffer = bytearray(10)
    assert transport.recv_into(buffer) == 0
    theirs.send(b"world")
    assert transport.recv_into(buffer) == 5
    assert buffer[:5] == b"world"
    theirs.close()
    with pytest.raises(ConnectionError, match="the peer closed"):
        transport.recv_into(buffer)


def test_a_socket_without_interest_is_not_registered(
    selector: NioSelector, sockets: tuple[socket.socket, socket.socket]
) -> None:
    ours, theirs = sockets
    transport = plaintext(selector, ours)
    transport.attach("channel")
    theirs.send(b"x")
    assert selector.select(0) == []

    transport.add_interest(READ)
    assert selector.select(0) == [(ours.fileno(), READ)]
    assert selector.attachments[ours.fileno()] == "channel"
    transport.add_interest(WRITE)
    assert selector.select(0) == [(ours.fileno(), BOTH)]
    transport.remove_interest(BOTH)
    assert selector.select(0) == []


def test_closing_stops_watching(selector: NioSelector, sockets: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = sockets
    transport = plaintext(selector, ours)
    transport.add_interest(READ)
    transport.close()

    assert selector.select(0) == []
    assert theirs.recv(10) == b""


def test_a_failed_connect_is_reported(selector: NioSelector) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = listening.getsockname()
    sock = socket.socket()
    sock.setblocking(False)
    sock.connect_ex(address)
    transport = plaintext(selector, sock)
    transport.add_interest(WRITE)
    selector.select(5)
    with pytest.raises(ConnectionRefusedError):
        transport.finish_connect()
    transport.close()


def test_the_end_is_seen_and_not_taken_off(selector: NioSelector, sockets: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = sockets
    transport = plaintext(selector, ours)
    assert not transport.is_at_end(), "nothing has come"
    theirs.send(b"x")
    theirs.close()
    assert not transport.is_at_end(), "a byte comes before the end"
    assert transport.recv_into(bytearray(10)) == 1
    assert transport.is_at_end()
    with pytest.raises(ConnectionError, match="the peer closed"):
        transport.recv_into(bytearray(10))
    transport.close()
    assert transport.is_at_end()
