"""Workloads of librdkafka, the client under confluent-kafka."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from bench.brokers import Broker
from bench.filled_log import FilledLog
from bench.measure import (
    CPU,
    LOG_LEVEL,
    MESSAGES,
    P50,
    P99,
    TIMEOUT_S,
    Goal,
    Measured,
    Sample,
    cpu_of,
    measured,
    payload_of,
    percentiles,
    ratio_at_least,
    ratio_at_most,
    topic,
)

BATCH_16_KB = 16 * 1024
BATCH_1_MB = 1_000_000


class Connection:
    """How librdkafka connects: to a broker's listener in plain text, or as other ``keys`` say."""

    def __init__(self, keys: Mapping[str, str]) -> None:
        self.keys = dict(keys)

    @classmethod
    def to(cls, broker: Measured) -> Connection:
        """In plain text."""
        return cls({"bootstrap.servers": broker.bootstrap_servers})


@dataclass(frozen=True)
class Produce:
    """Produce ``messages`` of ``size`` bytes to one partition, as fast as the client can."""

    size: int
    acks: str
    codec: str
    batch_bytes: int
    messages: int
    goals: ClassVar[Mapping[str, Goal]] = {MESSAGES: ratio_at_least(1.0), CPU: ratio_at_most(0.6)}

    @property
    def name(self) -> str:
        batch = "1 MB" if self.batch_bytes == BATCH_1_MB else "16 KB"
        return f"produce {self.size:,} B, acks {self.acks}, {self.codec}, {batch}"

    def run(self, broker: Broker, connection: Connection | None = None) -> Sample:
        with topic(broker) as name:
            return self.run_on(broker, name, connection)

    def run_on(self, broker: Measured, name: str, connection: Connection | None = None) -> Sample:
        """Run it on a topic that exists."""
        producer = self._connected_producer(connection or Connection.to(broker), name)
        return measured(broker, self.messages, lambda: self._produce(producer, name))

    def _connected_producer(self, connection: Connection, name: str) -> Producer:
        """A producer that has sent its first message: connecting and finding the leader are not measured."""
        producer = Producer(
            {
                **connection.keys,
                "log_level": LOG_LEVEL,
                "acks": self.acks,
                "compression.type": self.codec,
                "batch.size": self.batch_bytes,
                "batch.num.messages": 1_000_000,
                "message.max.bytes": 1_900_000,
                "linger.ms": 20 if self.batch_bytes == BATCH_1_MB else 5,
                "queue.buffering.max.messages": 1_000_000,
                "queue.buffering.max.kbytes": 1 << 20,
            }
        )
        one_at_a_time(producer, name, self.size, 1)
        return producer

    def _produce(self, producer: Producer, name: str) -> None:
        """Send the messages and wait until all are acknowledged."""
        payload = payload_of(self.size)
        for _ in range(self.messages):
            while True:
                try:
                    producer.produce(name, payload)
                    break
                except BufferError:
                    producer.poll(0.01)
        if left := producer.flush(TIMEOUT_S):
            raise RuntimeError(f"{left} messages were not acknowledged within {TIMEOUT_S} s")


@dataclass(frozen=True)
class Consume:
    """Read an assigned partition from its beginning, from the page cache."""

    log: FilledLog
    goals: ClassVar[Mapping[str, Goal]] = {MESSAGES: ratio_at_least(0.95), CPU: ratio_at_most(0.6)}

    @property
    def name(self) -> str:
        return f"librdkafka, {self.log}"

    def run(self, broker: Broker, connection: Connection | None = None) -> Sample:
        name = self.log.topic(broker)
        return measured(broker, self.log.messages, lambda: consume(broker, name, self.log.messages, connection))


