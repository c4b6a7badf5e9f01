"""Throttle times and byte rates of clients beside real Kafka's, at every level of quotas; and who is not slowed.

Quotas are so small that they decide how long everything takes, and not the machine.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_00_produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafka_lite.protocol.messages.api_49_alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import memory_records
from kafka_lite.server.broker_process import BrokerProcess
from tests.support.eventually import eventually
from tests.support.kafka_tools import KafkaTools
from tests.support.patience import patient_s
from tests.support.patient_clients import answer, flush, next_message

pytestmark = [pytest.mark.jvm, pytest.mark.soak, pytest.mark.timeout(600)]

SARAMA = Path(__file__).parents[1] / "clients" / "other_languages" / "sarama_throttled"
TOPIC = "throttled"
APPLIED_S = 3
"""After this time both brokers have applied a quota."""
RING_S = 13
"""After this time the ring of samples is empty."""


@pytest.fixture(scope="module")
def our_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    """In a process of its own, whose processor time can be told."""
    with BrokerProcess(tmp_path_factory.mktemp("broker"), {}) as broker:
        create_topic(broker.bootstrap_servers, TOPIC)
        yield broker


@pytest.fixture(scope="module")
def brokers(real_kafka_3_9: str, our_broker: BrokerProcess) -> dict[str, str]:
    create_topic(real_kafka_3_9, TOPIC)
    return {"3.9.1": real_kafka_3_9, "ours": our_broker.bootstrap_servers}


def create_topic(servers: str, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": servers})
    answer(admin.create_topics([NewTopic(topic, 1, 1)])[topic])


def connected(servers: str, client_id: str) -> BlockingChannel:
    host, _, port = servers.rpartition(":")
    return BlockingChannel(host, int(port), client_id=client_id, read_timeout_ms=60_000)


def alter(servers: str, entity: dict[str, str | None], **quotas: float | None) -> None:
    """Set the quotas of an entity, or remove those that are None. A name of None is the default's."""
    parts = [EntityData(entity_type=kind, entity_name=name) for kind, name in entity.items()]
    ops = [OpData(key=key, value=value or 0.0, remove=value is None) for key, value in quotas.items()]
    with connected(servers, "admin") as channel:
        response: Any = channel.exchange(AlterClientQuotasRequest(entries=[EntryData(entity=parts, ops=ops)]), 1)
        assert [entry.error_code for entry in response.entries] == [0]


def delay_of(servers: str, client_id: str, size: int) -> int:
    """Produce a record of this size, and return the throttle time in ms."""
    records = memory_records(2, CompressionType.NONE, [(None, b"x" * size)], timestamp=int(time.time() * 1000))
    data = PartitionProduceData(index=0, records=records)
    topics = [TopicProduceData(name=TOPIC, partition_data=[data])]
    with connected(servers, client_id) as channel:
        response: Any = channel.exchange(ProduceRequest(acks=1, timeout_ms=30_000, topic_data=topics), 9)
    assert response.responses[0].partition_responses[0].error_code == 0
    return int(response.throttle_time_ms)


# ── every level

SIZE = 600_000
Entity = dict[str, str | None]
LEVELS: tuple[tuple[str, Entity, float], ...] = (
    #  client   the entity whose quota applies                     bytes per second
    ("own", {"user": "ANONYMOUS", "client-id": "own"}, 30_000),
    ("any", {"user": "ANONYMOUS", "client-id": None}, 35_000),
    ("a-user's", {"user": "ANONYMOUS"}, 40_000),
    ("of-all-users", {"user": None, "client-id": "of-all-users"}, 25_000),
    ("of-anybody", {"user": None, "client-id": None}, 20_000),
    ("default-user's", {"user": None}, 45_000),
    ("by-id", {"client-id": "by-id"}, 50_000),
    ("by-default", {"client-id": None}, 55_000),
)
"""The strongest first. Each is measured by one large request: twenty seconds' worth at 30 kB/s is a delay of ten."""
STRONGER = {"a-user's": ("own", "any"), "of-all-users": ("a-user's",), "default-user's": ("of-all-users", "of-anybody"),
            "by-id": ("default-user's",)}  # fmt: skip
"""What is removed before a level is measured, since it would apply."""


