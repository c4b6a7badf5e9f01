"""The selector, used as a client does, against sockets of the test."""

from __future__ import annotations

import contextlib
import logging
import os
import select
import socket
import struct
import threading
from collections.abc import Callable, Iterator

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.network.kafka_channel import (
    VALID_PREVIOUS_STATES,
    ChannelState,
    IllegalStateError,
    KafkaChannel,
)
from kafka_lite.network.selector import Selector
from kafka_lite.network.send import NetworkSend
from tests.support.patience import patient_s

MAX_RECEIVE = 1_000_000


def framed(payload: bytes) -> bytes:
    return struct.pack(">i", len(payload)) + payload


@pytest.fixture
def time() -> MockTime:
    return MockTime()


@pytest.fixture
def selector(time: MockTime) -> Iterator[Selector]:
    selector = Selector(MAX_RECEIVE, connections_max_idle_ms=5_000, time=time)
    yield selector
    selector.close()


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(patient_s(30))
        yield server


@pytest.fixture
def peer(selector: Selector, listener: socket.socket) -> Iterator[socket.socket]:
    """The other end of connection "c"."""
    selector.connect("c", *listener.getsockname())
    sock, _ = listener.accept()
    sock.settimeout(patient_s(30))
    until(selector, lambda: selector.connected == ["c"])
    yield sock
    sock.close()


def until(selector: Selector, done: Callable[[], object], polls: int = 500) -> None:
    for _ in range(polls):
        selector.poll(100)
        if done():
            return
    raise AssertionError("the expected event does not happen")


def is_readable(sock: socket.socket) -> bool:
    """Waits until there is something to read, or the end. (``select.select`` has only 1,024 descriptors.)"""
    poller = select.poll()
    poller.register(sock, select.POLLIN)
    return bool(poller.poll(patient_s(30) * 1000))


def received(selector: Selector) -> list[bytes]:
    return [bytes(receive.payload) for receive in selector.completed_receives]


def test_connect_is_reported_once(selector: Selector, peer: socket.socket) -> None:
    assert selector.is_channel_ready("c")
    selector.poll(0)
    assert selector.connected == []


def test_a_refused_connection_is_reported_with_its_reason(selector: Selector) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    selector.connect("c", "127.0.0.1", port)
    until(selector, lambda: selector.disconnected)
    assert selector.disconnected == {"c": os.strerror(111)}
    assert selector.channel("c") is None
    selector.poll(0)
    assert selector.disconnected == {}


def test_an_unknown_host_is_an_error_at_once(selector: Selector) -> None:
    with pytest.raises(OSError):
        selector.connect("c", "no.such.host.invalid", 9092)
    assert selector.channels() == []


def test_an_id_is_used_once(selector: Selector, peer: socket.socket, listener: socket.socket) -> None:
    with pytest.raises(IllegalStateError, match="already a connection with id c"):
        selector.connect("c", *listener.getsockname())


def test_send_and_receive(selector: Selector, peer: socket.socket) -> None:
    selector.send(NetworkSend("c", [b"ask"]))
    until(selector, lambda: selector.completed_sends)
    assert peer.recv(100) == framed(b"ask")
    peer.sendall(framed(b"answer"))
    until(selector, lambda: selector.completed_receives)
    assert received(selector) == [b"answer"]
    assert selector.completed_receives[0].source == "c"


def test_one_send_at_a_time(selector: Selector, peer: socket.socket) -> None:
    selector.send(NetworkSend("c", [b"1"]))
    with pytest.raises(IllegalStateError, match="while another is in progress"):
        selector.send(NetworkSend("c", [b"2"]))
    with pytest.raises(IllegalStateError, match="no connection with id d"):
        selector.send(NetworkSend("d", [b"3"]))


def test_a_send_larger_than_the_socket_buffer_takes_several_polls(selector: Selector, peer: socket.socket) -> None:
    payload = os.urandom(8_000_000)
    got = bytearray()

    def read() -> None:
        while len(got) < 4 + len(payload):
            got.extend(peer.recv(50_000))

    selector.send(NetworkSend("c", [payload[:10], payload[10:]]))
    selector.poll(0)
    assert not selector.completed_sends
    reader = threading.Thread(target=read)
    reader.start()
    until(selector, lambda: selector.completed_sends, polls=5_000)
    reader.join(patient_s(30))
    assert bytes(got) == framed(payload)


