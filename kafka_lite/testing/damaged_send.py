"""Responses that arrive damaged: cut off, or a few bytes at a time.

Kafka 0.10.2: clients/.../common/network/Send.java · book 2.1.4
"""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence

from kafka_lite.common.sendable import Part

NAP_S = 0.005
"""How long a slow response blocks its network thread at a time; in between, the thread serves other connections."""


def join_parts(parts: Sequence[Part]) -> bytes:
    """The whole response in memory, including file slices."""
    return b"".join(part if isinstance(part, bytes | bytearray | memoryview) else part.to_bytes() for part in parts)


class CutSend:
    """Sends the first bytes of a response, then breaks the connection."""

    def __init__(self, data: bytes, cut_after_bytes: int | None) -> None:
        self._data = data
        self._end = len(data) // 2 if cut_after_bytes is None else min(cut_after_bytes, len(data) - 1)

    @property
    def size_in_bytes(self) -> int:
        """The full size, as the frame announces it."""
        return len(self._data)

    def send_to(self, sock: socket.socket, offset: int, length: int) -> int:
        """Write up to the cut, then raise ConnectionError, so that the network layer closes the connection."""
        if offset >= self._end:
            raise ConnectionError("a test cuts the response off here")
        return sock.send(self._data[offset : min(offset + length, self._end)])

    def to_bytes(self) -> bytes:
        """The whole response."""
        return self._data


class SlowSend:
    """Sends a response at ``bytes_per_s``."""

    def __init__(self, data: bytes, bytes_per_s: float) -> None:
        self._data = data
        self._bytes_per_s = bytes_per_s
        self._began_s: float | None = None

    @property
    def size_in_bytes(self) -> int:
        """The full size."""
        return len(self._data)

    def send_to(self, sock: socket.socket, offset: int, length: int) -> int:
        """Write the bytes due by now. Raises BlockingIOError, like a full socket, if there are none."""
        now_s = time.monotonic()
        if self._began_s is None:
            self._began_s = now_s
        due = int((now_s - self._began_s) * self._bytes_per_s) - offset
        if due < 1:
            time.sleep(NAP_S)
            raise BlockingIOError
        return sock.send(self._data[offset : offset + min(due, length)])

    def to_bytes(self) -> bytes:
        """The whole response."""
        return self._data
