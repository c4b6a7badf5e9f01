"""Bytes that go to a socket without being read into Python first.

Kafka 0.10.2: clients/.../common/record/FileRecords.java (writeTo), network/Send.java · book 6.1.4
"""

from __future__ import annotations

import socket
from typing import Protocol


class Sendable(Protocol):
    """A part of an answer that knows its size and how to write itself, for instance a slice of a log file.

    The protocol layer puts it between the encoded fields of a response as it is; the network layer calls ``send_to``
    until all of it has gone out. For a file slice that is ``os.sendfile``: page cache to socket, no copy.
    """

    @property
    def size_in_bytes(self) -> int:
        """How many bytes will go out."""
        ...

    def send_to(self, sock: socket.socket, offset: int, length: int) -> int:
        """Write up to ``length`` bytes from ``offset`` on to a non-blocking socket.

        Returns the number of bytes written; raises ``BlockingIOError`` when the socket takes none.
        """
        ...

    def to_bytes(self) -> bytes:
        """All of it in memory, for conversion and for tests."""
        ...


Buffer = bytes | bytearray | memoryview
"""Bytes in memory."""

Part = Buffer | Sendable
"""A piece of an encoded response."""


def size_of(part: Part) -> int:
    """Size of a part in bytes."""
    # One by one: to make the union of two types takes longer than to look at an object's type twice.
    if isinstance(part, bytes):
        return len(part)
    if isinstance(part, memoryview):
        return part.nbytes
    if isinstance(part, bytearray):
        return len(part)
    return part.size_in_bytes