def test_each_level_delays_as_by_3_9(brokers: dict[str, str]) -> None:
    entities = {client: entity for client, entity, _ in LEVELS}
    for _, entity, rate in LEVELS:
        for servers in brokers.values():
            alter(servers, entity, producer_byte_rate=rate)
    time.sleep(APPLIED_S)
    found: dict[str, dict[str, int]] = {}
    for client, _, rate in LEVELS:
        for removed in STRONGER.get(client, ()):
            for servers in brokers.values():
                alter(servers, entities[removed], producer_byte_rate=None)
        if client in STRONGER:
            time.sleep(RING_S if client == "default-user's" else APPLIED_S)  # a user's sensor is that of its default
        found[client] = {name: delay_of(servers, client, SIZE) for name, servers in brokers.items()}
        print(f"{client:15} at {rate:6.0f} B/s: {found[client]}")
    for servers in brokers.values():
        for client in ("by-id", "by-default"):
            alter(servers, entities[client], producer_byte_rate=None)
    for client, _, rate in LEVELS:
        expected = SIZE / rate * 1000 - 10_000
        assert found[client]["ours"] == pytest.approx(expected, rel=0.1), f"{client}: another level applies"
        assert found[client]["ours"] == pytest.approx(found[client]["3.9.1"], rel=0.1), client


# ── byte rates

RATE, RECORD, COUNT, PER_SECOND = 200_000, 30_000, 400, 10
"""A minute's worth, by clients that want one and a half times what they may."""
UNTHROTTLED_S = COUNT / PER_SECOND
Run = Callable[[str], float]


def paced(work: Callable[[], object]) -> float:
    started = time.monotonic()
    for number in range(COUNT):
        time.sleep(max(started + number / PER_SECOND - time.monotonic(), 0))
        work()
    return time.monotonic() - started


def librdkafka_produces(servers: str) -> float:
    config = {"client.id": "librdkafka-produces", "message.timeout.ms": 300_000, "max.in.flight": 1}
    producer = Producer({"bootstrap.servers": servers, **config})

    def send() -> None:
        producer.produce(TOPIC, b"x" * RECORD)
        flush(producer, 120)

    return paced(send)


def librdkafka_consumes(servers: str) -> float:
    config = {
        "client.id": "librdkafka-consumes", "group.id": "librdkafka", "auto.offset.reset": "earliest",
        "queued.min.messages": 1, "fetch.queue.backoff.ms": 5, "fetch.message.max.bytes": 2 * RECORD,
        "fetch.max.bytes": 2 * RECORD, "message.max.bytes": 2 * RECORD, "socket.timeout.ms": 300_000,
        "session.timeout.ms": 300_000, "max.poll.interval.ms": 400_000,
    }  # fmt: skip
    consumer = Consumer({"bootstrap.servers": servers, **config})
    consumer.subscribe(["filled"])

    def read() -> None:
        assert next_message(consumer, timeout_s=120).error() is None

    read()
    try:
        return paced(read)
    finally:
        consumer.close()


def sarama(program: str, mode: str) -> Run:
    def run(servers: str) -> float:
        topic = TOPIC if mode == "produce" else "filled"
        arguments = (f"sarama-{mode}", mode, topic, str(COUNT), str(RECORD), str(PER_SECOND))
        command = [program, servers, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=patient_s(400), check=False)
        assert done.returncode == 0, done.stderr
        return float(json.loads(done.stdout)["seconds"])

    return run


def java_produces(servers: str) -> float:
    properties = ("client.id=java-produces", "batch.size=1", "max.in.flight.requests.per.connection=1")
    with KafkaTools("3.9.1") as tools:
        started = time.monotonic()
        tools(
            "org.apache.kafka.tools.ProducerPerformance", "--topic", TOPIC, "--num-records", str(COUNT),
            "--record-size", str(RECORD), "--throughput", str(PER_SECOND),
            "--producer-props", f"bootstrap.servers={servers}", "request.timeout.ms=300000",
            "delivery.timeout.ms=300000", *properties,
        )  # fmt: skip
        return time.monotonic() - started


def fill(servers: str) -> None:
    """A topic for consumers, by a client without a quota."""
    create_topic(servers, "filled")
    producer = Producer({"bootstrap.servers": servers, "client.id": "filling", "batch.num.messages": 1})
    for _ in range(COUNT + 50):
        producer.produce("filled", b"x" * RECORD)
    flush(producer, 120)


