"""Helpers that the tests of this lab share."""

import threading
import time

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import SYSTEM_TIME, MockTime
from kafka_lite.producer.buffer_pool import BufferPool

SIZE = 100  # of a pooled buffer


class Restless(MockTime):
    """A clock for threads that are woken every 100 ms, for nothing."""

    wake_ups = 0

    def wait(self, condition, timeout_ms):
        self.wake_ups += 1
        if self.wake_ups > 50:
            pytest.fail("the thread waits for ever, as each wake-up begins a new wait: use one deadline for the loop")
        return super().wait(condition, min(timeout_ms, 100))


class Pool(BufferPool):
    """Memory for ten buffers by default."""

    def __init__(self, total=10 * SIZE, clock=SYSTEM_TIME):
        super().__init__(total, SIZE, clock)

    def with_free_buffers(self, count):
        """As if this many buffers had been allocated and returned."""
        self._free.extend(bytearray(SIZE) for _ in range(count))
        self._unallocated -= count * SIZE
        return self

    def wait_for_line_of(self, count):
        deadline = time.monotonic() + 3
        while self.queued != count:
            assert time.monotonic() < deadline, f"{count} threads should be in self._waiters, not {self.queued}"
            time.sleep(0.001)


@pytest.fixture
def new_pool():
    """``new_pool(total=1000, clock=SYSTEM_TIME)``: pooled buffers have 100 bytes."""
    return Pool


@pytest.fixture
def restless():
    """A clock for threads that are woken every 100 ms, for nothing."""
    return Restless()


@pytest.fixture
def taking():
    """``taking(pool, size)``: a thread that allocates memory; ``.result(timeout_s)`` is its buffer, or its error."""

    class Taking:
        def __init__(self, pool, size, max_time_to_block_ms=5000):
            self.outcome = None
            self._thread = threading.Thread(target=self._run, args=(pool, size, max_time_to_block_ms), daemon=True)
            self._thread.start()

        def _run(self, *arguments):
            pool, *rest = arguments
            try:
                self.outcome = pool.allocate(*rest)
            except (KafkaError, NotImplementedError) as error:
                self.outcome = error

        @property
        def waits(self):
            return self._thread.is_alive()

        def result(self, timeout_s=3):
            self._thread.join(timeout_s)
            if isinstance(self.outcome, NotImplementedError):
                raise self.outcome
            return self.outcome

    return Taking


@pytest.fixture
def error_of():
    """``error_of(work)``: the KafkaError that it raises, or None."""

    def of(work):
        try:
            work()
        except KafkaError as error:
            return error
        return None

    return of
