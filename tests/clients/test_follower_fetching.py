"""Three brokers in three racks: consumers with a rack read from the replica that is in it (KIP-392)."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from typing import Protocol

import confluent_kafka
import pytest

from kafka_lite.consumer import KafkaConsumer
from kafka_lite.producer import KafkaProducer, ProducerRecord
from kafka_lite.testing.cluster import Cluster

RACKS = {0: "north", 1: "south", 2: "west"}
TIMEOUT_S = 60


class AnyConsumer(Protocol):
    """A consumer of one topic from its beginning, which shows committed records only."""

    def read(self, count: int) -> list[str]: ...

    def close(self) -> None: ...


class Librdkafka:
    def __init__(self, servers: str, topic: str, rack: str) -> None:
        self._consumer = confluent_kafka.Consumer(
            {
                "bootstrap.servers": servers,
                "client.rack": rack,
                "client.id": f"in-{rack}",
                "group.id": uuid.uuid4().hex,
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",
                "log_level": 0,
            }
        )
        self._consumer.subscribe([topic])

    def read(self, count: int) -> list[str]:
        values: list[str] = []
        deadline = time.monotonic() + TIMEOUT_S
        while len(values) < count and time.monotonic() < deadline:
            message = self._consumer.poll(0.1)
            if message is not None and not message.error():
                values.append((message.value() or b"").decode())
        return values

    def close(self) -> None:
        self._consumer.close()


class KafkaLite:
    def __init__(self, servers: str, topic: str, rack: str) -> None:
        self._consumer = KafkaConsumer(
            {
                "bootstrap.servers": servers,
                "client.rack": rack,
                "client.id": f"in-{rack}",
                "group.id": uuid.uuid4().hex,
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",
            }
        )
        self._consumer.subscribe([topic])

    def read(self, count: int) -> list[str]:
        values: list[str] = []
        deadline = time.monotonic() + TIMEOUT_S
        while len(values) < count and time.monotonic() < deadline:
            values += [(record.value or b"").decode() for record in self._consumer.poll(100)]
        return values

    def close(self) -> None:
        self._consumer.close()


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    overrides = {
        "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
        "min.insync.replicas": 2,
        "group.initial.rebalance.delay.ms": 0,
        "replica.lag.time.max.ms": 2000,
    }
    with Cluster(overrides, brokers=3, broker_overrides={id: {"broker.rack": rack} for id, rack in RACKS.items()}) as c:
        yield c


def produce(servers: str, topic: str, *values: str) -> None:
    """As records, committed or (those with a minus) aborted, of transactions."""
    with KafkaProducer({"bootstrap.servers": servers, "transactional.id": uuid.uuid4().hex}) as producer:
        producer.init_transactions()
        for value in values:
            producer.begin_transaction()
            producer.send(ProducerRecord(topic, value.encode()))
            producer.abort_transaction() if value.startswith("-") else producer.commit_transaction()


def fetched_from(cluster: Cluster, client_id: str) -> set[int | None]:
    """The brokers that this client has asked for records since the log of requests was cleared."""
    return {seen.broker_id for seen in cluster.requests.of("Fetch") if seen.client_id == client_id}


@pytest.mark.parametrize("new_consumer", [Librdkafka, KafkaLite])
@pytest.mark.parametrize("killed", ["the leader", "the broker that it reads from"])
def test_a_consumer_reads_in_its_rack_and_goes_on_when_a_broker_dies(
    cluster: Cluster, new_consumer: Callable[[str, str, str], AnyConsumer], killed: str
) -> None:
    topic = "orders"
    cluster.create_topic(topic, replication_factor=3)
    leader = cluster.leader_of(topic)
    near = next(broker for broker in cluster.brokers if broker is not leader)
    client_id = f"in-{RACKS[near.id]}"
    produce(cluster.bootstrap_servers, topic, "a", "-lost", "b")
    consumer = new_consumer(cluster.bootstrap_servers, topic, RACKS[near.id])
    assert consumer.read(2) == ["a", "b"]
    assert fetched_from(cluster, client_id) == {leader.id, near.id}, "the leader sends it to its rack"
    cluster.requests.clear()
    produce(cluster.bootstrap_servers, topic, "c", "-lost", "d")
    assert consumer.read(2) == ["c", "d"]
    assert fetched_from(cluster, client_id) == {near.id}
    dies = leader if killed == "the leader" else near
    dies.kill()
    produce(cluster.bootstrap_servers, topic, "e", "-lost", "f")
    assert consumer.read(2) == ["e", "f"]
    assert fetched_from(cluster, client_id) - {dies.id}
    consumer.close()
