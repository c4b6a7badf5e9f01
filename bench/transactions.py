"""Transactions of librdkafka's producers beside a reader of committed records; the memory that producer ids take."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from confluent_kafka import Consumer, Producer, TopicPartition

from bench.brokers import Broker, Candidate
from bench.measure import (
    CPU,
    LOG_LEVEL,
    MEGABYTES,
    TIMEOUT_S,
    Goal,
    Sample,
    Study,
    create_topic,
    expect_end,
    measured,
    payload_of,
    ratio_at_least,
    ratio_at_most,
    topic,
    value_at_most,
)
from bench.raw_client import RawClient, produce_batch_frame
from bench.replication import GROWTH
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder

TRANSACTIONS = "transactions/s"
MESSAGES_EACH = 10
WARM_UP = 30
"""Transactions of each producer."""
_IN_FLIGHT = 16
_REST_S = 1.0


@dataclass(frozen=True)
class Transactions:
    """Each producer writes ten messages to its own partition, commits, and begins again."""

    producers: int
    transactions: int
    """Of all producers together."""
    goals: ClassVar[Mapping[str, Goal]] = {TRANSACTIONS: ratio_at_least(1.0), CPU: ratio_at_most(1.0)}

    @property
    def name(self) -> str:
        who = "1 producer" if self.producers == 1 else f"{self.producers} producers"
        return f"{who}, a read_committed consumer beside"

    def run(self, broker: Broker) -> Sample:
        """Measure the transactions; afterwards the consumer must have read all of them."""
        each = max(1, self.transactions // self.producers)
        with (
            topic(broker, self.producers) as name,
            ThreadPoolExecutor(self.producers) as pool,
            committed_reader(broker, name, self.producers) as await_count,
        ):
            producers = list(pool.map(lambda number: ready(broker, f"{name}-{number}"), range(self.producers)))

            def commit(transactions: int) -> None:
                work = [pool.submit(run, *job, name, transactions) for job in enumerate(producers)]
                for future in work:
                    future.result()

            commit(WARM_UP)
            sample = measured(broker, each * self.producers, lambda: commit(each), TRANSACTIONS)
            await_count((WARM_UP + each) * self.producers * MESSAGES_EACH)
        return sample


def ready(broker: Broker, transactional_id: str) -> Producer:
    """A producer whose coordinator knows it."""
    producer = Producer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "log_level": LOG_LEVEL,
            "transactional.id": transactional_id,
            "linger.ms": 0,
        }
    )
    producer.init_transactions(TIMEOUT_S)
    return producer


def run(partition: int, producer: Producer, name: str, transactions: int) -> None:
    """One producer's transactions, one after the other."""
    payload = payload_of(100)
    for _ in range(transactions):
        producer.begin_transaction()
        for _ in range(MESSAGES_EACH):
            producer.produce(name, payload, partition=partition)
        producer.commit_transaction(TIMEOUT_S)


@contextmanager
def committed_reader(broker: Broker, name: str, partitions: int) -> Iterator[Callable[[int], None]]:
    """A consumer in a thread of its own; yields a function that waits until it has read so many messages."""
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "log_level": LOG_LEVEL,
            "group.id": f"{name}-readers",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
        }
    )
    consumer.assign([TopicPartition(name, number, 0) for number in range(partitions)])
    done = threading.Event()
    counts = [0]

    def read() -> None:
        while not done.is_set():
            counts[0] += sum(message.error() is None for message in consumer.consume(500, 0.1))

    def await_count(messages: int) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        while counts[0] < messages:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{broker.name}: only {counts[0]:,} of {messages:,} messages were read as committed")
            time.sleep(0.01)

    reader = threading.Thread(target=read, name="read-committed")
    reader.start()
    try:
        yield await_count
    finally:
        done.set()
        reader.join()
        consumer.close()


@dataclass(frozen=True)
class ProducerIds:
    """One batch from each of more and more producer ids: what a partition's leader keeps of them."""

    scale: float

    def study(self) -> Study:
        """The study, for the report."""
        return Study("Producer ids", self.workloads, self.run)

    @property
    def _totals(self) -> Sequence[int]:
        return [max(250, int(total * self.scale)) for total in (25_000, 50_000, 100_000)]

    @property
    def workloads(self) -> Mapping[str, Mapping[str, Goal]]:
        """The reported workloads and their goals."""
        steps: dict[str, Mapping[str, Goal]] = {
            f"growth of the memory with {total:,} producer ids": {} for total in self._totals
        }
        return steps | {"growth of the memory per producer id": {GROWTH: value_at_most(1.3)}}

    def run(self, candidate: Candidate, folder: Path, tell: Callable[[str], None]) -> Mapping[str, Sample]:
        """Write to one partition of a fresh broker."""
        with candidate.make(folder / "broker", {}) as broker:
            name = create_topic(broker)
            with RawClient(broker.port) as client:
                client.pipelined_each(batches(name, 0, 1), _IN_FLIGHT)  # of what is made only once
                used_mb, before = [settled_mb(broker)], 1
                for total in self._totals:
                    tell(f"{total:,} producer ids")
                    client.pipelined_each(batches(name, before, total + 1), _IN_FLIGHT)
                    used_mb.append(settled_mb(broker))
                    before = total + 1
            expect_end(broker, name, before)
        samples: list[Sample] = [{MEGABYTES: max(used - used_mb[0], 0.0)} for used in used_mb[1:]]
        ids = [later - earlier for earlier, later in itertools.pairwise(self._totals)]
        grown = [later - earlier for earlier, later in itertools.pairwise(used_mb[1:])]
        rates = [max(mb, 1e-3) / count for mb, count in zip(grown, ids, strict=True)]
        return dict(zip(self.workloads, [*samples, {GROWTH: rates[-1] / rates[0]}], strict=True))


def batches(name: str, begin: int, end: int) -> Iterator[bytes]:
    """Requests with one small batch each, of the producer ids from ``begin`` to ``end``."""
    for producer_id in range(begin, end):
        builder = MemoryRecordsBuilder(producer_id=producer_id, producer_epoch=0, base_sequence=0)
        builder.append(time.time_ns() // 1_000_000, None, b"v")
        yield produce_batch_frame(name, bytes(builder.build()))


def settled_mb(broker: Broker) -> float:
    """The broker's memory once its work is done."""
    time.sleep(_REST_S)
    return broker.resident_mb()
