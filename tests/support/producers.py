"""Watches a producer under faults: its callbacks, and the memory that it holds."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence

from kafka_lite.producer import KafkaProducer, RecordMetadata


class Outcomes:
    """The outcomes that the callbacks of numbered records got."""

    def __init__(self) -> None:
        self.calls: Counter[int] = Counter()
        self.places: dict[int, tuple[int, int]] = {}
        """Partition and offset of those that were acknowledged."""
        self.errors: dict[int, Exception] = {}

    def callback(self, number: int) -> Callable[[RecordMetadata | None, Exception | None], None]:
        """The callback of one record."""

        def called(metadata: RecordMetadata | None, error: Exception | None) -> None:
            self.calls[number] += 1
            if error is not None:
                self.errors[number] = error
            else:
                assert metadata is not None
                self.places[number] = metadata.partition, metadata.offset

        return called

    def check_each_was_called_once(self, records: int) -> None:
        assert sorted(self.calls) == list(range(records))
        assert set(self.calls.values()) == {1}
        assert len(self.places) + len(self.errors) == records


class MemoryWatch:
    """Counts the bytes that a producer's pool has allocated, at every step, independently of its own counters."""

    def __init__(self, producer: KafkaProducer) -> None:
        self.peak_bytes = 0
        self.splits = 0
        """How many batches were split."""
        self.owed_bytes = 0
        """By how much the parts of a batch were larger than the whole, at most."""
        self._pool = pool = producer._accumulator._pool
        self._lock = threading.Lock()
        self._sizes: dict[int, int] = {}
        allocate, deallocate, exchange = pool.allocate, pool.deallocate, pool.exchange

        def counted_allocate(size: int, max_time_to_block_ms: float) -> bytearray:
            buffer = allocate(size, max_time_to_block_ms)
            with self._lock:
                assert id(buffer) not in self._sizes, "the same buffer was allocated twice"
                self._sizes[id(buffer)] = len(buffer)
                self.peak_bytes = max(self.peak_bytes, sum(self._sizes.values()))
            return buffer

        def counted_deallocate(buffer: bytearray) -> None:
            with self._lock:
                assert self._sizes.pop(id(buffer), None) is not None, "the buffer was released twice"
            deallocate(buffer)

        def counted_exchange(buffer: bytearray, made: Sequence[bytearray]) -> None:
            with self._lock:
                assert self._sizes.pop(id(buffer), None) is not None, "the buffer was released twice"
                self._sizes |= {id(each): len(each) for each in made}
                owed = sum(map(len, made)) - len(buffer)
                self.owed_bytes = max(self.owed_bytes, owed)
                self.splits += 1
            exchange(buffer, made)

        pool.exchange = counted_exchange  # type: ignore[method-assign]
        pool.allocate = counted_allocate  # type: ignore[method-assign]
        pool.deallocate = counted_deallocate  # type: ignore[method-assign]

    def check_bound(self) -> None:
        """Allocations never exceeded ``buffer.memory``."""
        assert 0 < self.peak_bytes <= self._pool.total_memory
        assert self._pool.unallocated_memory >= 0
        assert self.owed_bytes < self._pool.poolable_size, "the parts of a batch need little more memory than the batch"

    def check_all_came_back(self) -> None:
        """All memory has been released."""
        self.check_bound()
        assert not self._sizes
        assert self._pool.available_memory == self._pool.total_memory


def is_in_order(numbers: Sequence[int]) -> bool:
    """Whether the sequence ascends for a reader that ignores what it has seen already.

    A repeat may come late: a request that its sender gave up and sent again can still be in flight to the log.
    """
    seen_first = list(dict.fromkeys(numbers))
    return seen_first == sorted(seen_first)
