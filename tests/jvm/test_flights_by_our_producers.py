"""Flights of 2013, sent by both our producers with every codec to kafka_lite, Kafka 0.10.2.2 and Kafka 3.9.1.

Java's, librdkafka's and aiokafka's consumers read exactly these flights: their number, their order in each partition,
and a digest of all fields. ``KAFKA_LITE_FLIGHTS=1000000`` makes each producer send a million to each broker, shared
among the codecs.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import os
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, cast

import aiokafka
import pandas as pd
import pytest
from confluent_kafka import Consumer, TopicPartition

from kafka_lite.common.time import SystemTime
from kafka_lite.old_producer import KeyedMessage, Producer
from kafka_lite.old_producer.partitioner import DefaultPartitioner
from kafka_lite.producer import KafkaProducer, ProducerRecord, RecordMetadata
from kafka_lite.producer.partitioner import partition_for_key
from kafka_lite.server.broker_process import BrokerProcess
from pipeline.nycflights import FLIGHT_COUNT, load_flights, to_json_lines
from tests.support.jvm import classpath, compile_java, run_java
from tests.support.patience import patient_s
from tests.support.patient_clients import consumed
from tests.support.real_kafka import OLD, TODAYS, create_topics, real_kafka

pytestmark = [pytest.mark.jvm, pytest.mark.slow, pytest.mark.timeout(3600)]

FLIGHTS = int(os.environ.get("KAFKA_LITE_FLIGHTS", "30000"))
PARTITIONS = 3
OWN = "kafka_lite"
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
OLD_CODECS = CODECS[:4]
"""Of message formats before v2, and so of the old producer and of Kafka 0.10.2."""
OLD_BATCH = 200

Header = tuple[str, bytes]
_TIMES = struct.Struct(">qq")
_SIZE = struct.Struct(">i")


class Flight(NamedTuple):
    """One record of the data set, ready to be sent."""

    key: bytes
    value: bytes
    timestamp: int
    """Scheduled departure, ms since the epoch."""
    headers: list[Header]


class Digest:
    """The contents of a partition as one number, the same that AnyClient.java prints."""

    def __init__(self) -> None:
        self.count = 0
        self._sha = hashlib.sha256()

    def add(
        self, offset: int, timestamp: int, key: bytes | None, value: bytes | None, headers: Sequence[Header]
    ) -> None:
        parts = [_TIMES.pack(offset, timestamp), _sized(key), _sized(value), _SIZE.pack(len(headers))]
        for name, content in headers:
            parts += (_sized(name.encode()), _sized(content))
        self._sha.update(b"".join(parts))
        self.count += 1

    def __str__(self) -> str:
        return f"{self.count} {self._sha.hexdigest()}"


def _sized(data: bytes | None) -> bytes:
    return _SIZE.pack(-1) if data is None else _SIZE.pack(len(data)) + data


@dataclass
class Sent:
    """The expected contents of a topic, in the order in which they were sent."""

    kind: str
    codec: str
    digests: list[Digest] = field(default_factory=lambda: [Digest() for _ in range(PARTITIONS)])
    size_bytes: int = 0
    """Of all keys and values."""

    @property
    def topic(self) -> str:
        return f"flights-{self.kind}-{self.codec}"

    def add(self, partition: int, flight: Flight, headers: Sequence[Header]) -> None:
        digest = self.digests[partition]
        digest.add(digest.count, flight.timestamp, flight.key, flight.value, headers)

    @property
    def count(self) -> int:
        return sum(digest.count for digest in self.digests)


class FlightClock(SystemTime):
    """The old producer sets timestamps from its clock: this clock shows the departure of the next flight."""

    def __init__(self, flights: Iterable[Flight]) -> None:
        self._times = (flight.timestamp for flight in flights)

    def milliseconds(self) -> int:
        return next(self._times)


@pytest.fixture(scope="module")
def flights() -> list[Flight]:
    frame = load_flights().head(min(FLIGHTS, FLIGHT_COUNT))
    times = pd.to_datetime(frame["time_hour"]).astype("int64") // 1_000_000
    columns = zip(
        frame["carrier"], frame["flight"], to_json_lines(frame), times, frame["origin"], frame["dest"], strict=True
    )
    return [
        Flight(
            f"{carrier}{number}".encode(), line.encode(), int(ms), [("origin", origin.encode()), ("dest", to.encode())]
        )
        for carrier, number, line, ms, origin, to in columns
    ]


@pytest.fixture(scope="module", params=[OWN, OLD, TODAYS])
def broker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Its version, and the address for clients."""
    directory: Path = tmp_path_factory.mktemp("broker")
    with ExitStack() as stack:
        if request.param == OWN:
            bootstrap_servers = stack.enter_context(BrokerProcess(directory)).bootstrap_servers
        else:
            bootstrap_servers = stack.enter_context(real_kafka(request.param, directory))
        yield request.param, bootstrap_servers


