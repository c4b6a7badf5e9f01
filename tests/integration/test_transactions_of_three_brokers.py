"""Transactions over three brokers: whichever broker dies, a transaction is seen as a whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka import Producer

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.common.utils import java_abs, java_string_hash
from kafka_lite.coordinator.transaction.transaction_state import TransactionState
from kafka_lite.testing.cluster import Cluster
from kafka_lite.testing.cluster_broker import ClusterBroker
from tests.support.eventually import eventually
from tests.support.transactional_producers import PARTITIONS, read_with_librdkafka

TIMEOUT_S = 60
STATE_PARTITIONS = 3
SETTINGS = {
    "transaction.state.log.num.partitions": str(STATE_PARTITIONS),
    "offsets.topic.num.partitions": "3",
    "min.insync.replicas": "2",
    "default.replication.factor": "3",
}


@pytest.fixture(scope="module")
def running() -> Iterator[Cluster]:
    with Cluster(SETTINGS, brokers=3) as cluster:
        yield cluster


@pytest.fixture
def cluster(running: Cluster) -> Iterator[Cluster]:
    yield running
    running.start_broker()


def ready(cluster: Cluster, transactional_id: str) -> Producer:
    config = {"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": transactional_id, "log_level": 0}
    producer = Producer(config | {"transaction.timeout.ms": 60_000})
    producer.init_transactions(TIMEOUT_S)
    return producer


def write(producer: Producer, topic: str, value: str) -> None:
    """One record in each of three partitions, which are in the logs afterwards."""
    for partition in range(3):
        producer.produce(topic, f"{value}-{partition}", partition=partition)
    assert producer.flush(TIMEOUT_S) == 0


def expected(*values: str) -> list[bytes]:
    return sorted(f"{value}-{partition}".encode() for value in values for partition in range(3))


def committed(cluster: Cluster, topic: str) -> list[bytes]:
    return read_with_librdkafka(cluster.bootstrap_servers, topic, "read_committed", PARTITIONS)


def coordinator_of(cluster: Cluster, transactional_id: str) -> ClusterBroker:
    partition = java_abs(java_string_hash(transactional_id)) % STATE_PARTITIONS
    return cluster.leader_of("__transaction_state", partition)


def await_in_sync(cluster: Cluster, topic: str) -> None:
    for partition in range(3):
        for name in (topic, "__transaction_state"):
            cluster.wait_for_isr(name, partition, timeout_s=TIMEOUT_S)


def test_markers_are_written_by_all_leaders_into_all_replicas(cluster: Cluster) -> None:
    cluster.create_topic("spread", partitions=3, replication_factor=3)
    producer = ready(cluster, "spread")
    for number in range(4):
        producer.begin_transaction()
        write(producer, "spread", f"{number}")
        (producer.abort_transaction if number % 2 else producer.commit_transaction)(TIMEOUT_S)
    eventually(lambda: committed(cluster, "spread") == expected("0", "2"))
    for partition in range(3):
        logs = [broker.server.log_manager.get_log(TopicPartition("spread", partition)) for broker in cluster.brokers]
        eventually(lambda logs=logs: len({log.log_end_offset for log in logs if log is not None}) == 1)  # type: ignore[misc]


@pytest.mark.parametrize("commit", [True, False])
@pytest.mark.soak
def test_another_broker_ends_the_transactions_of_a_coordinator_that_dies(cluster: Cluster, commit: bool) -> None:
    topic = f"orphans-{commit}"
    cluster.create_topic(topic, partitions=3, replication_factor=3)
    producer = ready(cluster, topic)
    await_in_sync(cluster, topic)
    producer.begin_transaction()
    write(producer, topic, "first")
    coordinator_of(cluster, topic).kill()
    (producer.commit_transaction if commit else producer.abort_transaction)(TIMEOUT_S)
    producer.begin_transaction()
    write(producer, topic, "second")
    producer.commit_transaction(TIMEOUT_S)
    values = ("first", "second") if commit else ("second",)
    eventually(lambda: committed(cluster, topic) == expected(*values))
    cluster.start_broker()
    await_in_sync(cluster, topic)
    assert committed(cluster, topic) == expected(*values)


def test_a_decided_transaction_gets_its_markers_from_the_next_coordinator(cluster: Cluster) -> None:
    topic = "decided"
    cluster.create_topic(topic, partitions=3, replication_factor=3)
    producer = ready(cluster, topic)
    await_in_sync(cluster, topic)
    producer.begin_transaction()
    write(producer, topic, "decided")
    coordinator = coordinator_of(cluster, topic)
    others = [broker for broker in cluster.brokers if broker is not coordinator]
    faults = [broker.inject("WriteTxnMarkers").drop_request().always() for broker in others]
    producer.commit_transaction(TIMEOUT_S)
    metadata = coordinator.server.transactions.manager.get(topic)[1]
    assert metadata is not None
    assert metadata.state is TransactionState.PREPARE_COMMIT
    assert committed(cluster, topic) != expected("decided")
    coordinator.kill()
    for fault in faults:
        fault.remove()
    eventually(lambda: committed(cluster, topic) == expected("decided"))


def test_a_new_producer_fences_the_one_before_through_another_coordinator(cluster: Cluster) -> None:
    topic = "zombies"
    cluster.create_topic(topic, partitions=3, replication_factor=3)
    zombie = ready(cluster, topic)
    await_in_sync(cluster, topic)
    zombie.begin_transaction()
    write(zombie, topic, "zombie")
    coordinator_of(cluster, topic).kill()
    heir = ready(cluster, topic)
    heir.begin_transaction()
    write(heir, topic, "heir")
    heir.commit_transaction(TIMEOUT_S)
    with pytest.raises(Exception, match="fenced"):
        zombie.commit_transaction(TIMEOUT_S)
    eventually(lambda: committed(cluster, topic) == expected("heir"))
