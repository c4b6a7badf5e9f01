"""A frame that is being received.

Kafka 0.10.2: clients/.../common/network/NetworkReceive.java, Receive.java · book 2.1.4
"""

from __future__ import annotations

import struct
from typing import Final

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.sendable import Buffer
from kafka_lite.network.memory_pool import MemoryLease

SIZE_BYTES: Final = 4
UNLIMITED: Final = -1
FIRST_ALLOCATION_BYTES: Final = 1 << 16
"""How much memory a frame gets at once; it gets more only as its bytes arrive."""
SECOND_ALLOCATION_BYTES: Final = 1 << 20
"""How much a frame gets when the first allocation is full; from then on it doubles. So the largest frame that most
producers send, a megabyte, is moved once."""

_UNPACK_SIZE: Final = struct.Struct(">i").unpack_from
_NOTHING: Final = bytearray()  # never written to: a frame gets its own buffer when its size is known


class InvalidReceiveError(KafkaError):
    """The peer announced a frame of an impossible size: it does not speak Kafka's protocol, or it is an attack."""


class NetworkReceive:
    """The bytes of one frame, filled step by step as they come off the socket.

    ::

        ┌──────────────┬───────────────────────────────┐
        │ size (int32) │ payload (size bytes)          │
        └──────────────┴───────────────────────────────┘

    The size is checked against ``max_size`` before anything is allocated. Nor does a peer that announces 100 MiB and
    sends ten bytes cost 100 MiB: the buffer starts with at most ``FIRST_ALLOCATION_BYTES`` and grows only when it is
    full.
    """

    __slots__ = ("_max_size", "_payload", "_received", "_size_bytes", "lease", "size", "source")

    def __init__(self, source: str, max_size: int = UNLIMITED) -> None:
        self.source = source
        """Id of the connection."""
        self.size = -1
        """Announced size of the payload; -1 until it is known."""
        self.lease: MemoryLease | None = None
        """The memory of a frame that needs several reads; None before its second read, and without a ``MemoryPool``."""
        self._max_size = max_size
        self._size_bytes = b""
        self._payload = _NOTHING
        self._received = 0

    @property
    def complete(self) -> bool:
        """Whether the whole payload is here."""
        return self._received == self.size

    @property
    def missing_bytes(self) -> int:
        """Bytes of the payload yet to come (at least 1 while the size is unknown)."""
        return self.size - self._received if self.size >= 0 else 1

    @property
    def payload(self) -> memoryview:
        """The payload of a complete receive; writable, and not shared."""
        return memoryview(self._payload)

    def feed(self, data: Buffer, begin: int = 0, end: int = -1) -> int:
        """Take from ``data[begin:end]`` (-1: to its end) what belongs to this frame; returns how many bytes.

        Raises InvalidReceiveError if the announced size is negative or above the maximum.
        """
        if end < 0:
            end = len(data)
        if self.size < 0 and not self._size_bytes and end - begin >= SIZE_BYTES:
            (size,) = _UNPACK_SIZE(data, begin)
            self._check_size(size)
            begin += SIZE_BYTES
            if end - begin >= self.size:  # all of it, as with most frames
                payload = data[begin : begin + self.size]
                self._payload = payload if isinstance(payload, bytearray) else bytearray(payload)
                self._received = self.size
                return SIZE_BYTES + self.size
            self._allocate()
            return SIZE_BYTES + self._feed_some(memoryview(data)[begin:end])
        return self._feed_some(memoryview(data)[begin:end])

    def _feed_some(self, data: memoryview) -> int:
        """Read a frame that arrives in several pieces; even its size may be split."""
        taken = 0
        if self.size < 0:
            taken = min(SIZE_BYTES - len(self._size_bytes), len(data))
            self._size_bytes += bytes(data[:taken])
            if len(self._size_bytes) < SIZE_BYTES:
                return taken
            (size,) = _UNPACK_SIZE(self._size_bytes)
            self._check_size(size)
            self._allocate()
        start = self._received
        taken_payload = min(self.size - start, len(data) - taken)
        if len(self._payload) < start + taken_payload:
            self._grow(start + taken_payload)
        self._payload[start : start + taken_payload] = data[taken : taken + taken_payload]
        self._received += taken_payload
        return taken + taken_payload

    def room(self) -> memoryview:
        """Where the next bytes of the payload go, for ``recv_into``. Must be released before the next call."""
        if self._received == len(self._payload):
            self._grow(self._received + 1)
        return memoryview(self._payload)[self._received :]

    def advance(self, count: int) -> None:
        """``count`` bytes were written into ``room()``."""
        self._received += count

    def _check_size(self, size: int) -> None:
        if size < 0:
            raise InvalidReceiveError(f"Invalid receive (size = {size})")
        if self._max_size != UNLIMITED and size > self._max_size:
            raise InvalidReceiveError(f"Invalid receive (size = {size} larger than {self._max_size})")
        self.size = size

    def _allocate(self) -> None:
        self._payload = bytearray(min(self.size, FIRST_ALLOCATION_BYTES))

    def _grow(self, needed: int) -> None:
        capacity = min(self.size, max(needed, 2 * len(self._payload), SECOND_ALLOCATION_BYTES))
        self._payload.extend(bytes(capacity - len(self._payload)))
