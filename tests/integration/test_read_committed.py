"""Consumers of committed records, on a log with transactions as another coordinator would have written them."""

from __future__ import annotations

from collections.abc import Iterator

import confluent_kafka
import kafka
import pytest

from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.testing import Cluster
from tests.support.log_with_transactions import ALL, COMMIT, COMMITTED, END, STABLE, TP, end, write_history
from tests.support.patience import patient_s


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster({"transaction.partition.verification.enable": "false"}) as running:
        running.create_topic("t")
        yield running


def read_with_confluent_kafka(cluster: Cluster, isolation: str, count: int) -> list[bytes]:
    config = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g", "isolation.level": isolation}
    consumer = confluent_kafka.Consumer({**config, "enable.partition.eof": True, "enable.auto.commit": False})
    consumer.assign([confluent_kafka.TopicPartition("t", 0, 0)])
    found = []
    while True:
        message = consumer.poll(patient_s(60))
        assert message is not None, f"only {found}, no end"
        if message.error():
            break
        found.append(message.value())
    consumer.close()
    assert len(found) == count
    return found


def read_with_kafka_python(cluster: Cluster, isolation: str, count: int) -> list[bytes]:
    consumer = kafka.KafkaConsumer(bootstrap_servers=cluster.bootstrap_servers, isolation_level=isolation)
    consumer.assign([kafka.TopicPartition("t", 0)])
    consumer.seek_to_beginning()
    found = [next(consumer).value for _ in range(count)]
    assert consumer.poll(timeout_ms=200) == {}
    consumer.close()
    return found


def read_with_ours(cluster: Cluster, isolation: str, count: int) -> list[bytes]:
    with KafkaConsumer(
        {"bootstrap.servers": cluster.bootstrap_servers, "isolation.level": isolation, "auto.offset.reset": "earliest"}
    ) as consumer:
        consumer.assign([TP])
        found: list[bytes] = []
        while len(found) < count:
            found += [record.value for record in consumer.poll(1000).records(TP)]
        assert not consumer.poll(200)
        return found


@pytest.mark.parametrize("read", [read_with_confluent_kafka, read_with_kafka_python, read_with_ours])
def test_read_committed_ends_before_the_open_transaction(cluster: Cluster, read) -> None:
    write_history(cluster)
    assert read(cluster, "read_committed", 3) == COMMITTED
    assert read(cluster, "read_uncommitted", 7) == ALL
    end(cluster, 9, COMMIT)
    assert read(cluster, "read_committed", 5) == [*COMMITTED, b"open", b"behind"]


def test_the_end_for_read_committed_is_the_last_stable_offset(cluster: Cluster) -> None:
    write_history(cluster)
    ends = {}
    for isolation in ("read_committed", "read_uncommitted"):
        consumer = confluent_kafka.Consumer(
            {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g", "isolation.level": isolation}
        )
        ends[isolation] = consumer.get_watermark_offsets(confluent_kafka.TopicPartition("t", 0))[1]
        consumer.close()
    assert ends == {"read_committed": STABLE, "read_uncommitted": END}


def test_a_waiting_reader_gets_the_records_when_the_transaction_commits(cluster: Cluster) -> None:
    write_history(cluster)
    config = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g", "isolation.level": "read_committed"}
    consumer = confluent_kafka.Consumer({**config, "fetch.wait.max.ms": 4_000})
    consumer.assign([confluent_kafka.TopicPartition("t", 0, STABLE)])
    assert consumer.poll(1) is None
    fetches = len([request for request in cluster.requests if request.api.name == "FETCH"])
    end(cluster, 9, COMMIT)
    assert consumer.poll(patient_s(60)).value() == b"open"
    assert consumer.poll(patient_s(60)).value() == b"behind"
    consumer.close()
    assert fetches <= 2  # it waited in the broker instead of asking again and again


def test_a_restart_keeps_aborted_records_hidden(cluster: Cluster) -> None:
    write_history(cluster)
    cluster.restart()
    assert read_with_ours(cluster, "read_committed", 3) == COMMITTED
