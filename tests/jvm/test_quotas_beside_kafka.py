"""Quotas that Kafka's tools set on our broker and ours reads, and throttle times beside real Kafka's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from kafka_lite.testing.cluster import Cluster
from kafka_lite.tools.main import main
from tests.support.eventually import eventually
from tests.support.kafka_tools import KafkaTools
from tests.support.patient_clients import answer, flush

pytestmark = [pytest.mark.jvm, pytest.mark.soak]

CONFIGS = "kafka.admin.ConfigCommand"
RATE = 1_048_576


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def modern() -> Iterator[KafkaTools]:
    with KafkaTools("3.9.1") as tools:
        yield tools


@pytest.fixture(scope="module")
def old() -> Iterator[KafkaTools]:
    with KafkaTools("0.10.2.2") as tools:
        yield tools


Ours = Callable[..., list[str]]


@pytest.fixture
def ours(capsys: pytest.CaptureFixture[str]) -> Ours:
    """Run our tool; returns the lines of its output."""

    def run(*arguments: str) -> list[str]:
        capsys.readouterr()
        assert main(["configs", *arguments]) == 0
        return capsys.readouterr().out.splitlines()

    return run


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(("Quota configs", "Configs", "Completed"))]


ENTITIES = [
    ("--entity-type", "clients", "--entity-name", "slow"),
    ("--entity-type", "clients", "--entity-default"),
    ("--entity-type", "users", "--entity-name", "a/b c"),
    ("--entity-type", "users", "--entity-name", "u", "--entity-type", "clients", "--entity-name", "c"),
    ("--entity-type", "users", "--entity-default", "--entity-type", "clients", "--entity-default"),
]
"""Of both generations."""


@pytest.mark.parametrize("entity", ENTITIES, ids=" ".join)
def test_3_9_and_ours_set_and_describe_the_same(
    cluster: Cluster, modern: KafkaTools, ours: Ours, entity: tuple[str, ...]
) -> None:
    where = ("--bootstrap-server", cluster.bootstrap_servers)
    rates = "producer_byte_rate=1048576,consumer_byte_rate=2097152,request_percentage=12.5"
    by_theirs = lines(modern(CONFIGS, *where, "--alter", *entity, "--add-config", rates))
    assert same_values(described(modern, *where, *entity), ours(*where, "--describe", *entity))
    node = node_of(cluster, entity)
    assert node == {"producer_byte_rate": "1048576", "consumer_byte_rate": "2097152", "request_percentage": "12.5"}
    delete = ("--delete-config", "producer_byte_rate,consumer_byte_rate,request_percentage")
    assert ours(*where, "--alter", *entity, *delete) == by_theirs
    assert ours(*where, "--alter", *entity, "--add-config", rates) == by_theirs
    assert node_of(cluster, entity) == node
    assert same_values(described(modern, *where, *entity), ours(*where, "--describe", *entity))
    modern(CONFIGS, *where, "--alter", *entity, *delete)
    assert node_of(cluster, entity) == {}


@pytest.mark.parametrize("entity", ENTITIES, ids=" ".join)
def test_0_10_2_and_ours_set_and_describe_the_same(
    cluster: Cluster, old: KafkaTools, ours: Ours, entity: tuple[str, ...]
) -> None:
    where = ("--zookeeper", cluster.zookeeper_connect)
    rates = "producer_byte_rate=1048576,consumer_byte_rate=2097152"
    by_theirs = lines(old(CONFIGS, *where, "--alter", *entity, "--add-config", rates))
    node = node_of(cluster, entity)
    assert node == {"producer_byte_rate": "1048576", "consumer_byte_rate": "2097152"}
    assert same_values(lines(old(CONFIGS, *where, "--describe", *entity)), ours(*where, "--describe", *entity))
    assert ours(*where, "--alter", *entity, "--delete-config", "consumer_byte_rate") == by_theirs
    assert same_values(lines(old(CONFIGS, *where, "--describe", *entity)), ours(*where, "--describe", *entity))
    old(CONFIGS, *where, "--alter", *entity, "--delete-config", "producer_byte_rate")
    assert node_of(cluster, entity) == {}


def test_3_9_limits_the_connections_of_an_address(cluster: Cluster, modern: KafkaTools, ours: Ours) -> None:
    where, address = ("--bootstrap-server", cluster.bootstrap_servers), ("--entity-type", "ips", "--entity-name")
    modern(CONFIGS, *where, "--alter", *address, "10.0.0.7", "--add-config", "connection_creation_rate=5")
    rates = cluster.server.socket_server.connection_rates
    eventually(lambda: rates.connection_rate_for_ip("10.0.0.7") == 5)
    expected = ["Quota configs for ip '10.0.0.7' are connection_creation_rate=5.0"]
    assert lines(modern(CONFIGS, *where, "--describe", "--entity-type", "ips")) == expected
    assert ours(*where, "--describe", *address, "10.0.0.7") == expected


def described(modern: KafkaTools, *arguments: str) -> list[str]:
    """The quotas that 3.9.1 describes. It then asks for a user's SCRAM credentials, too, and fails if it cannot."""
    _, output = modern.run(CONFIGS, "--describe", *arguments)
    return lines(output)


