"""The producer's bounded memory, allocated in buffers of mostly one size.

Kafka 0.10.2: clients/.../producer/internals/BufferPool.java · book 2.1.1
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence

from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.time import SYSTEM_TIME, Time


class ProducerClosedError(KafkaError):
    """The producer is closed, or was closed while the record waited."""


class BufferExhaustedError(KafkaError):
    """No memory became available within ``max.block.ms``: records are produced faster than they are sent."""


class BlockingInCallbackError(KafkaError):
    """A callback would wait for its own thread, and so for ever."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"A callback cannot wait for {what}: callbacks run in the producer's own thread, which would have to "
            "provide it. Do this in another thread."
        )


class BufferPool:
    """At most ``total_memory`` bytes. Buffers of ``poolable_size`` are kept for reuse.

    ::

        total_memory  ├── allocated ───┤── free buffers ──┤── unallocated ────┤
                                        │ each poolable_size                  │ available memory
        waiters       [first come, …]  the first takes what is returned until it has enough; no overtaking

    Buffers of other sizes (for a record that is larger than a batch) are created on demand and not reused. Their bytes
    count all the same.
    """

    def __init__(self, total_memory: int, poolable_size: int, time: Time = SYSTEM_TIME) -> None:
        self.total_memory = total_memory
        self.poolable_size = poolable_size
        self._time = time
        self._lock = threading.Lock()
        self._free: deque[bytearray] = deque()
        self._waiters: deque[threading.Condition] = deque()
        self._unallocated = total_memory
        self._closed = False
        self.waited_ms = 0.0
        """The total time that threads have waited for memory, ms."""
        self.exhausted = 0
        """How many times a thread has waited in vain."""
        self.freed_by: threading.Thread | None = None
        """The thread that returns memory, and therefore must not wait for any."""

    def allocate(self, size: int, max_time_to_block_ms: float) -> bytearray:
        """A buffer of ``size`` bytes, with arbitrary content.

        Raises ApiError MESSAGE_TOO_LARGE if ``size`` exceeds the total memory, BufferExhaustedError if no memory is
        returned within ``max_time_to_block_ms``, ProducerClosedError, BlockingInCallbackError.
        """
        if size > self.total_memory:
            raise Errors.MESSAGE_TOO_LARGE.exception(
                f"{size} bytes are needed at once, but buffer.memory is {self.total_memory}: raise it, or send less"
            )
        with self._lock:
            self._ensure_open()
            if size == self.poolable_size and self._free and not self._waiters:
                return self._free.pop()
            if not self._waiters and self._unallocated + len(self._free) * self.poolable_size >= size:
                self._free_up(size)
                self._unallocated -= size
            else:
                buffer = self._wait_for(size, max_time_to_block_ms)
                if buffer is not None:
                    return buffer
        return self._new_buffer(size)

    def deallocate(self, buffer: bytearray) -> None:
        """Return a buffer, so that the thread that has waited longest may get its memory."""
        with self._lock:
            self._return(len(buffer), buffer)

    def exchange(self, buffer: bytearray, made: Sequence[bytearray]) -> None:
        """Take a buffer back and account for others that replace it. Called by the thread that returns memory.

        That thread cannot wait for memory. If the new buffers are larger in total, later callers of ``allocate`` wait
        longer.
        """
        size = sum(map(len, made))
        with self._lock:
            self._unallocated += len(buffer)
            self._free_up(size)
            self._unallocated -= size
            self._notify_first()

    def close(self) -> None:
        """Wake up all waiting threads, and allocate nothing more."""
        with self._lock:
            self._closed = True
            for waiter in self._waiters:
                waiter.notify()

    @property
    def unallocated_memory(self) -> int:
        """The bytes for which no buffer was created."""
        return self._unallocated

    @property
    def available_memory(self) -> int:
        """The bytes that are not allocated, free buffers included."""
        with self._lock:
            return self._unallocated + len(self._free) * self.poolable_size

    @property
    def queued(self) -> int:
        """The number of waiting threads."""
        return len(self._waiters)

    def _wait_for(self, size: int, max_time_to_block_ms: float) -> bytearray | None:
        """Collect returned memory until it is enough: a pooled buffer, or None once ``size`` bytes are reserved.

        ``waited_ms`` counts every wait, ``exhausted`` those in vain. The thread ``freed_by`` must not wait at all.
        """
        if threading.current_thread() is self.freed_by:
            raise BlockingInCallbackError(f"memory ({size} bytes;  buffer.memory is {self.total_memory})")
        begin_ms = self._time.hi_res_ms()
        deadline_ms = begin_ms + max_time_to_block_ms
        more_memory = threading.Condition(self._lock)
        self._waiters.append(more_memory)
        accumulated = 0
        try:
            while accumulated < size:
                left_ms = deadline_ms - self._time.hi_res_ms()
                if left_ms <= 0:
                    self.exhausted += 1
                    raise BufferExhaustedError(
                        f"Failed to allocate {size} bytes within the configured max blocking time "
                        f"{max_time_to_block_ms:g} ms. Total memory: {self.total_memory} bytes."
                    )
                self._time.wait(more_memory, left_ms)
                self._ensure_open()
                if self._waiters[0] is not more_memory:
                    continue  # a spurious wakeup: it is not our turn
                if accumulated == 0 and size == self.poolable_size and self._free:
                    return self._free.pop()
                self._free_up(size - accumulated)
                taken = max(0, min(size - accumulated, self._unallocated))
                self._unallocated -= taken
                accumulated += taken
            accumulated = 0
            return None
        finally:
            self.waited_ms += self._time.hi_res_ms() - begin_ms
            self._unallocated += accumulated  # left over from a failed attempt
            self._waiters.remove(more_memory)
            self._notify_first()

    def _new_buffer(self, size: int) -> bytearray:
        try:
            return bytearray(size)
        except MemoryError:
            with self._lock:
                self._return(size, None)
            raise

    def _return(self, size: int, buffer: bytearray | None) -> None:
        """Take memory back, keep a poolable buffer for reuse, and wake up the first waiting thread.

        Without a buffer (it could not be made) only the bytes come back, whatever their number.
        """
        if buffer is not None and size == self.poolable_size:
            self._free.append(buffer)
        else:
            self._unallocated += size
        self._notify_first()

    def _free_up(self, size: int) -> None:
        """Drop free buffers until ``size`` bytes are unallocated, or none is left."""
        while self._free and self._unallocated < size:
            self._unallocated += len(self._free.pop())

    def _notify_first(self) -> None:
        """Wake up the thread that has waited longest, if there is memory. Called with the lock held."""
        if self._waiters and (self._unallocated > 0 or self._free):
            self._waiters[0].notify()

    def _ensure_open(self) -> None:
        if self._closed:
            raise ProducerClosedError("Producer closed while allocating memory")
