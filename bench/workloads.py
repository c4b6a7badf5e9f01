"""What is measured: each workload runs against one broker with one client and says how fast it was."""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from bench.brokers import Broker

TIMEOUT_S = 180.0
BATCH_16_KB = 16 * 1024
BATCH_1_MB = 1_000_000


@dataclass(frozen=True)
class Sample:
    """One run of one workload."""

    messages_per_s: float
    broker_cpu_s_per_million: float
    p50_ms: float | None = None
    p99_ms: float | None = None


@dataclass(frozen=True)
class Produce:
    """Produce ``messages`` of ``size`` bytes to one partition, as fast as the client can."""

    size: int
    acks: str
    codec: str
    batch_bytes: int
    messages: int

    @property
    def name(self) -> str:
        batch = "1 MB" if self.batch_bytes == BATCH_1_MB else "16 KB"
        return f"produce {self.size} B, acks {self.acks}, {self.codec}, {batch}"

    def run(self, broker: Broker) -> Sample:
        with topic(broker) as name:
            producer = connected_producer(broker, name, self)
            return measured(broker, self.messages, lambda: produce(producer, name, self))


@dataclass(frozen=True)
class Consume:
    """Read ``messages`` of ``size`` bytes from one partition, assigned, from its beginning."""

    size: int
    codec: str
    messages: int

    @property
    def name(self) -> str:
        return f"consume {self.size} B, {self.codec}"

    def run(self, broker: Broker) -> Sample:
        with topic(broker) as name:
            filling = Produce(self.size, "1", self.codec, BATCH_16_KB, self.messages)
            produce(connected_producer(broker, name, filling), name, filling)
            return measured(broker, self.messages, lambda: consume(broker, name, self.messages))


@dataclass(frozen=True)
class RoundTrip:
    """Produce one message at a time, acks all, each after the answer to the one before."""

    messages: int
    size: int = 100

    @property
    def name(self) -> str:
        return f"produce {self.size} B, one in flight"

    def run(self, broker: Broker) -> Sample:
        with topic(broker) as name:
            producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "acks": "all", "linger.ms": 0})
            one_at_a_time(producer, name, self.size, 50)  # connections, caches
            times_ms: list[float] = []
            sample = measured(
                broker,
                self.messages,
                lambda: times_ms.extend(one_at_a_time(producer, name, self.size, self.messages)),
            )
        percentiles = statistics.quantiles(times_ms, n=100)
        return Sample(sample.messages_per_s, sample.broker_cpu_s_per_million, percentiles[49], percentiles[98])


Workload = Produce | Consume | RoundTrip


def workloads(scale: float) -> list[Workload]:
    """All workloads; ``scale`` 1 sends some 60 MB in each."""
    small, large = int(600_000 * scale), int(60_000 * scale)
    produces = [
        Produce(size, acks, codec, batch_bytes, small if size == 100 else large)
        for size in (100, 1000)
        for batch_bytes in (BATCH_16_KB, BATCH_1_MB)
        for acks in ("1", "all")
        for codec in ("none", "lz4")
    ]
    consumes = [
        Consume(size, codec, small if size == 100 else large) for size in (100, 1000) for codec in ("none", "lz4")
    ]
    return [*produces, *consumes, RoundTrip(max(200, int(3000 * scale)))]


def warm_up(broker: Broker) -> None:
    """What the first messages cost once (a JVM's compiler, connections, pages) is not what is measured."""
    for workload in (Produce(100, "all", "none", BATCH_16_KB, 300_000), Consume(1000, "lz4", 50_000), RoundTrip(500)):
        workload.run(broker)


def measured(broker: Broker, messages: int, run: Callable[[], None]) -> Sample:
    """Wall clock and the broker's processor time around ``run``."""
    cpu_before, began = broker.cpu_s(), time.perf_counter()
    run()
    took = time.perf_counter() - began
    # What the broker does behind the answer (index, flush) belongs to the bill, as far as it is done soon.
    time.sleep(0.05)
    return Sample(messages / took, (broker.cpu_s() - cpu_before) / messages * 1e6)


@contextlib.contextmanager
def topic(broker: Broker) -> Iterator[str]:
    """A topic of one partition for the time of a run."""
    name = f"bench-{time.monotonic_ns()}"
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    admin.create_topics([NewTopic(name, num_partitions=1, replication_factor=1)])[name].result(TIMEOUT_S)
    try:
        yield name
    finally:
        admin.delete_topics([name])[name].result(TIMEOUT_S)


def connected_producer(broker: Broker, name: str, workload: Produce) -> Producer:
    """A producer that has sent its first message: connecting and finding the leader is not what is measured."""
    producer = Producer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "acks": workload.acks,
            "compression.type": workload.codec,
            "batch.size": workload.batch_bytes,
            "batch.num.messages": 1_000_000,
            "message.max.bytes": 1_900_000,
            "linger.ms": 20 if workload.batch_bytes == BATCH_1_MB else 5,
            "queue.buffering.max.messages": 1_000_000,
            "queue.buffering.max.kbytes": 1 << 20,
        }
    )
    one_at_a_time(producer, name, workload.size, 1)
    return producer


def produce(producer: Producer, name: str, workload: Produce) -> None:
    """Send the messages and wait until all are acknowledged."""
    payload = payload_of(workload.size)
    for _ in range(workload.messages):
        while True:
            try:
                producer.produce(name, payload)
                break
            except BufferError:
                producer.poll(0.01)
    left = producer.flush(TIMEOUT_S)
    if left:
        raise RuntimeError(f"{left} messages were not acknowledged within {TIMEOUT_S} s")


def payload_of(size: int) -> bytes:
    """Bytes that compress to about a half, as text does."""
    pattern = b"".join(b"%08x" % (index * index * 2654435761 % 2**32) for index in range(size // 8 + 1))
    return pattern[:size]


def consume(broker: Broker, name: str, messages: int) -> None:
    """Read until ``messages`` have come."""
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": "bench",
            "enable.auto.commit": False,
            "fetch.message.max.bytes": 1 << 20,
            "queued.min.messages": 1_000_000,
        }
    )
    consumer.assign([TopicPartition(name, 0, 0)])
    deadline = time.perf_counter() + TIMEOUT_S
    came = 0
    while came < messages:
        for message in consumer.consume(min(10_000, messages - came), timeout=1):
            if message.error():
                raise KafkaException(message.error())
            came += 1
        if time.perf_counter() > deadline:
            raise RuntimeError(f"{broker.name} sent {came} of {messages} messages within {TIMEOUT_S} s")
    consumer.close()


def one_at_a_time(producer: Producer, name: str, size: int, messages: int) -> list[float]:
    """The times from sending to acknowledgement, ms."""
    payload = payload_of(size)
    times_ms = []
    for _ in range(messages):
        began = time.perf_counter()
        producer.produce(name, payload)
        if producer.flush(TIMEOUT_S):
            raise RuntimeError("a message was not acknowledged")
        times_ms.append((time.perf_counter() - began) * 1e3)
    return times_ms