def node_of(cluster: Cluster, entity: tuple[str, ...]) -> dict[str, str]:
    """The configuration in ZooKeeper of the entity that the flags name."""
    names = {"slow": "slow", "a/b c": "a%2Fb%20c", "u": "u", "c": "c"}
    path = "/".join(
        names.get(flag, "<default>" if flag == "--entity-default" else flag)
        for flag in entity
        if flag not in ("--entity-type", "--entity-name")
    )
    return cluster.server.zk_client.get_entity_config(path)


def same_values(theirs: list[str], ours: list[str]) -> bool:
    """Whether the lines are the same, whatever the order of values: theirs is that of a hash table."""
    assert len(theirs) == 1, theirs
    return [sorted_values(line) for line in theirs] == [sorted_values(line) for line in ours]


def sorted_values(line: str) -> tuple[str, list[str]]:
    entity, _, values = line.partition(" are ")
    return entity, sorted(value.strip() for value in values.split(","))


# ── beside real Kafka


def test_librdkafka_is_delayed_as_by_3_9(real_kafka_3_9: str, modern: KafkaTools, cluster: Cluster) -> None:
    """The same 14 MB at 1 MB/s: the first ten seconds' worth is free, then delays begin, and grow alike."""
    seen = {}
    for name, servers in (("theirs", real_kafka_3_9), ("ours", cluster.bootstrap_servers)):
        entity = ("--entity-type", "clients", "--entity-name", "throttled")
        add = ("--add-config", f"producer_byte_rate={RATE}")
        modern(CONFIGS, "--bootstrap-server", servers, "--alter", *entity, *add)
        seen[name] = throttled_run(servers)
    (their_s, their_longest_ms), (our_s, our_longest_ms) = seen["theirs"], seen["ours"]
    print(f"delays of 3.9.1: {their_s:.2f} s, at most {their_longest_ms} ms; ours: {our_s:.2f} s, {our_longest_ms} ms")
    assert our_s == pytest.approx(their_s, rel=0.25, abs=1)  # a slow machine lets more of the window pass by itself
    assert our_longest_ms == pytest.approx(their_longest_ms, rel=0.25, abs=500)


def throttled_run(servers: str) -> tuple[float, float]:
    """Send the records with one request in flight. Returns seconds by the throttle times, and the longest one in ms."""
    admin = AdminClient({"bootstrap.servers": servers})
    answer(admin.create_topics([NewTopic("quotas", 1, 1)])["quotas"])
    delays: list[float] = []

    def on_throttle(event: Any) -> None:
        delays.append(event.throttle_time * 1000)

    producer = Producer(
        {
            "bootstrap.servers": servers,
            "client.id": "throttled",
            "throttle_cb": on_throttle,
            "max.in.flight": 1,
            "batch.size": 900_000,
            "linger.ms": 100,
            "queue.buffering.max.messages": 100_000,
            "message.timeout.ms": 300_000,
        }
    )
    for _ in range(14_000):
        producer.produce("quotas", b"x" * 1000)
    flush(producer, 300)
    return sum(delays) / 1000, max(delays)
