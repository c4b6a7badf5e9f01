"""A partition with messages in it, the same bytes in every broker, for those who read."""

from __future__ import annotations

import time
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


def batch_of_payloads(size: int, codec: str = "none", batch_bytes: int = BATCH_BYTES) -> tuple[bytes, int]:
    """A batch of messages of ``size`` bytes, of about ``batch_bytes`` before compression; and how many there are."""
    count = batch_bytes // (size + RECORD_OVERHEAD_BYTES)
    builder = MemoryRecordsBuilder(2, CompressionType[codec.upper()])
    now_ms, payload = time.time_ns() // 1_000_000, payload_of(size)
    for index in range(count):
        builder.append(now_ms + index // 10, None, payload)
    return bytes(builder.build()), count


@dataclass(frozen=True)
class FilledLog:
    """At least ``at_least`` messages in one partition, in batches of equal size; filled once in each broker."""

    size: int
    codec: str
    at_least: int
    batch_bytes: int = BATCH_BYTES
    _topics: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.size:,} B, {self.codec}"

    @cached_property
    def batch(self) -> tuple[bytes, int]:
        """The batch that the log consists of, and the number of its messages."""
        return batch_of_payloads(self.size, self.codec, self.batch_bytes)

    @property
    def batches(self) -> int:
        """How often that is in the log."""
        return -(-self.at_least // self.batch[1])

    @property
    def messages(self) -> int:
        """How many there are in all."""
        return self.batches * self.batch[1]

    def topic(self, broker: Broker) -> str:
        """The topic; the first who asks has it filled."""
        if broker.name not in self._topics:
            name = create_topic(broker)
            with RawClient(broker.port) as client:
                client.pipelined(produce_batch_frame(name, self.batch[0]), self.batches - 1, _IN_FLIGHT)
            expect_end(broker, name, self.messages)
            self._topics[broker.name] = name
        return self._topics[broker.name]

    def fetches(self, name: str, fetch_bytes: int) -> list[bytes]:
        """Requests that read the whole log, as many whole batches each as ``fetch_bytes`` hold, at least one."""
        data, count = self.batch
        batches_each = max(1, fetch_bytes // len(data))
        return [
            fetch_frame(name, min(batches_each, self.batches - first) * len(data), first * count)
            for first in range(0, self.batches, batches_each)
        ]