@dataclass(frozen=True)
class RoundTrip:
    """Produce one message, wait for its acknowledgement, produce the next."""

    messages: int
    size: int = 100
    goals: ClassVar[Mapping[str, Goal]] = {P50: ratio_at_most(1.0), P99: ratio_at_most(1.0)}

    @property
    def name(self) -> str:
        return f"librdkafka, produce {self.size} B, acks all"

    def run(self, broker: Broker) -> Sample:
        with topic(broker) as name:
            return self.run_on(broker, name)

    def run_on(self, broker: Measured, name: str) -> Sample:
        """Run it on a topic that exists."""
        producer = eager_producer(broker, "all")
        one_at_a_time(producer, name, self.size, 50)  # warm up connections and caches
        times_ms: list[float] = []
        sample = measured(
            broker,
            self.messages,
            lambda: times_ms.extend(one_at_a_time(producer, name, self.size, self.messages)),
        )
        return percentiles(times_ms) | cpu_of(sample)


@dataclass(frozen=True)
class EndToEnd:
    """A producer sends at a steady rate and a consumer keeps up: the time from ``produce`` to receiving the message."""

    messages: int
    rate: int = 1000
    size: int = 100
    goals: ClassVar[Mapping[str, Goal]] = {}

    @property
    def name(self) -> str:
        return f"librdkafka, {self.rate:,} messages/s, {self.size} B, acks 1"

    def run(self, broker: Broker) -> Sample:
        with topic(broker) as name:
            producer = Producer(
                {"log_level": LOG_LEVEL, "bootstrap.servers": broker.bootstrap_servers, "acks": "1", "linger.ms": 0}
            )
            one_at_a_time(producer, name, self.size, 50)
            consumer = reader(broker, name, offset=50)
            times_ms: list[float] = []
            sample = measured(broker, self.messages, lambda: times_ms.extend(self._latencies(producer, consumer, name)))
            consumer.close()
        return percentiles(times_ms) | cpu_of(sample)

    def _latencies(self, producer: Producer, consumer: Consumer, name: str) -> list[float]:
        sender = threading.Thread(target=self._send, args=(producer, name), name="sender")
        sender.start()
        times_ms: list[float] = []
        deadline = time.monotonic() + TIMEOUT_S
        while len(times_ms) < self.messages:
            message = consumer.poll(1)
            now_ns = time.perf_counter_ns()
            if message is not None and message.error() is None:
                times_ms.append((now_ns - int((message.value() or b"")[:20])) / 1e6)
            elif time.monotonic() > deadline:
                raise RuntimeError(f"{len(times_ms)} of {self.messages} messages came within {TIMEOUT_S} s")
        sender.join()
        return times_ms

    def _send(self, producer: Producer, name: str) -> None:
        """Send messages that contain their send times."""
        padding = payload_of(self.size - 20)
        began = time.perf_counter()
        for number in range(self.messages):
            time.sleep(max(0.0, began + number / self.rate - time.perf_counter()))
            producer.produce(name, b"%020d" % time.perf_counter_ns() + padding)
            producer.poll(0)
        producer.flush(TIMEOUT_S)


def eager_producer(broker: Measured, acks: str) -> Producer:
    """A producer that sends every message immediately."""
    return Producer(
        {"bootstrap.servers": broker.bootstrap_servers, "log_level": LOG_LEVEL, "acks": acks, "linger.ms": 0}
    )


def reader(broker: Broker, name: str, offset: int = 0, connection: Connection | None = None) -> Consumer:
    """A consumer of the only partition, starting at ``offset``."""
    consumer = Consumer(
        {
            **(connection or Connection.to(broker)).keys,
            "log_level": LOG_LEVEL,
            "group.id": "bench",
            "enable.auto.commit": False,
            "fetch.message.max.bytes": 1 << 20,
            "queued.min.messages": 1_000_000,
        }
    )
    consumer.assign([TopicPartition(name, 0, offset)])
    return consumer


def consume(broker: Broker, name: str, messages: int, connection: Connection | None = None) -> None:
    """Read until ``messages`` messages have arrived. Raises RuntimeError, KafkaException."""
    consumer = reader(broker, name, connection=connection)
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
    """Send messages one at a time; returns the times to acknowledgement in ms."""
    payload = payload_of(size)
    times_ms = []
    for _ in range(messages):
        began = time.perf_counter()
        producer.produce(name, payload)
        if producer.flush(TIMEOUT_S):
            raise RuntimeError("a message was not acknowledged")
        times_ms.append((time.perf_counter() - began) * 1e3)
    return times_ms
