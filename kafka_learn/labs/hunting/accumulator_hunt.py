"""The promises of the accumulator: every record is sent once, those of a thread in their order.

Two threads append to the same two partitions, and the sender drains them meanwhile, some batches twice: as retries.
"""

from __future__ import annotations

import random
import time

from kafka_learn.labs.hunting.threads_together import together
from kafka_lite.clients.cluster import Cluster, Node, PartitionInfo
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.producer.buffer_pool import BufferPool
from kafka_lite.producer.producer_batch import ProducerBatch
from kafka_lite.producer.record_accumulator import RecordAccumulator
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.records import batches

RECORDS, VALUE_BYTES, BATCH_BYTES = 12, 100, 400
NODE = Node(0, "a", 1)
PARTITIONS = (TopicPartition("t", 0), TopicPartition("t", 1))
CLUSTER = Cluster((NODE,), tuple(PartitionInfo("t", each.partition, NODE) for each in PARTITIONS))


class Sender:
    """Drains batches until all records were seen, or nothing comes any more."""

    def __init__(self, accumulator: RecordAccumulator, expected: int, drawn: random.Random) -> None:
        self._accumulator, self._expected, self._random = accumulator, expected, drawn
        self.sent: list[tuple[int, bytes]] = []
        """(partition, value) in the order of sending."""

    def run(self) -> None:
        """Send what is ready, with pauses."""
        for _ in range(400):
            now_ms = time.monotonic() * 1000
            ready = self._accumulator.ready(CLUSTER, now_ms)
            drained = self._accumulator.drain(CLUSTER, ready.ready_nodes, 2 * BATCH_BYTES, now_ms)
            for batch in drained.get(NODE.id, []):
                if not batch.in_retry and self._random.random() < 0.2:
                    self._accumulator.reenqueue(batch, now_ms)
                else:
                    self._send(batch)
            if len(self.sent) >= self._expected:
                return
            time.sleep(0.002)

    def _send(self, batch: ProducerBatch) -> None:
        partition = batch.topic_partition.partition
        found = [bytes(record.value or b"") for each in batches(batch.records) for record in each.records()]
        self.sent += [(partition, value.rstrip(b".")) for value in found]
        self._accumulator.deallocate(batch)


def main() -> None:
    """Raises AssertionError that says which promise was broken."""
    drawn = random.Random(random.getrandbits(32))
    pool = BufferPool(8 * BATCH_BYTES, BATCH_BYTES)
    accumulator = RecordAccumulator(BATCH_BYTES, CompressionType.NONE, 5, 10, 60_000, pool)
    expected = {f"{thread}-{number:02d}".encode(): number % 2 for thread in "ab" for number in range(RECORDS)}

    def append(thread: str) -> None:
        for number in range(RECORDS):
            value = f"{thread}-{number:02d}".encode()
            fields = (1000, None, value.ljust(VALUE_BYTES, b"."), (), None)
            accumulator.append(PARTITIONS[number % 2], fields, 60_000)

    sender = Sender(accumulator, len(expected), drawn)
    together(thread_a=lambda: append("a"), thread_b=lambda: append("b"), sender=sender.run)
    must_be_sent_once(sender.sent, expected)


def must_be_sent_once(sent: list[tuple[int, bytes]], expected: dict[bytes, int]) -> None:
    """Raises AssertionError."""
    values = [value for _, value in sent]
    lost = sorted(expected.keys() - set(values))
    assert not lost, f"{len(lost)} of {len(expected)} records were never sent, {lost[0].decode()} among them"
    twice = sorted({value for value in values if values.count(value) > 1})
    assert not twice, f"{twice[0].decode()} was sent twice"
    for partition in (0, 1):
        for thread in (b"a", b"b"):
            of_thread = [value for number, value in sent if number == partition and value[:1] == thread]
            shown = b" ".join(of_thread).decode()
            assert of_thread == sorted(of_thread), f"partition {partition} has them in another order: {shown}"
