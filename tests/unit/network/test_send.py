"""Frames made of buffers and slices, over a socket that takes little at a time."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kafka_lite.common.sendable import Part
from kafka_lite.network.send import NetworkSend
from tests.support.examples import examples
from tests.support.patience import patient_s


class FileSlice:
    def __init__(self, path: Path, start: int, size: int) -> None:
        self._fd = os.open(path, os.O_RDONLY)
        self._start = start
        self.size_in_bytes = size

    def send_to(self, sock: socket.socket, offset: int, length: int) -> int:
        return os.sendfile(sock.fileno(), self._fd, self._start + offset, length)

    def to_bytes(self) -> bytes:
        return os.pread(self._fd, self.size_in_bytes, self._start)

    def close(self) -> None:
        os.close(self._fd)


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    left, right = socket.socketpair()
    left.setblocking(False)
    left.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    right.settimeout(patient_s(30))
    yield left, right
    left.close()
    right.close()


def transfer(send: NetworkSend, pair: tuple[socket.socket, socket.socket]) -> bytes:
    received = bytearray()
    while not send.write_to(pair[0]):
        received += pair[1].recv(3000)
    while len(received) < send.size_in_bytes:
        received += pair[1].recv(3000)
    return bytes(received)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(30), deadline=None)
@given(st.lists(st.one_of(st.binary(max_size=20), st.integers(0, 20_000)), max_size=12))
@example([b"before", 0, b"", b"after"])
def test_buffers_and_slices_arrive_in_order(
    pair: tuple[socket.socket, socket.socket], tmp_path: Path, contents: list[bytes | int]
) -> None:
    file = tmp_path / "segment"
    file.write_bytes(os.urandom(30_000))
    parts: list[Part] = [FileSlice(file, 7, c) if isinstance(c, int) else memoryview(c) for c in contents]
    body = b"".join(bytes(p) if isinstance(p, memoryview) else p.to_bytes() for p in parts)  # type: ignore[union-attr]
    send = NetworkSend("c", parts)
    assert send.size_in_bytes == 4 + len(body)
    assert transfer(send, pair) == struct.pack(">i", len(body)) + body
    assert send.completed
    for part in parts:
        if isinstance(part, FileSlice):
            part.close()


def test_more_buffers_than_one_system_call_accepts(pair: tuple[socket.socket, socket.socket]) -> None:
    parts: list[Part] = [bytes([i % 256]) * 3 for i in range(3_000)]
    assert transfer(NetworkSend("c", parts), pair)[4:] == b"".join(bytes(p) for p in parts)  # type: ignore[arg-type]


def test_an_empty_response_is_a_size_of_zero(pair: tuple[socket.socket, socket.socket]) -> None:
    assert transfer(NetworkSend("c", []), pair) == bytes(4)


def test_a_slice_that_ends_early_breaks_the_connection(
    pair: tuple[socket.socket, socket.socket], tmp_path: Path
) -> None:
    file = tmp_path / "segment"
    file.write_bytes(b"ten bytes.")
    part = FileSlice(file, 0, 11)
    send = NetworkSend("c", [part])
    assert not send.write_to(pair[0])  # the ten bytes that are there; it could be the socket that takes no more
    with pytest.raises(ConnectionError, match="1 bytes early"):
        send.write_to(pair[0])
    part.close()


def test_appended_frames_leave_behind_the_first(pair: tuple[socket.socket, socket.socket]) -> None:
    send = NetworkSend("c", [b"one"])
    for payload in (b"two", bytes(30_000), b""):
        send.append(NetworkSend("c", [payload]))
    assert send.frames == 4
    expected = b"".join(struct.pack(">i", len(each)) + each for each in (b"one", b"two", bytes(30_000), b""))
    assert send.size_in_bytes == len(expected)
    assert transfer(send, pair) == expected
    assert send.completed


def test_a_transport_that_has_to_see_the_bytes_takes_them_off_step_by_step() -> None:
    class Slice:
        size_in_bytes = 6

        def send_to(self, sock: socket.socket, offset: int, length: int) -> int:
            raise AssertionError("not for this transport")

        def to_bytes(self) -> bytes:
            return b"slices"

    send = NetworkSend("c", [b"ab", Slice(), memoryview(b"cd"), bytearray(b"e")])
    seen = bytearray()
    while not send.completed:
        data = send.peek(4)
        assert bytes(send.peek(4)) == bytes(data)
        seen += data[:3]
        send.advance(len(data[:3]))

    assert seen == b"\0\0\0\x0babslicescde"
    assert bytes(NetworkSend("c", [b"x"]).peek(100)) == b"\0\0\0\1x"
