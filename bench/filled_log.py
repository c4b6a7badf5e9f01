"""Partitions filled with messages, with the same bytes in every broker, for read workloads."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from bench.brokers import Broker
from bench.measure import create_topic, expect_end, payload_of
from bench.raw_client import RawClient, fetch_frame, produce_batch_frame
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder

BATCH_BYTES = 16 * 1024
RECORD_OVERHEAD_BYTES = 9
_IN_FLIGHT = 5


Content = tuple[bytes | None, bytes]
"""Key and value of a record."""


def batch_of_payloads(size: int, codec: str = "none", batch_bytes: int = BATCH_BYTES) -> tuple[bytes, int]:
    """A batch of messages of ``size`` bytes, about ``batch_bytes`` before compression, and the number of messages."""
    contents = alike_contents(size, batch_bytes)
    return batch_of_contents(contents, codec), len(contents)


def alike_contents(size: int, batch_bytes: int = BATCH_BYTES) -> list[Content]:
    """Contents of a batch: equal values without keys."""
    return [(None, payload_of(size))] * (batch_bytes // (size + RECORD_OVERHEAD_BYTES))


def uneven_contents(size: int, batch_bytes: int = BATCH_BYTES) -> list[Content]:
    """Contents of a batch: keys, and varying values of half to one and a half times the size."""
    longest = payload_of(size * 2)
    sizes = [size // 2 + index * 37 % (size + 1) for index in range(batch_bytes // (size + RECORD_OVERHEAD_BYTES))]
    return [(b"key-%d" % index, longest[index : index + each]) for index, each in enumerate(sizes)]


def batch_of_contents(contents: Sequence[Content], codec: str) -> bytes:
    """A batch with these contents."""
    builder = MemoryRecordsBuilder(2, CompressionType[codec.upper()])
    now_ms = time.time_ns() // 1_000_000
    for index, (key, value) in enumerate(contents):
        builder.append(now_ms + index // 10, key, value)
    return bytes(builder.build())


@dataclass(frozen=True)
class FilledLog:
    """At least ``at_least`` messages in equal batches, spread evenly over the partitions; filled once per broker."""

    size: int
    codec: str
    at_least: int
    batch_bytes: int = BATCH_BYTES
    uneven: bool = False
    """Whether messages have keys and values of different lengths."""
    partitions: int = 1
    _topics: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.size:,} B{' ± half, keys' * self.uneven}, {self.codec}"

    @cached_property
    def contents(self) -> list[Content]:
        """The contents of the batch that the log repeats."""
        return (uneven_contents if self.uneven else alike_contents)(self.size, self.batch_bytes)

    @cached_property
    def batch(self) -> tuple[bytes, int]:
        """That batch and its number of messages."""
        return batch_of_contents(self.contents, self.codec), len(self.contents)

    @property
    def batches(self) -> int:
        """Number of batches in each partition."""
        return -(-self.at_least // (self.partitions * self.batch[1]))

    @property
    def messages(self) -> int:
        """Number of messages in all partitions."""
        return self.partitions * self.batches * self.batch[1]

    def topic(self, broker: Broker) -> str:
        """The topic's name; fills it on first use."""
        if broker.name not in self._topics:
            name = create_topic(broker, self.partitions)
            batch, count = self.batch
            for partition in range(self.partitions):
                with RawClient(broker.port) as client:
                    frame = produce_batch_frame(name, batch, partition=partition)
                    client.pipelined(frame, self.batches - 1, _IN_FLIGHT)
                expect_end(broker, name, self.batches * count, partition)
            self._topics[broker.name] = name
        return self._topics[broker.name]

    def fetches(self, name: str, fetch_bytes: int) -> list[bytes]:
        """Requests that read the first partition, each for the batches that fit into ``fetch_bytes``, at least one."""
        data, count = self.batch
        batches_each = max(1, fetch_bytes // len(data))
        return [
            fetch_frame(name, min(batches_each, self.batches - first) * len(data), first * count)
            for first in range(0, self.batches, batches_each)
        ]
