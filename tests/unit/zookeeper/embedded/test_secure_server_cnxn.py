"""A connection with TLS: its handshake is part of the first reads, and it passes on what was encrypted."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator

import pytest

from kafka_lite.security.auth.distinguished_name import subject_of
from kafka_lite.security.ssl.ssl_factory import SslFactory
from kafka_lite.zookeeper.embedded.protocol import Id
from kafka_lite.zookeeper.embedded.secure_server_cnxn import SecurePort, SecureServerCnxn
from tests.support.certificates import Pem, certificate, keys_and_trust, server_certificate
from tests.support.eventually import eventually

MAX_BYTES = 1 << 20
SMALL_BUFFER_BYTES = 64 * 1024
"""So that few replies fill the buffers of the system."""
Dial = Callable[[Pem | None], tuple[SecureServerCnxn, socket.socket]]


def pair() -> tuple[socket.socket, socket.socket]:
    """A server's end of a connection, and a client's."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_BUFFER_BYTES)
        client.connect(listener.getsockname())
        accepted, _ = listener.accept()
        accepted.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SMALL_BUFFER_BYTES)
        return accepted, client


@pytest.fixture
def dial() -> Iterator[Dial]:
    """A connection, and its client in a thread that does the handshake."""
    own = server_certificate()
    server = SslFactory(keys_and_trust(own, own, ssl_client_auth="requested"), server=True)
    opened: list[socket.socket] = []
    threads: list[threading.Thread] = []

    def connect(client: Pem | None) -> tuple[SecureServerCnxn, socket.socket]:
        near, far = pair()
        opened.extend((near, far))
        port = SecurePort(server.context, subject_of)
        connection = SecureServerCnxn(near, ("127.0.0.1", 4321), MAX_BYTES, port)
        opened.append(connection.sock)
        factory = SslFactory(keys_and_trust(client, own), server=False)
        secured = factory.context.wrap_socket(far, server_hostname="localhost", do_handshake_on_connect=False)
        opened.append(secured)
        threads.append(threading.Thread(target=secured.do_handshake))
        threads[-1].start()
        eventually(lambda: connection.receive() and not threads[-1].is_alive())
        connection.receive()
        return connection, secured

    yield connect
    for thread in threads:
        thread.join()
    for each in opened:
        each.close()


def test_a_certificate_names_the_client(dial: Dial) -> None:
    connection, _ = dial(certificate(common_name="kafka"))
    (address, known) = connection.identities
    assert (address, known.scheme) == (Id("ip", "127.0.0.1"), "x509")
    assert "CN=kafka" in known.id


def test_without_one_it_is_its_address(dial: Dial) -> None:
    connection, _ = dial(None)
    assert connection.identities == [Id("ip", "127.0.0.1")]


def test_frames_pass_in_both_directions(dial: Dial) -> None:
    connection, client = dial(None)
    payload = bytes(range(256)) * 300  # several records
    client.settimeout(30)
    sender = threading.Thread(target=client.sendall, args=(len(payload).to_bytes(4, "big") + payload,))
    sender.start()
    frames: list[bytes] = []
    eventually(lambda: connection.receive() and bool(frames.extend(connection.frames()) or frames))
    sender.join()
    assert frames == [payload]
    connection.send(b"answer")
    assert connection.wants_write
    assert connection.flush()
    assert not connection.wants_write
    assert client.recv(100) == b"\0\0\0\6answer"


def test_a_reply_that_is_not_read_waits(dial: Dial) -> None:
    connection, client = dial(None)
    connection.send(bytes(MAX_BYTES * 3))
    for _ in range(200):
        assert connection.flush()
    assert connection.wants_write
    received = 0
    client.settimeout(30)
    while received < MAX_BYTES * 3 + 4:
        connection.flush()
        received += len(client.recv(1 << 16))
    assert not connection.wants_write


def test_plain_text_is_refused() -> None:
    near, far = pair()
    own = server_certificate()
    port = SecurePort(SslFactory(keys_and_trust(own), server=True).context, subject_of)
    with near, far:
        connection = SecureServerCnxn(near, ("127.0.0.1", 1), MAX_BYTES, port)
        assert connection.receive(), "a handshake that has not begun"
        far.sendall(b"\0\0\0\x2cruok")
        with pytest.raises(ssl.SSLError):
            connection.receive()
        connection.sock.close()
