"""Clients from 0.8 to today write to one log, and each reads what all others wrote, in either message format.

The Java client runs in five versions, beside the Scala client of 0.8; of the Python clients, librdkafka also runs
configured for a broker of 0.8. 0.9's Java consumer only writes: it looks for the coordinator of a group even for
assigned partitions.
"""

from __future__ import annotations

import asyncio
import itertools
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiokafka
import kafka
import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka import TopicPartition as ConfluentPartition

from kafka_lite.testing.cluster import Cluster
from tests.support.jvm import classpath, compile_java, java_command
from tests.support.patience import patient_s
from tests.support.patient_clients import consumed, flush

pytestmark = [
    pytest.mark.jvm,
    # kafka-python leaves the sockets of its bootstrap connections to the garbage collector.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning"),
]

TOPIC = "matrix"
COUNT = 20
"""Messages of each writer with each codec."""
FORMATS = ["0.10.2", "3.0"]
JAVA_VERSIONS = ["0.9.0.1", "0.10.2.2", "2.8.2", "3.9.1", "4.1.0"]
SLF4J = {"0.9.0.1": "org.slf4j:slf4j-nop:1.7.6"}
TODAYS_SLF4J = "org.slf4j:slf4j-nop:1.7.36"

Found = tuple[int, str, str]
"""Offset, key, value."""


def found(offset: int | None, key: bytes | None, value: bytes | None) -> Found:
    assert offset is not None
    assert key is not None
    assert value is not None
    return offset, key.decode(), value.decode()


@dataclass(frozen=True)
class Client:
    name: str
    codecs: list[str]
    write: Callable[[str, str, str], None]
    """Bootstrap server, codec, and what the values begin with."""
    read: Callable[[str, int], list[Found]] | None
    """Bootstrap server, and how many."""


class JavaProgram:
    """AnyClient or ScalaClient in a JVM of its own, one command after the other."""

    def __init__(self, source: str, coordinates: list[str], options: list[str]) -> None:
        jars = classpath(*coordinates)
        main = Path(source).stem
        classes = compile_java(Path(__file__).with_name(source), jars)
        command = java_command(main, classpath=[classes, *jars], options=options)
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def _run(self, *words: object) -> list[str]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(" ".join(map(str, words)) + "\n")
        stdin.flush()
        lines: list[str] = []
        for line in stdout:
            if line == "done\n":
                return lines
            lines.append(line.rstrip("\n"))
        raise AssertionError(f"{words} ended the program after {lines[-3:]}")

    def write(self, bootstrap: str, codec: str, tag: str) -> None:
        self._run("write", bootstrap, TOPIC, codec, tag, COUNT)

    def read(self, bootstrap: str, count: int) -> list[Found]:
        lines = [line.split(" ") for line in self._run("read", bootstrap, TOPIC, count)]
        return [(int(offset), key, value) for offset, key, value in lines]

    def close(self) -> None:
        with self._process:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait(patient_s(60))


def write_by_librdkafka(posing: dict[str, Any], bootstrap: str, codec: str, tag: str) -> None:
    errors: list[object] = []

    def on_delivery(error: object, _: object) -> None:
        if error is not None:
            errors.append(error)

    producer = Producer({"bootstrap.servers": bootstrap, "compression.type": codec, "linger.ms": 50, **posing})
    for i in range(COUNT):
        producer.produce(TOPIC, f"{tag}-{i}", f"k{i}", partition=0, on_delivery=on_delivery)
    flush(producer)
    assert errors == []


def read_by_librdkafka(posing: dict[str, Any], bootstrap: str, count: int) -> list[Found]:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "unused", "enable.auto.commit": False, **posing})
    consumer.assign([ConfluentPartition(TOPIC, 0, 0)])
    messages = consumed(consumer, count)
    consumer.close()
    return [found(message.offset(), message.key(), message.value()) for message in messages]


def write_by_kafka_python(bootstrap: str, codec: str, tag: str) -> None:
    producer = kafka.KafkaProducer(
        bootstrap_servers=bootstrap,
        compression_type=None if codec == "none" else codec,
        enable_idempotence=False,
        linger_ms=50,
    )
    sent = [producer.send(TOPIC, b"%s-%d" % (tag.encode(), i), b"k%d" % i, partition=0) for i in range(COUNT)]
    for future in sent:
        future.get(patient_s(20))
    producer.close()


