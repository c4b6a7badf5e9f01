"""The blocking channel against a real server and against peers that misbehave."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from kafka_lite.network.blocking_channel import (
    BlockingChannel,
    InvalidResponseError,
    NotConnectedError,
    ResponseTimeoutError,
)
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel
from kafka_lite.protocol.framing import encode_response
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka_lite.protocol.messages.api_16_list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from tests.support.network import LOOPBACK, respond, running_server
from tests.support.patience import patient_s

HEARTBEAT = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")


def handle(request: Request, channel: RequestChannel) -> None:
    header = request.header
    answer = HeartbeatResponse(error_code=header.correlation_id)
    respond(request, channel, encode_response(answer, header.api_version, header.correlation_id))


@contextmanager
def peer(behave: Callable[[socket.socket], None]) -> Iterator[int]:
    """Listens on a port and handles one connection."""

    def serve() -> None:
        sock, _ = server.accept()
        with sock:
            sock.recv(1000)
            behave(sock)

    with socket.create_server((LOOPBACK, 0)) as server:
        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1]
        thread.join(patient_s(30))


def test_exchange_returns_the_response() -> None:
    with running_server(handle) as server, BlockingChannel(LOOPBACK, server.bound_port()) as channel:
        for number in (1, 2, 3):
            assert channel.exchange(HEARTBEAT, 0) == HeartbeatResponse(error_code=number)


def test_several_requests_in_flight() -> None:
    with running_server(handle) as server, BlockingChannel(LOOPBACK, server.bound_port()) as channel:
        sent = [channel.send(HEARTBEAT, 0) for _ in range(50)]
        answers = [channel.receive() for _ in sent]
        assert answers == [HeartbeatResponse(error_code=number) for number in sent]


@pytest.mark.parametrize("groups", [3000, 30_000])
def test_large_responses_in_flight_behind_each_other(groups: int) -> None:
    """Below and above a megabyte. Each ends somewhere within what the socket has, with the next one behind it."""
    large = ListGroupsResponse(
        groups=[ListedGroup(group_id=f"group-{number}", protocol_type="consumer" * 4) for number in range(groups)]
    )
    small = HeartbeatResponse(error_code=3)
    sent = b""
    for number, (response, version) in enumerate([(large, 0), (large, 0), (small, 0)], start=1):
        frame = b"".join(bytes(part) for part in encode_response(response, version, number))  # type: ignore[arg-type]
        sent += struct.pack(">i", len(frame)) + frame

    def respond_to_all(sock: socket.socket) -> None:
        sock.sendall(sent)
        while sock.recv(1000):  # a socket closed with unread requests resets the connection
            pass

    with peer(respond_to_all) as port, BlockingChannel(LOOPBACK, port) as channel:
        for request in (ListGroupsRequest(), ListGroupsRequest(), HEARTBEAT):
            channel.send(request, 0)
        assert [channel.receive() for _ in range(3)] == [large, large, small]


def test_a_connection_that_ends_within_a_large_response_is_lost() -> None:
    sent = struct.pack(">i", 1_000_000) + bytes(200_000)
    with peer(lambda sock: sock.sendall(sent)) as port, BlockingChannel(LOOPBACK, port) as channel:
        with pytest.raises(NotConnectedError, match=f"lost the connection to {LOOPBACK}:{port}"):
            channel.exchange(HEARTBEAT, 0)
        assert not channel.is_connected


def test_send_does_not_wait_for_a_response_that_does_not_come() -> None:
    def handle_second(request: Request, channel: RequestChannel) -> None:
        if request.header.correlation_id == 1:
            channel.no_operation(request)
        else:
            handle(request, channel)

    with running_server(handle_second) as server, BlockingChannel(LOOPBACK, server.bound_port()) as channel:
        channel.send(HEARTBEAT, 0, expect_response=False)
        with pytest.raises(ValueError, match="no request is in flight"):
            channel.receive()
        assert channel.exchange(HEARTBEAT, 0) == HeartbeatResponse(error_code=2)


def test_connecting_to_a_closed_port_fails() -> None:
    with socket.create_server((LOOPBACK, 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(
        NotConnectedError, match=f"cannot connect to {LOOPBACK}:{port}: .*\\. Is a broker running there"
    ):
        BlockingChannel(LOOPBACK, port).connect()


def test_use_before_connect_raises() -> None:
    channel = BlockingChannel(LOOPBACK, 9)
    assert not channel.is_connected
    for call in (lambda: channel.exchange(HEARTBEAT, 0), channel.receive):
        with pytest.raises(NotConnectedError, match=f"not connected to {LOOPBACK}:9; call connect"):
            call()
    channel.close()


def test_the_broker_closes_the_connection_and_a_new_one_works() -> None:
    def handle_first(request: Request, channel: RequestChannel) -> None:
        if request.header.correlation_id == 1:
            channel.close_connection(request)
        else:
            handle(request, channel)

    with running_server(handle_first) as server, BlockingChannel(LOOPBACK, server.bound_port()) as channel:
        with pytest.raises(NotConnectedError, match=f"lost the connection to {LOOPBACK}:{server.bound_port()}"):
            channel.exchange(HEARTBEAT, 0)
        assert not channel.is_connected
        channel.connect()
        channel.connect()
        assert channel.exchange(HEARTBEAT, 0) == HeartbeatResponse(error_code=2)


def test_a_response_that_there_is_no_memory_for_is_not_taken_for_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    own, receive = threading.current_thread(), socket.socket.recv

    def receive_nothing(sock: socket.socket, count: int) -> bytes:
        if threading.current_thread() is own:
            raise MemoryError
        return receive(sock, count)

    with running_server(handle) as server, BlockingChannel(LOOPBACK, server.bound_port()) as channel:
        with monkeypatch.context() as scarcity:
            scarcity.setattr(socket.socket, "recv", receive_nothing)
            with pytest.raises(NotConnectedError, match=r"lost the connection .*: not enough memory for the response;"):
                channel.exchange(HEARTBEAT, 0)
        assert not channel.is_connected
        channel.connect()
        assert channel.exchange(HEARTBEAT, 0) == HeartbeatResponse(error_code=2)


def test_a_late_response_closes_the_connection() -> None:
    held: list[Request] = []
    with (
        running_server(lambda request, _: held.append(request)) as server,
        BlockingChannel(LOOPBACK, server.bound_port()) as channel,
    ):
        with pytest.raises(ResponseTimeoutError, match=f"{server.bound_port()} within 20 ms. Is the broker"):
            channel.exchange(HEARTBEAT, 0, timeout_ms=20)
        assert not channel.is_connected


def test_abort_ends_the_wait_of_another_thread() -> None:
    # The server's thread aborts as soon as it has the request; its response would never come.
    with (
        running_server(lambda *_: channel.abort()) as server,
        BlockingChannel(LOOPBACK, server.bound_port()) as channel,
    ):
        with pytest.raises(NotConnectedError, match="lost the connection"):
            channel.exchange(HEARTBEAT, 0)
        assert not channel.is_connected
        channel.abort()


def test_a_response_that_trickles_in_does_not_extend_the_timeout() -> None:
    def drip(sock: socket.socket) -> None:
        sock.sendall(struct.pack(">i", 1000))
        with suppress(OSError):
            while True:
                sock.sendall(b".")
                threading.Event().wait(0.005)

    with peer(drip) as port, BlockingChannel(LOOPBACK, port) as channel, pytest.raises(ResponseTimeoutError):
        channel.exchange(HEARTBEAT, 0, timeout_ms=50)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (struct.pack(">i", -5), "size = -5"),
        (b"HTTP/1.1 400 Bad Request", "something other than a broker"),
        (struct.pack(">iih", 6, 77, 0), "received the response to request 77 instead of 1"),
        (struct.pack(">iib", 5, 1, 0), "the response to HEARTBEAT cannot be read"),
        (struct.pack(">i", 0), "the response to HEARTBEAT cannot be read"),
    ],
)
def test_invalid_responses_are_refused(answer: bytes, message: str) -> None:
    with peer(lambda sock: sock.sendall(answer)) as port, BlockingChannel(LOOPBACK, port) as channel:
        with pytest.raises(InvalidResponseError, match=f"{LOOPBACK}:{port}: .*{message}"):
            channel.exchange(HEARTBEAT, 0)
        assert not channel.is_connected