def test_a_large_receive_arrives_completely(selector: Selector, peer: socket.socket) -> None:
    payload = os.urandom(MAX_RECEIVE)
    writer = threading.Thread(target=peer.sendall, args=(framed(payload) + framed(b"next"),))
    writer.start()
    until(selector, lambda: selector.completed_receives)
    assert received(selector) == [payload]
    until(selector, lambda: selector.completed_receives)
    assert received(selector) == [b"next"]
    writer.join(patient_s(30))


def test_pipelined_frames_come_one_per_poll_and_in_order(selector: Selector, peer: socket.socket) -> None:
    peer.sendall(b"".join(framed(b"%d" % number) for number in range(100)))
    got: list[bytes] = []
    while len(got) < 100:
        selector.poll(100)
        assert len(selector.completed_receives) <= 1
        got += received(selector)
    assert got == [b"%d" % number for number in range(100)]


def test_a_muted_connection_is_not_read_and_ends_no_poll(selector: Selector, peer: socket.socket) -> None:
    selector.mute("c")
    peer.sendall(framed(b"1"))
    for _ in range(3):
        selector.poll(20)
        assert selector.completed_receives == []
    # After the first event the socket is no longer watched, else the loop would spin.
    assert len(selector._selector.attachments) == 1
    selector.unmute("c")
    until(selector, lambda: selector.completed_receives)
    assert received(selector) == [b"1"]


def test_staged_frames_of_a_muted_connection_are_held_back(selector: Selector, peer: socket.socket) -> None:
    peer.sendall(framed(b"1") + framed(b"2"))
    until(selector, lambda: selector.completed_receives)
    selector.mute("c")
    selector.poll(0)
    assert selector.completed_receives == []
    selector.unmute("c")
    selector.poll(0)
    assert received(selector) == [b"2"]


def test_frames_sent_before_the_end_are_all_handed_out(selector: Selector, peer: socket.socket) -> None:
    """A producer with acks=0 may send and close: its requests count."""
    peer.sendall(framed(b"1") + framed(b"2") + framed(b"3"))
    peer.close()
    got: list[bytes] = []
    while not selector.disconnected:
        selector.poll(100)
        got += received(selector)
    assert got == [b"1", b"2", b"3"]


def test_a_disconnect_in_the_middle_of_a_frame(selector: Selector, peer: socket.socket) -> None:
    peer.sendall(framed(b"never finished")[:-1])
    peer.close()
    until(selector, lambda: selector.disconnected)
    assert selector.disconnected == {"c": "the peer closed the connection"}
    assert selector.completed_receives == []


