"""A connection's buffers: frames in, frames out."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from kafka_lite.zookeeper.embedded.protocol import EventType, Id
from kafka_lite.zookeeper.embedded.server_cnxn import ServerCnxn
from kafka_lite.zookeeper.embedded.zookeeper_server import BadPacket
from tests.support.annotated_bytes import annotated_bytes


@pytest.fixture
def theirs() -> Iterator[socket.socket]:
    with socket.socket() as theirs:
        yield theirs


@pytest.fixture
def connection(theirs: socket.socket) -> Iterator[ServerCnxn]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        theirs.connect(listener.getsockname())
        ours, _ = listener.accept()
    with ours:
        yield ServerCnxn(ours, ("127.0.0.1", 4321), 100)


def arrived(connection: ServerCnxn, theirs: socket.socket, data: bytes) -> None:
    """Send bytes, and let the connection read them all."""
    theirs.sendall(data)
    connection.sock.setblocking(True)
    connection.receive()
    connection.sock.setblocking(False)


def test_a_new_connection_is_known_by_its_address(connection: ServerCnxn) -> None:
    assert str(connection) == "/127.0.0.1:4321"
    assert connection.identities == [Id("ip", "127.0.0.1")]
    assert (connection.session_id, connection.is_initialized) == (0, False)
    assert connection.wants_read
    assert not connection.wants_write


def test_nothing_to_read_leaves_the_connection_open(connection: ServerCnxn) -> None:
    assert connection.receive()
    assert list(connection.frames()) == []


def test_an_end_of_the_stream_is_told(connection: ServerCnxn, theirs: socket.socket) -> None:
    theirs.shutdown(socket.SHUT_WR)
    connection.sock.setblocking(True)
    assert not connection.receive()


def test_frames_are_taken_when_they_are_whole(connection: ServerCnxn, theirs: socket.socket) -> None:
    arrived(connection, theirs, annotated_bytes("00000001 'a' 00000000 00000003 'bc'"))
    assert list(connection.frames()) == [b"a", b""]
    assert not connection.has_frame
    arrived(connection, theirs, b"d00")
    assert connection.has_frame
    assert list(connection.frames()) == [b"bcd"]
    assert connection.packets_received == 3


@pytest.mark.parametrize("length", ["ffffffff", "00000065", "7fffffff"])
def test_a_length_out_of_range_is_a_bad_packet(connection: ServerCnxn, theirs: socket.socket, length: str) -> None:
    arrived(connection, theirs, bytes.fromhex(length))
    with pytest.raises(BadPacket, match="is out of range"):
        list(connection.frames())


@pytest.mark.parametrize(("sent", "word"), [(b"ruok", "ruok"), (b"mntr\n", "mntr"), (b"RUOK", None), (b"ru", None)])
def test_a_word_may_come_first(connection: ServerCnxn, theirs: socket.socket, sent: bytes, word: str | None) -> None:
    arrived(connection, theirs, sent)
    assert connection.take_command() == word


def test_a_word_is_taken_only_before_the_first_frame(connection: ServerCnxn, theirs: socket.socket) -> None:
    arrived(connection, theirs, annotated_bytes("00000001 'a' 'ruok'"))
    assert connection.take_command() is None
    assert next(connection.frames()) == b"a"
    assert connection.take_command() is None


def test_what_is_sent_waits_for_a_flush(connection: ServerCnxn, theirs: socket.socket) -> None:
    connection.send(b"reply")
    connection.send_text("imok")
    assert connection.wants_write
    assert connection.packets_sent == 1
    assert connection.flush()
    assert not connection.wants_write
    assert theirs.recv(100) == annotated_bytes("00000005 'reply' 'imok'")


def test_an_event_has_a_header_without_request(connection: ServerCnxn, theirs: socket.socket) -> None:
    connection.process(EventType.NODE_CREATED, "/a")
    connection.flush()
    drawn = "0000001e ffffffff ffffffffffffffff 00000000 00000001 00000003 00000002 '/a'"
    assert theirs.recv(100) == annotated_bytes(drawn)


def test_a_closing_connection_sends_the_rest_and_reads_nothing(connection: ServerCnxn, theirs: socket.socket) -> None:
    arrived(connection, theirs, annotated_bytes("00000001 'a'"))
    connection.send(b"last")
    connection.close_after_send()
    assert not connection.wants_read
    assert list(connection.frames()) == []
    assert not connection.flush(), "it can be closed"
    assert theirs.recv(100) == b"\0\0\0\4last"


def test_a_closed_connection_sends_nothing(connection: ServerCnxn) -> None:
    connection.send(b"late")
    connection.close()
    assert not connection.wants_write
    assert not connection.flush()


def test_counters_are_reset(connection: ServerCnxn) -> None:
    connection.send(b"x")
    connection.reset_stats()
    assert (connection.packets_received, connection.packets_sent) == (0, 0)