@pytest.mark.nightly  # it takes two minutes
def test_clients_are_held_to_a_rate_as_by_3_9(brokers: dict[str, str], tmp_path: Path) -> None:
    """Producers and consumers of three languages, all at the same time, each with a quota of its own."""
    program = str(tmp_path / "sarama")
    subprocess.run(["go", "build", "-o", program, "."], cwd=SARAMA, check=True, capture_output=True)
    runs: dict[str, Run] = {
        "librdkafka-produces": librdkafka_produces,
        "librdkafka-consumes": librdkafka_consumes,
        "java-produces": java_produces,
        "sarama-produce": sarama(program, "produce"),
        "sarama-consume": sarama(program, "consume"),
    }
    for servers in brokers.values():
        fill(servers)
        for client in runs:
            alter(servers, {"client-id": client}, producer_byte_rate=RATE, consumer_byte_rate=RATE)
    time.sleep(APPLIED_S)
    with ThreadPoolExecutor(len(runs) * len(brokers)) as threads:
        waiting = {(client, name): threads.submit(runs[client], brokers[name]) for client in runs for name in brokers}
        seconds = {key: each.result() for key, each in waiting.items()}
    for client in runs:
        theirs, ours = seconds[client, "3.9.1"], seconds[client, "ours"]
        kb = COUNT * RECORD / 1000
        print(
            f"{client:20} 3.9.1 {theirs:5.1f} s ({kb / theirs:5.1f} kB/s), ours {ours:5.1f} s ({kb / ours:5.1f} kB/s)"
        )
    for client in runs:
        theirs, ours = seconds[client, "3.9.1"], seconds[client, "ours"]
        assert ours > 1.1 * UNTHROTTLED_S, f"{client} was not throttled"
        assert ours == pytest.approx(theirs, rel=0.1), client


# ── others


IDLE_SHARE = 0.05
ROUNDS = 30


def test_a_throttled_client_costs_nothing(our_broker: BrokerProcess) -> None:
    servers, process = our_broker.bootstrap_servers, psutil.Process(our_broker.process.pid)
    alter(servers, {"client-id": "greedy"}, producer_byte_rate=20_000)
    time.sleep(APPLIED_S)
    with throttled_producer(servers):
        before, started = cpu_s(process), time.monotonic()
        time.sleep(1)
        assert cpu_s(process) - before <= IDLE_SHARE * (time.monotonic() - started)


@pytest.mark.nightly  # by itself: other work of the machine is in each figure
def test_a_throttled_client_slows_nobody(our_broker: BrokerProcess) -> None:
    """The p99 of small produces, in turns alone and beside a producer that is throttled all the time.

    Other work of the machine only makes a p99 larger, so the smallest of many are compared.
    """
    servers = our_broker.bootstrap_servers
    alter(servers, {"client-id": "greedy"}, producer_byte_rate=20_000)
    time.sleep(APPLIED_S)
    quiet, beside = [], []
    with connected(servers, "small") as channel:
        p99_of(channel)
        for _ in range(ROUNDS):
            quiet.append(p99_of(channel))
            with throttled_producer(servers):
                beside.append(p99_of(channel))
            if len(quiet) >= 4 and min(beside) <= 1.1 * min(quiet):
                break
    print(f"p99 alone {sorted(quiet)} ms, beside a throttled producer {sorted(beside)} ms")
    assert min(beside) <= 1.1 * min(quiet)


@contextmanager
def throttled_producer(servers: str) -> Iterator[None]:
    """A producer that has had a throttle time of half a minute, and has more to send."""
    delays: list[float] = []
    config = {"client.id": "greedy", "message.timeout.ms": 300_000, "log_level": 0}
    producer = Producer(
        {"bootstrap.servers": servers, **config, "throttle_cb": lambda e: delays.append(e.throttle_time)}
    )
    for _ in range(10):
        producer.produce(TOPIC, b"x" * 100_000)
    eventually(lambda: producer.poll(0.1) or any(delays))
    yield
    producer.purge()
    producer.flush(1)


def cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


def p99_of(channel: BlockingChannel) -> float:
    """Of 400 requests of 100 bytes, one after the other, in ms."""
    records = memory_records(2, CompressionType.NONE, [(None, b"x" * 100)], timestamp=int(time.time() * 1000))
    data = PartitionProduceData(index=0, records=records)
    topics = [TopicProduceData(name=TOPIC, partition_data=[data])]
    times = []
    for _ in range(400):
        started = time.monotonic()
        channel.exchange(ProduceRequest(acks=1, timeout_ms=30_000, topic_data=topics), 9)
        times.append((time.monotonic() - started) * 1000)
    return round(sorted(times)[-4], 2)