@pytest.mark.parametrize("size", [-1, MAX_RECEIVE + 1, 2**31 - 1, -(2**31)])
def test_a_bad_size_closes_the_connection_and_logs_one_line(
    selector: Selector, peer: socket.socket, size: int, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        peer.sendall(struct.pack(">i", size) + b"rubbish")
        until(selector, lambda: selector.disconnected)
    (record,) = caplog.records
    assert f"Invalid receive (size = {size}" in record.getMessage()
    assert "127.0.0.1" in record.getMessage()
    assert record.exc_info is None


def test_an_internal_error_closes_one_connection_only(
    selector: Selector, peer: socket.socket, listener: socket.socket, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        size_in_bytes = 10

        def send_to(self, sock: socket.socket, offset: int, length: int) -> int:
            raise ValueError("the file is closed")

        def to_bytes(self) -> bytes:
            return bytes(10)

    selector.connect("d", *listener.getsockname())
    other, _ = listener.accept()
    until(selector, lambda: selector.connected == ["d"])
    selector.send(NetworkSend("c", [Broken()]))
    other.sendall(framed(b"alive"))
    lost: list[str] = []
    got: list[bytes] = []
    for _ in range(100):
        selector.poll(300)
        lost += selector.disconnected
        got += received(selector)
        if got:
            break
    assert (lost, got) == (["c"], [b"alive"])
    assert "Unexpected error" in caplog.text
    other.close()


def test_writing_to_a_connection_that_was_reset(selector: Selector, peer: socket.socket) -> None:
    selector.mute("c")
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()
    selector.send(NetworkSend("c", [b"too late"]))
    until(selector, lambda: selector.disconnected)
    assert list(selector.disconnected) == ["c"]


def test_idle_connections_are_closed(selector: Selector, peer: socket.socket, time: MockTime) -> None:
    time.sleep(4_000)
    peer.sendall(framed(b"still here"))
    until(selector, lambda: selector.completed_receives)
    time.sleep(4_000)
    selector.poll(0)
    assert selector.disconnected == {}
    time.sleep(1_001)
    selector.poll(0)
    assert list(selector.disconnected) == ["c"]
    assert peer.recv(1) == b""


def test_wakeup_ends_a_poll(selector: Selector) -> None:
    poller = threading.Thread(target=selector.poll, args=(3_600_000,))
    poller.start()
    selector.wakeup()
    poller.join(patient_s(30))
    assert not poller.is_alive()


def test_wakeup_before_a_poll_ends_that_poll_and_no_other(selector: Selector) -> None:
    selector.wakeup()
    selector.wakeup()
    selector.poll(3_600_000)
    assert not selector._wakeup_pending


def test_close_of_one_connection_is_not_reported(selector: Selector, peer: socket.socket) -> None:
    selector.close("c")
    selector.close("c")
    selector.poll(0)
    assert selector.disconnected == {}
    assert peer.recv(1) == b""


def test_the_states_of_a_channel(selector: Selector, peer: socket.socket) -> None:
    channel = selector.channel("c")
    assert isinstance(channel, KafkaChannel)
    assert channel.state is ChannelState.READY
    with pytest.raises(IllegalStateError, match="cannot go from READY to READY"):
        channel.finish_connect()
    selector.close("c")
    assert channel.state is ChannelState.CLOSED
    assert set(VALID_PREVIOUS_STATES) == set(ChannelState)


def test_a_connection_closed_before_its_registration_leaves_nothing(
    selector: Selector, listener: socket.socket, time: MockTime
) -> None:
    """A port scanner connects and resets; its connection must not expire later as if it were open."""
    scanner = socket.create_connection(listener.getsockname())
    sock, _ = listener.accept()
    sock.setblocking(False)
    scanner.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    scanner.close()
    assert is_readable(sock), "the end has not come"
    with pytest.raises(OSError, match="reset"):
        selector.register("gone", sock, "127.0.0.1:1")
    assert selector.channels() == []
    time.sleep(10_000)
    selector.poll(0)
    assert selector.disconnected == {}
    sock.close()


def test_write_sends_without_a_poll(selector: Selector, peer: socket.socket) -> None:
    assert selector.write(NetworkSend("c", [b"at once"]))
    assert peer.recv(100) == framed(b"at once")
    selector.poll(0)
    assert selector.completed_sends == []


def test_polls_send_what_write_could_not(selector: Selector, peer: socket.socket) -> None:
    send = NetworkSend("c", [bytes(20_000_000)])
    assert not selector.write(send)
    with pytest.raises(IllegalStateError):
        selector.write(NetworkSend("c", [b"another"]))
    got = 0
    peer.settimeout(0.05)
    while not selector.completed_sends:
        with contextlib.suppress(TimeoutError):
            got += len(peer.recv(1 << 20))
        selector.poll(0)
    assert selector.completed_sends == [send]
    assert send.remaining_bytes == 0


def test_write_to_a_connection_that_was_reset_is_reported_by_the_next_poll(
    selector: Selector, peer: socket.socket
) -> None:
    selector.mute("c")
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()
    channel = selector.channel("c")
    assert channel is not None
    assert is_readable(channel._transport.sock), "the end has not come"
    assert not selector.write(NetworkSend("c", [b"too late"]))
    selector.poll(100)
    assert list(selector.disconnected) == ["c"]


def test_any_other_failure_of_a_write_closes_the_connection(
    selector: Selector, peer: socket.socket, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        size_in_bytes = 10

        def send_to(self, sock: socket.socket, offset: int, length: int) -> int:
            raise ValueError("the file is closed")

        def to_bytes(self) -> bytes:
            return bytes(10)

    assert not selector.write(NetworkSend("c", [Broken()]))
    selector.poll(100)
    assert list(selector.disconnected) == ["c"]
    assert "Unexpected error" in caplog.text