def read_by_kafka_python(bootstrap: str, count: int) -> list[Found]:
    consumer = kafka.KafkaConsumer(bootstrap_servers=bootstrap, consumer_timeout_ms=int(1000 * patient_s(10)))
    partition = kafka.TopicPartition(TOPIC, 0)
    consumer.assign([partition])
    consumer.seek(partition, 0)
    records = [found(record.offset, record.key, record.value) for record in itertools.islice(consumer, count)]
    consumer.close()
    return records


def write_by_aiokafka(bootstrap: str, codec: str, tag: str) -> None:
    async def write() -> None:
        compression = None if codec == "none" else codec
        async with aiokafka.AIOKafkaProducer(
            bootstrap_servers=bootstrap, compression_type=compression, linger_ms=50
        ) as producer:
            sent = [
                await producer.send(TOPIC, f"{tag}-{i}".encode(), f"k{i}".encode(), partition=0) for i in range(COUNT)
            ]
            await asyncio.gather(*sent)

    asyncio.run(write())


def read_by_aiokafka(bootstrap: str, count: int) -> list[Found]:
    async def read() -> list[Found]:
        consumer = aiokafka.AIOKafkaConsumer(bootstrap_servers=bootstrap, enable_auto_commit=False)
        await consumer.start()
        partition = aiokafka.TopicPartition(TOPIC, 0)
        consumer.assign([partition])
        consumer.seek(partition, 0)
        async with asyncio.timeout(patient_s(30)):
            records = [await consumer.getone() for _ in range(count)]
        await consumer.stop()
        return [found(record.offset, record.key, record.value) for record in records]

    return asyncio.run(read())


def librdkafka(name: str, codecs: list[str], posing: dict[str, Any]) -> Client:
    return Client(
        name,
        codecs,
        lambda bootstrap, codec, tag: write_by_librdkafka(posing, bootstrap, codec, tag),
        lambda bootstrap, count: read_by_librdkafka(posing, bootstrap, count),
    )


ALL_CODECS = ["none", "gzip", "snappy", "lz4"]  # old clients do not support zstd: test_formats_end_to_end.py


def python_clients() -> list[Client]:
    believing = {"api.version.request": False, "broker.version.fallback": "0.8.2"}
    return [
        librdkafka("librdkafka", ALL_CODECS, {}),
        librdkafka("librdkafka-0.8.2", ["none", "gzip", "snappy"], believing),
        Client("kafka-python", ALL_CODECS, write_by_kafka_python, read_by_kafka_python),
        Client("aiokafka", ALL_CODECS, write_by_aiokafka, read_by_aiokafka),
    ]


@pytest.fixture(scope="module")
def clients() -> Iterator[list[Client]]:
    every = python_clients()
    # Jars of that age check the version of Java, or their snappy opens a package that Java now encapsulates.
    options = ["--add-opens=java.base/java.nio=ALL-UNNAMED", "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED"]
    with ExitStack() as stack:
        scala = JavaProgram("ScalaClient.java", ["org.apache.kafka:kafka_2.11:0.8.2.2"], options)
        stack.callback(scala.close)
        every.append(Client("scala-0.8.2.2", ["none", "gzip", "snappy"], scala.write, scala.read))
        for version in JAVA_VERSIONS:
            slf4j = SLF4J.get(version, TODAYS_SLF4J)
            java = JavaProgram("AnyClient.java", [f"org.apache.kafka:kafka-clients:{version}", slf4j], options)
            stack.callback(java.close)
            reads = None if version == "0.9.0.1" else java.read
            every.append(Client(f"java-{version}", ALL_CODECS, java.write, reads))
        yield every


@pytest.mark.parametrize("message_format", FORMATS)
def test_every_client_reads_every_other(clients: list[Client], message_format: str) -> None:
    with Cluster({"log.message.format.version": message_format, "log.retention.ms": "-1"}) as cluster:
        bootstrap = cluster.bootstrap_servers
        tags = []
        for client in clients:
            for codec in client.codecs:
                client.write(bootstrap, codec, f"{client.name}-{codec}")
                tags.append(f"{client.name}-{codec}")
        sent = [(f"k{i}", f"{tag}-{i}") for tag in tags for i in range(COUNT)]
        expected = [(offset, key, value) for offset, (key, value) in enumerate(sent)]
        readers = [client for client in clients if client.read]
        assert len(readers) == len(clients) - 1
        for client in readers:
            assert client.read is not None
            assert client.read(bootstrap, len(expected)) == expected, client.name
