"""Frames before the first request: pieces, sizes that cannot be, refusals, and a second authentication."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterator

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.security.kafka_principal import ANONYMOUS, KafkaPrincipal
from kafka_lite.common.sendable import Buffer
from kafka_lite.network.authentication_error import SaslAuthenticationError
from kafka_lite.network.authenticator import AuthenticationFailedError, Authenticator
from kafka_lite.network.nio_selector import READ, NioSelector
from kafka_lite.network.transport_layer import PlaintextTransportLayer
from tests.support.patience import patient_s

ALICE = KafkaPrincipal("User", "alice")


def frame(text: bytes) -> bytes:
    return struct.pack(">i", len(text)) + text


class End:
    """Answers each frame by itself, and is complete after ``last``."""

    reauthentication_time_ms: float | None = None
    session_expiration_ms: float | None = None

    def __init__(self, first: bytes | None = None) -> None:
        self.first = first
        self.complete = False
        self.received: list[bytes] = []

    def start(self) -> bytes | None:
        return self.first

    def reauthenticate(self, handshake: Buffer | None) -> bytes:
        self.complete = False
        return b"again " + bytes(handshake or b"")

    def receive(self, frame: Buffer) -> bytes | None:
        self.received.append(bytes(frame))
        if frame == b"bad":
            raise Errors.SASL_AUTHENTICATION_FAILED.exception("no")
        if frame == b"refused":
            raise AuthenticationFailedError("no", b"you are refused")
        self.complete = frame == b"last"
        return None if frame == b"silent" else b"to " + bytes(frame)


class Pair:
    def __init__(self, end: End, max_receive_size: int = 100) -> None:
        self.peer, own = socket.socketpair()
        own.setblocking(False)
        self.peer.settimeout(patient_s(30))
        self.selector = NioSelector()
        self.transport = PlaintextTransportLayer(self.selector, own)
        self.transport.attach("it")
        self.transport.add_interest(READ)
        self.end = end
        self.authenticator = Authenticator(self.transport, end, max_receive_size, lambda: ALICE)

    def close(self) -> None:
        self.transport.close()
        self.peer.close()
        self.selector.close()


Make = Callable[..., Pair]


@pytest.fixture
def make() -> Iterator[Make]:
    pairs: list[Pair] = []

    def made(first: bytes | None = None, max_receive_size: int = 100) -> Pair:
        pairs.append(Pair(End(first), max_receive_size))
        return pairs[-1]

    yield made
    for pair in pairs:
        pair.close()


def test_a_frame_may_come_byte_by_byte_and_what_follows_the_last_one_stays_in_the_socket(make: Make) -> None:
    pair = make()
    *pieces, end = [bytes([byte]) for byte in frame(b"one") + frame(b"last")]
    for piece in pieces:
        pair.peer.sendall(piece)
        assert not pair.authenticator.authenticate()
        assert pair.authenticator.principal == ANONYMOUS
    pair.peer.sendall(end + frame(b"a request"))
    assert pair.authenticator.authenticate()
    assert pair.end.received == [b"one", b"last"]
    assert pair.peer.recv(100) == frame(b"to one") + frame(b"to last")
    assert pair.transport.sock.recv(100) == frame(b"a request")
    assert pair.authenticator.principal == ALICE


def test_a_client_begins(make: Make) -> None:
    pair = make(first=b"hello")
    assert not pair.authenticator.authenticate()
    assert pair.peer.recv(100) == frame(b"hello")
    pair.peer.sendall(frame(b"silent") + frame(b""))
    assert not pair.authenticator.authenticate()
    assert pair.end.received == [b"silent", b""]
    assert pair.peer.recv(100) == frame(b"to ")


@pytest.mark.parametrize("size", [-1, 101, 2**31 - 1])
def test_an_impossible_size_ends_it(make: Make, size: int) -> None:
    pair = make()
    pair.peer.sendall(struct.pack(">i", size))
    with pytest.raises(SaslAuthenticationError, match=rf"Invalid receive \(size = {size}"):
        pair.authenticator.authenticate()


def test_the_peer_leaves_in_the_middle_of_a_frame(make: Make) -> None:
    pair = make()
    pair.peer.sendall(frame(b"one")[:-1])
    pair.peer.shutdown(socket.SHUT_WR)
    with pytest.raises(ConnectionError, match="closed the connection"):
        pair.authenticator.authenticate()


def test_a_refusal_without_an_answer_sends_nothing(make: Make) -> None:
    pair = make()
    pair.peer.sendall(frame(b"bad"))
    with pytest.raises(SaslAuthenticationError) as raised:
        pair.authenticator.authenticate()
    pair.authenticator.send_refusal(raised.value)
    pair.transport.sock.shutdown(socket.SHUT_WR)
    assert (raised.value.reason, pair.peer.recv(100)) == ("no", b"")


def test_a_refusal_with_an_answer_is_sent_when_it_is_time(make: Make) -> None:
    pair = make()
    pair.peer.sendall(frame(b"refused"))
    with pytest.raises(AuthenticationFailedError) as raised:
        pair.authenticator.authenticate()
    pair.peer.setblocking(False)
    with pytest.raises(BlockingIOError):
        pair.peer.recv(100)
    pair.authenticator.send_refusal(raised.value)
    assert pair.peer.recv(100) == frame(b"you are refused")


def test_a_second_authentication_keeps_the_principal(make: Make) -> None:
    pair = make()
    pair.peer.sendall(frame(b"last"))
    assert pair.authenticator.authenticate()
    assert pair.authenticator.principal == ALICE
    pair.authenticator.begin_again(memoryview(b"handshake"))
    assert not pair.authenticator.authenticate()
    assert pair.authenticator.principal == ALICE
    pair.peer.sendall(frame(b"last"))
    assert pair.authenticator.authenticate()
    assert pair.peer.recv(100) == frame(b"to last") + frame(b"again handshake") + frame(b"to last")


def test_a_client_may_begin_again_once_a_second_if_its_session_ends(make: Make) -> None:
    authenticator, end = (pair := make()).authenticator, pair.end
    assert not authenticator.may_begin_again(0)
    assert not authenticator.session_expired(1e12)
    end.session_expiration_ms = 5000
    assert [authenticator.may_begin_again(ms) for ms in (10, 1009, 1010, 2009)] == [True, False, True, False]
    assert [authenticator.session_expired(ms) for ms in (4999, 5000)] == [False, True]
