"""A frame that is being sent.

Kafka 0.10.2: clients/.../common/network/NetworkSend.java, ByteBufferSend.java, Send.java · book 2.1.4, 1.3.1
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterable
from typing import Final

from kafka_lite.common.sendable import Buffer, Part, Sendable, size_of
from kafka_lite.network.memory_pool import MemoryLease

_SIZE_BYTES: Final = 4
_PACK_SIZE: Final = struct.Struct(">i").pack

# Linux: more follows at once, so the header before a slice of a file does not leave in a small segment of its own.
_MORE_FOLLOWS = getattr(socket, "MSG_MORE", 0)
# The kernel takes at most IOV_MAX buffers in one sendmsg; 1024 on Linux and macOS.
_MAX_BUFFERS: Final = 512
_BUFFERS: Final = (bytes, bytearray, memoryview)
_SMALL_BYTES: Final = 4096
"""Up to this size, copying is faster than sending a separate buffer."""


class NetworkSend:
    """A size-prefixed frame made of parts, on its way to one connection; or several frames, one after the other.

    Adjacent buffers leave in one ``sendmsg``; a :class:`~kafka_lite.common.sendable.Sendable` (a slice of a log file)
    writes itself with ``sendfile`` and never enters Python.
    """

    __slots__ = ("_current_sent", "_parts", "destination", "frames", "lease", "remaining_bytes", "size_in_bytes")

    lease: MemoryLease
    """That of a large response, which alone has one: the bytes are leased while there is a send."""

    def __init__(self, destination: str, parts: Iterable[Part]) -> None:
        body_size = 0
        body: list[Part] = []
        for part in parts:
            # (Most parts are bytes, and every request has a send; so ``size_of`` is called only for other parts.)
            size = len(part) if type(part) is bytes else size_of(part)
            if size:  # a sendable that sends nothing would look like one that ended early
                body_size += size
                body.append(part)
        prefix = _PACK_SIZE(body_size)
        first = body[0] if body else None
        if isinstance(first, bytes) and len(first) <= _SMALL_BYTES:
            body[0] = prefix + first  # most responses are one buffer then
        else:
            body.insert(0, prefix)
        self.destination = destination
        """Id of the connection."""
        self.frames = 1
        """How many frames there are, including those that were appended."""
        self.size_in_bytes = _SIZE_BYTES + body_size
        """Size of the frame, with its prefix."""
        self.remaining_bytes = self.size_in_bytes
        self._parts = body
        self._current_sent = 0  # bytes of a Sendable at the head that are out already

    def append(self, send: NetworkSend) -> None:
        """Append another send to the same connection, of which nothing is out yet."""
        self._parts += send._parts
        self.size_in_bytes += send.size_in_bytes
        self.remaining_bytes += send.remaining_bytes
        self.frames += send.frames

    @property
    def completed(self) -> bool:
        """Whether the last byte has been given to the kernel."""
        return self.remaining_bytes == 0

    def write_to(self, sock: socket.socket) -> bool:
        """Write until the socket takes no more; true if the frame is out.

        Raises OSError if the connection is broken.
        """
        try:
            while self.remaining_bytes and self._write_some(sock):
                pass
        except BlockingIOError:
            pass
        return self.remaining_bytes == 0

    def peek(self, limit: int) -> Buffer:
        """The next bytes, at most ``limit``, for a transport that has to see them; ``advance`` takes them off.

        Small parts come together, so that they share a TLS record. A slice of a file is read into memory as a whole.
        Raises ConnectionError if it ended early.
        """
        buffers: list[Buffer] = []
        size = 0
        for number, part in enumerate(self._parts):
            if size >= limit:
                break
            if not isinstance(part, _BUFFERS):
                part = self._read(part)
                self._parts[number] = part
            buffers.append(memoryview(part).cast("B")[: limit - size])
            size += size_of(buffers[-1])
        return buffers[0] if len(buffers) == 1 else b"".join(buffers)

    @staticmethod
    def _read(part: Sendable) -> bytes:
        data = part.to_bytes()
        if len(data) != part.size_in_bytes:
            left = part.size_in_bytes - len(data)
            raise ConnectionError(f"a part of the response ended {left} bytes early (was its log truncated?)")
        return data

    def advance(self, count: int) -> None:
        """The first ``count`` bytes are out, which ``peek`` has returned."""
        buffers = [part for part in self._parts if isinstance(part, _BUFFERS)]
        self._sent(buffers, count)

    def _write_some(self, sock: socket.socket) -> bool:
        """One system call; false if the socket took less than it was offered."""
        head = self._parts[0]
        if isinstance(head, bytes) and len(self._parts) == 1:  # as in most responses
            return self._sent([head], sock.send(head))
        if isinstance(head, _BUFFERS):
            return self._write_buffers(sock)
        return self._write_sendable(sock, head)

    def _write_buffers(self, sock: socket.socket) -> bool:
        buffers: list[Buffer] = []
        for part in self._parts:
            if not isinstance(part, _BUFFERS) or len(buffers) == _MAX_BUFFERS:
                break
            buffers.append(part)
        flags = _MORE_FOLLOWS if len(buffers) < len(self._parts) else 0
        return self._sent(buffers, sock.sendmsg(buffers, (), flags))

    def _sent(self, buffers: list[Buffer], sent: int) -> bool:
        """``sent`` bytes of ``buffers``, the first parts, are out; returns whether that is all of them."""
        self.remaining_bytes -= sent
        if not self.remaining_bytes:
            self._parts.clear()
            return True
        whole = 0
        while whole < len(buffers) and sent >= (size := size_of(buffers[whole])):
            sent -= size
            whole += 1
        del self._parts[:whole]
        if whole < len(buffers):
            self._parts[0] = memoryview(buffers[whole]).cast("B")[sent:]
        return whole == len(buffers)

    def _write_sendable(self, sock: socket.socket, part: Sendable) -> bool:
        left = part.size_in_bytes - self._current_sent
        sent = part.send_to(sock, self._current_sent, left)
        if sent == 0:
            # The frame's size is already out, so no error can be sent any more.
            raise ConnectionError(f"a part of the response ended {left} bytes early (was its log truncated?)")
        self.remaining_bytes -= sent
        if sent < left:
            self._current_sent += sent
            return False
        del self._parts[0]
        self._current_sent = 0
        return True
