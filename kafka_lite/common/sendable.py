"""Data that is written to a socket without being read into Python first.

Kafka 0.10.2: clients/.../common/record/FileRecords.java (writeTo), network/Send.java · book 6.1.4
"""

from __future__ import annotations

import socket
from typing import Protocol


class Sendable(Protocol):
    """A part of a response that knows its size and writes itself to a socket, for instance a slice of a log file.

    The protocol layer places it unchanged between the encoded fields of a response; the network layer calls ``send_to``
    until all of it has been sent. For a slice of a file that is ``os.sendfile``: page cache to socket, no copy.
    """

    @property
    def size_in_bytes(self) -> int:
        """Number of bytes to send."""
        ...

    def send_to(self, sock: socket.socket, offset: int, length: int) -> int:
        """Write up to ``length`` bytes, starting at ``offset``, to a non-blocking socket.

        Returns the number of bytes written. Raises ``BlockingIOError`` if the socket accepts none.
        """
        ...

    def to_bytes(self) -> bytes:
        """All of the data in memory, for conversion and tests."""
        ...


Buffer = bytes | bytearray | memoryview
"""Bytes in memory."""

Part = Buffer | Sendable
"""A piece of an encoded response."""


def size_of(part: Part) -> int:
    """Size of a part in bytes."""
    # One type at a time: creating a union type takes longer than checking an object's type twice.
    if isinstance(part, bytes):
        return len(part)
    if isinstance(part, memoryview):
        return part.nbytes
    if isinstance(part, bytearray):
        return len(part)
    return part.size_in_bytes
