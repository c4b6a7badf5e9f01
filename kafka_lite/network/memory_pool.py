"""The memory of large requests that are being received or handled, and of large responses: one bound for the broker.

Kafka 1.0: clients/.../common/memory/MemoryPool.java, SimpleMemoryPool.java (KIP-72); 0.10.2 has none · book 2.3.3
"""

from __future__ import annotations

import threading
from collections.abc import Callable

UNLIMITED = -1


class MemoryLease:
    """The bytes of one frame. They go back when ``release`` is called, or at the latest when nothing refers to it."""

    __slots__ = ("_is_of_response", "_pool", "size")

    def __init__(self, pool: MemoryPool, size: int, *, is_of_response: bool = False) -> None:
        self.size = size
        self._pool: MemoryPool | None = pool
        self._is_of_response = is_of_response

    def release(self) -> None:
        """Give the bytes back; a second call does nothing."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.give_back(self.size, self.size if self._is_of_response else 0)

    def grow(self, size: int) -> bool:
        """Lease more bytes for a response; false if responses would have more than the whole pool."""
        if self._pool is None or not self._pool.lease_for_response(size):
            return False
        self.size += size
        return True

    def __del__(self) -> None:
        self.release()


class MemoryPool:
    """Counts bytes; it holds none. Any thread may call it, and nothing blocks.

    As in Kafka, a lease may exceed what is available, as long as anything is: otherwise the largest request would need
    an empty pool, and might never get it. So leases are less than the size of the pool and of one request together.

    Kafka leases the memory of every frame. Here a frame that one read of the socket brings whole needs no lease: it is
    smaller than the read buffer of a network thread, and a small request should not pay for large ones.

    Responses do not wait for memory: that of their requests may be what they would wait for. They count, so that no
    more requests are read meanwhile; and there is a bound for all responses together, which is as large.
    """

    def __init__(self, size_bytes: int = UNLIMITED) -> None:
        self._size_bytes = size_bytes
        self._leased_bytes = 0
        self._response_bytes = 0  # those of the leased ones that responses have
        self._lock = threading.RLock()  # (a lease may be collected while this thread holds it)
        self._waiting: list[Callable[[], None]] = []

    @property
    def leased_bytes(self) -> int:
        """The bytes of all leases."""
        return self._leased_bytes

    def try_lease(self, size: int, on_available: Callable[[], None]) -> MemoryLease | None:
        """Lease bytes for a frame. None if none are available; then ``on_available`` is called once some are.

        The call comes from the thread that gives bytes back, and says only that it is worth trying again.
        """
        with self._lock:
            if self._size_bytes > 0 and self._leased_bytes >= self._size_bytes:
                self._waiting.append(on_available)
                return None
            self._leased_bytes += size
            return MemoryLease(self, size)

    def new_response(self) -> MemoryLease:
        """A lease of no bytes, which grows with a response."""
        return MemoryLease(self, 0, is_of_response=True)

    def lease_for_response(self, size: int) -> bool:
        """Lease bytes for a part of a response; false if responses would have more than the pool's size."""
        with self._lock:
            if 0 < self._size_bytes < self._response_bytes + size:
                return False
            self._leased_bytes += size
            self._response_bytes += size
            return True

    def give_back(self, size: int, of_response: int = 0) -> None:
        """A lease has ended; ``of_response`` of its bytes were those of a response."""
        with self._lock:
            self._leased_bytes -= size
            self._response_bytes -= of_response
            waiting, self._waiting = self._waiting, []
        for on_available in waiting:
            on_available()
