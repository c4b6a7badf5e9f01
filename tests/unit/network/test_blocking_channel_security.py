"""A blocking channel whose end authenticates before the first request, and again before its session ends."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.sendable import Buffer
from kafka_lite.common.time import MockTime
from kafka_lite.network.authentication_error import SaslAuthenticationError
from kafka_lite.network.authenticator import AuthenticatorEnd
from kafka_lite.network.blocking_channel import BlockingChannel, NotConnectedError
from kafka_lite.network.channel_builder import PlaintextChannelBuilder
from kafka_lite.protocol.framing import encode_response
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.support.network import LOOPBACK
from tests.support.patience import patient_s

HEARTBEAT = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
Frames = Callable[[bytes], bytes]


class End:
    """Says ``user``, and expects ``ok``; its session ends after a minute of ``time``."""

    session_expiration_ms: float | None = None

    def __init__(self, time: MockTime) -> None:
        self.complete = False
        self.reauthentication_time_ms: float | None = None
        self._time = time

    def start(self) -> bytes | None:
        return b"user"

    def reauthenticate(self, _handshake: Buffer | None) -> bytes:
        self.complete = False
        return b"user again"

    def receive(self, frame: Buffer) -> bytes | None:
        if frame != b"ok":
            raise Errors.SASL_AUTHENTICATION_FAILED.exception("the password is wrong")
        self.complete = True
        self.reauthentication_time_ms = self._time.hi_res_ms() + 60_000
        return None


class Security(PlaintextChannelBuilder):
    def __init__(self, time: MockTime) -> None:
        self._time = time

    def new_end(self, host: str) -> AuthenticatorEnd:
        return End(self._time)


@contextmanager
def broker(answers: dict[bytes, bytes]) -> Iterator[tuple[int, list[bytes]]]:
    """Answers known frames, and any other as a heartbeat; yields its port and the known frames that have come."""
    seen: list[bytes] = []

    def serve() -> None:
        sock, _ = server.accept()
        with sock, sock.makefile("rb") as file:
            while size := file.read(4):
                frame = file.read(*struct.unpack(">i", size))
                if frame in answers:
                    seen.append(frame)
                    answer = answers[frame]
                else:
                    (answer,) = encode_response(HeartbeatResponse(), 0, int.from_bytes(frame[4:8], "big"))  # type: ignore[assignment]
                sock.sendall(struct.pack(">i", len(answer)) + answer)

    with socket.create_server((LOOPBACK, 0)) as server:
        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1], seen
        thread.join(patient_s(30))


def test_frames_of_the_authentication_precede_the_first_request_and_again_when_it_is_time() -> None:
    time = MockTime()
    with (
        broker({b"user": b"ok", b"user again": b"ok"}) as (port, seen),
        BlockingChannel(LOOPBACK, port, security=Security(time), time=time) as channel,
    ):
        assert seen == [b"user"]
        channel.exchange(HEARTBEAT, 0)
        time.sleep(59_999)
        channel.exchange(HEARTBEAT, 0)
        time.sleep(1)
        channel.send(HEARTBEAT, 0)
        assert seen == [b"user", b"user again"]
        channel.receive()
        channel.exchange(HEARTBEAT, 0)
        assert seen == [b"user", b"user again"]


def test_a_refusal_is_no_lost_connection_and_names_the_broker() -> None:
    time = MockTime()
    with broker({b"user": b"no"}) as (port, _):
        channel = BlockingChannel(LOOPBACK, port, security=Security(time), time=time)
        with pytest.raises(SaslAuthenticationError, match=f"{LOOPBACK}:{port}: the password is wrong"):
            channel.connect()
        assert not channel.is_connected


def test_a_broker_that_leaves_is_a_lost_connection() -> None:
    time = MockTime()
    with socket.create_server((LOOPBACK, 0)) as server:
        thread = threading.Thread(target=lambda: server.accept()[0].close())
        thread.start()
        with pytest.raises(NotConnectedError, match="lost the connection"):
            BlockingChannel(LOOPBACK, server.getsockname()[1], security=Security(time), time=time).connect()
        thread.join(patient_s(30))
