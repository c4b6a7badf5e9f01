"""A real Kafka broker: 0.10.2 with our ZooKeeper, or a current version in KRaft mode."""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import cast

from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataResponse
from kafka_lite.protocol.messages.api_19_create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kafka_lite.server.broker_process import ServerProcess, free_port, write_properties
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from tests.support.eventually import eventually
from tests.support.jvm import classpath, java_command
from tests.support.patience import patient_s

OLD, LAST_OF_2, TODAYS, NEWEST = "0.10.2.2", "2.8.2", "3.9.1", "4.1.0"
JARS = {
    OLD: ("org.apache.kafka:kafka_2.11:0.10.2.2", "javax.xml.bind:jaxb-api:2.3.1"),
    LAST_OF_2: ("org.apache.kafka:kafka_2.13:2.8.2", "org.slf4j:slf4j-reload4j:1.7.36"),
    TODAYS: (
        "org.apache.kafka:kafka_2.13:3.9.1",
        "org.apache.kafka:kafka-tools:3.9.1",
        "org.slf4j:slf4j-reload4j:1.7.36",
    ),
    NEWEST: (
        "org.apache.kafka:kafka_2.13:4.1.0",
        "org.apache.kafka:kafka-tools:4.1.0",
        "org.slf4j:slf4j-simple:1.7.36",
    ),
}
HOST = "127.0.0.1"


@contextmanager
def real_kafka(version: str, directory: Path, settings: Mapping[str, str] | None = None) -> Iterator[str]:
    """Run it with its data below ``directory`` and further ``settings``; yields the address for clients."""
    with ExitStack() as stack:
        zookeeper = stack.enter_context(EmbeddedZooKeeper(directory / "zookeeper")) if version == OLD else None
        connect = zookeeper.connect_string if zookeeper else None
        yield stack.enter_context(_broker(version, directory, connect, settings))


@contextmanager
def old_kafka(directory: Path) -> Iterator[tuple[str, str]]:
    """0.10.2 with our ZooKeeper: yields the address for clients, and ZooKeeper's."""
    with (
        EmbeddedZooKeeper(directory / "zookeeper") as zookeeper,
        _broker(OLD, directory, zookeeper.connect_string) as bootstrap_servers,
    ):
        yield bootstrap_servers, zookeeper.connect_string


@contextmanager
def real_kafka_with_zookeeper(
    version: str, directory: Path, settings: Mapping[str, str], *, port: int | None = None
) -> Iterator[str]:
    """A current version with our ZooKeeper and further ``settings``; yields the address for clients.

    ``port``: that of its listener PLAINTEXT, if ``settings`` have listeners.
    """
    with (
        EmbeddedZooKeeper(directory / "zookeeper") as zookeeper,
        _broker(version, directory, zookeeper.connect_string, settings, port) as bootstrap_servers,
    ):
        yield bootstrap_servers


@contextmanager
def _broker(
    version: str,
    directory: Path,
    zookeeper_connect: str | None,
    further: Mapping[str, str] | None = None,
    own_port: int | None = None,
) -> Iterator[str]:
    port = own_port or free_port()
    settings = {
        "log.dirs": str(directory / "kafka"),
        "listeners": f"PLAINTEXT://{HOST}:{port}",
        "num.partitions": "3",
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "log.cleaner.dedupe.buffer.size": "10485760",
        "log.retention.ms": "-1",  # many tests have records with old timestamps, which would be deleted after 30 s
    }
    if zookeeper_connect is not None:
        settings |= {"broker.id": "0", "zookeeper.connect": zookeeper_connect}
    else:
        settings |= _kraft(port)
    properties = directory / "real-kafka.properties"
    write_properties(properties, settings | dict(further or {}))
    if zookeeper_connect is None:
        _format_storage(version, properties)
    command = java_command("kafka.Kafka", str(properties), classpath=classpath(*JARS[version]))
    with ServerProcess(command, port, directory / "real-kafka.log") as broker:
        _await_registration(port)
        yield broker.bootstrap_servers


def create_topics(bootstrap_servers: str, names: Sequence[str], partitions: int, configs: Mapping[str, str]) -> None:
    """Topics with configs of their own, on a broker of any version."""
    entries = [CreatableTopicConfig(name=name, value=value) for name, value in configs.items()]
    topics = [
        CreatableTopic(name=name, num_partitions=partitions, replication_factor=1, configs=entries) for name in names
    ]
    host, _, port = bootstrap_servers.rpartition(":")
    with BlockingChannel(host, int(port), read_timeout_ms=60_000) as channel:
        request = CreateTopicsRequest(topics=topics, timeout_ms=30_000)
        answer = cast(CreateTopicsResponse, channel.exchange(request, 1))  # the newest of 0.10.2
    assert [topic.error_code for topic in answer.topics] == [0] * len(names), answer


def _await_registration(port: int) -> None:
    """A broker of 0.10.2 accepts connections a little before its own metadata lists it."""

    def knows_of_itself() -> bool:
        with BlockingChannel(HOST, port, read_timeout_ms=60_000) as channel:
            return bool(cast(MetadataResponse, channel.exchange(MetadataRequest(topics=[]), 1)).brokers)

    eventually(knows_of_itself)


def _kraft(port: int) -> dict[str, str]:
    controller_port = free_port()
    return {
        "process.roles": "broker,controller",
        "node.id": "0",
        "controller.quorum.voters": f"0@{HOST}:{controller_port}",
        "controller.listener.names": "CONTROLLER",
        "group.initial.rebalance.delay.ms": "0",
        "listeners": f"PLAINTEXT://{HOST}:{port},CONTROLLER://{HOST}:{controller_port}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    }


def _format_storage(version: str, properties: Path) -> None:
    format_storage = ["format", "-t", uuid.uuid4().hex[:22], "-c", str(properties)]
    command = java_command("kafka.tools.StorageTool", *format_storage, classpath=classpath(*JARS[version]))
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=patient_s(120))
    assert done.returncode == 0, done.stdout + done.stderr