@contextmanager
def told(what: str, count: int, size_bytes: int) -> Iterator[None]:
    """Print how long something took; ``pytest -s`` shows it."""
    began = time.perf_counter()
    yield
    took_s = time.perf_counter() - began
    print(f"{what}: {count:,} records, {size_bytes / 1e6:.0f} MB in {took_s:.1f} s, {count / took_s:,.0f} records/s")


def test_every_consumer_reads_what_both_producers_sent(broker: tuple[str, str], flights: list[Flight]) -> None:
    version, bootstrap_servers = broker
    codecs = {"new": OLD_CODECS if version == OLD else CODECS, "old": OLD_CODECS}
    every = [Sent(kind, codec) for kind in codecs for codec in codecs[kind]]
    # The flights are of 2013: retention by time would delete them.
    create_topics(bootstrap_servers, [sent.topic for sent in every], PARTITIONS, {"retention.ms": "-1"})
    endless = {kind: itertools.cycle(flights) for kind in codecs}
    for sent in every:
        some = list(itertools.islice(endless[sent.kind], FLIGHTS // len(codecs[sent.kind])))
        sent.size_bytes = sum(len(flight.key) + len(flight.value) for flight in some)
        with told(f"{version}: {sent.kind} producer, {sent.codec}", len(some), sent.size_bytes):
            if sent.kind == "old":
                send_by_old_producer(bootstrap_servers, sent, some)
            else:
                send_by_new_producer(bootstrap_servers, sent, some, has_headers=version != OLD)
        assert sent.count == len(some)
    count, size_bytes = sum(sent.count for sent in every), sum(sent.size_bytes for sent in every)
    for name, read in READERS.items():
        with told(f"{version}: all topics by {name}", count, size_bytes):
            found = read(bootstrap_servers, every)
        for sent in every:
            assert found[sent.topic] == [str(digest) for digest in sent.digests], f"{sent.topic} by {name}"


def send_by_new_producer(bootstrap_servers: str, sent: Sent, flights: Iterable[Flight], *, has_headers: bool) -> None:
    """Send each flight to the partition of its key; each must be acknowledged there, at the next offset."""
    wrong: list[object] = []

    def acknowledged(metadata: RecordMetadata | None, error: Exception | None) -> None:
        if error is not None or metadata is None:
            wrong.append(error)

    with KafkaProducer({
        "bootstrap.servers": bootstrap_servers, "compression.type": sent.codec, "linger.ms": 10, "batch.size": 65536,
        # 0.10.2 has no sequence numbers: one request at a time keeps the order.
        "max.in.flight.requests.per.connection": 5 if has_headers else 1,
    }) as producer:  # fmt: skip
        for flight in flights:
            headers = flight.headers if has_headers else []
            sent.add(partition_for_key(flight.key, PARTITIONS), flight, headers)
            record = ProducerRecord(sent.topic, flight.value, flight.key, timestamp=flight.timestamp, headers=headers)
            producer.send(record, acknowledged)
        assert producer.flush(1000 * patient_s(60))
    assert wrong == []


def send_by_old_producer(bootstrap_servers: str, sent: Sent, flights: Sequence[Flight]) -> None:
    """One half synchronously, the other with the thread of an asynchronous producer."""
    partitioner = DefaultPartitioner({})
    half = len(flights) // 2
    for kind, some in (("sync", flights[:half]), ("async", flights[half:])):
        with Producer({
            "metadata.broker.list": bootstrap_servers, "request.required.acks": -1, "compression.codec": sent.codec,
            "producer.type": kind, "message.send.max.retries": 10, "batch.num.messages": OLD_BATCH,
            "queue.buffering.max.ms": 50,
        }, time=FlightClock(some)) as producer:  # fmt: skip
            for first in range(0, len(some), OLD_BATCH):
                batch = some[first : first + OLD_BATCH]
                for flight in batch:
                    sent.add(partitioner.partition(flight.key, PARTITIONS), flight, [])
                producer.send(*(KeyedMessage(sent.topic, flight.value, flight.key) for flight in batch))


def read_by_java(bootstrap_servers: str, every: Sequence[Sent]) -> dict[str, list[str]]:
    jars = classpath("org.apache.kafka:kafka-clients:3.9.1", "org.slf4j:slf4j-nop:1.7.36")
    classes = compile_java(Path(__file__).with_name("AnyClient.java"), jars)
    commands = [f"digest {bootstrap_servers} {sent.topic} {PARTITIONS} {sent.count}\n" for sent in every]
    done = run_java("AnyClient", classpath=[classes, *jars], stdin="".join(commands), timeout_s=1800)
    lines = [line.partition(" ")[2] for line in done.stdout.splitlines() if line != "done"]
    assert len(lines) == PARTITIONS * len(every)
    return {sent.topic: lines[place * PARTITIONS :][:PARTITIONS] for place, sent in enumerate(every)}


def read_by_librdkafka(bootstrap_servers: str, every: Sequence[Sent]) -> dict[str, list[str]]:
    found = {}
    for sent in every:
        consumer = Consumer({
            "bootstrap.servers": bootstrap_servers, "group.id": "unused", "enable.auto.commit": False,
        })  # fmt: skip
        consumer.assign([TopicPartition(sent.topic, partition, 0) for partition in range(PARTITIONS)])
        digests, left = [Digest() for _ in range(PARTITIONS)], sent.count
        while left:
            messages = consumed(consumer, min(left, 10_000))
            left -= len(messages)
            for message in messages:
                partition, offset = message.partition(), message.offset()
                assert partition is not None
                assert offset is not None
                headers = cast(list[Header], message.headers() or [])
                digests[partition].add(offset, message.timestamp()[1], message.key(), message.value(), headers)
        consumer.close()
        found[sent.topic] = [str(digest) for digest in digests]
    return found


def read_by_aiokafka(bootstrap_servers: str, every: Sequence[Sent]) -> dict[str, list[str]]:
    return {sent.topic: asyncio.run(_read_by_aiokafka(bootstrap_servers, sent)) for sent in every}


async def _read_by_aiokafka(bootstrap_servers: str, sent: Sent) -> list[str]:
    consumer = aiokafka.AIOKafkaConsumer(bootstrap_servers=bootstrap_servers, enable_auto_commit=False)
    await consumer.start()
    partitions = [aiokafka.TopicPartition(sent.topic, number) for number in range(PARTITIONS)]
    consumer.assign(partitions)
    for partition in partitions:
        consumer.seek(partition, 0)
    digests, left = [Digest() for _ in range(PARTITIONS)], sent.count
    while left:
        answer = await consumer.getmany(timeout_ms=int(1000 * patient_s(60)), max_records=10_000)
        assert answer, f"{left} of {sent.count} records did not come"
        for records in answer.values():
            left -= len(records)
            for record in records:
                digests[record.partition].add(record.offset, record.timestamp, record.key, record.value, record.headers)
    await consumer.stop()
    return [str(digest) for digest in digests]


READERS: dict[str, Callable[[str, Sequence[Sent]], dict[str, list[str]]]] = {
    "Java 3.9.1": read_by_java,
    "librdkafka": read_by_librdkafka,
    "aiokafka": read_by_aiokafka,
}
