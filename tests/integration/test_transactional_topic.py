"""The pipeline's topics with ``--exactly-once``: a batch that runs again, whoever died where, is there once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from kafka_lite.testing import Cluster
from pipeline.transactional_topic import Record, TransactionalTopic
from tests.support.patience import patient_s

TOPIC = "delays"
QUERY = "pipeline-delays-4711"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster() as cluster:
        yield cluster


@pytest.fixture
def servers(cluster: Cluster, request: pytest.FixtureRequest) -> str:
    cluster.create_topic(f"{TOPIC}-{request.node.name}")
    return cluster.bootstrap_servers


class Query:
    """A query's topic: ``start`` is what a new driver does, ``committed`` what a reader of committed records sees."""

    def __init__(self, servers: str, name: str) -> None:
        self._servers, self.topic, self.id = servers, f"{TOPIC}-{name}", f"{QUERY}-{name}"

    def start(self) -> TransactionalTopic:
        return TransactionalTopic(self._servers, self.topic, lambda: self.id)

    def producer(self) -> Producer:
        """As ``TransactionalTopic`` has it, to be killed between two of its steps."""
        producer = Producer({"bootstrap.servers": self._servers, "transactional.id": self.id})
        producer.init_transactions(60)
        producer.begin_transaction()
        return producer

    def values(self, isolation: str = "read_committed") -> list[bytes]:
        consumer = Consumer({
            "bootstrap.servers": self._servers, "group.id": "reader", "isolation.level": isolation,
            "enable.partition.eof": True,
        })  # fmt: skip
        consumer.assign([TopicPartition(self.topic, 0, 0)])
        found = []
        while (message := consumer.poll(patient_s(60))) is not None and message.error() is None:
            found.append(message.value())
        consumer.close()
        return found


@pytest.fixture
def query(servers: str, request: pytest.FixtureRequest) -> Query:
    return Query(servers, request.node.name)


def records(*values: str) -> list[Record]:
    return [Record("EWR", value, 1_372_677_600_000, [("event-id", value.encode())]) for value in values]


def test_a_batch_that_runs_again_is_there_once(query: Query) -> None:
    """Spark's checkpoint does not know that batch 5 was written: within a driver, and after its death."""
    topic = query.start()
    topic.publish(records("a", "b"), 4)
    topic.publish(records("c"), 5)
    topic.publish(records("c"), 5)
    again = query.start()
    again.publish(records("c"), 5)
    again.publish(records("d"), 7)
    assert query.values() == [b"a", b"b", b"c", b"d"]


def test_what_a_killed_driver_has_sent_without_a_commit_is_never_seen(query: Query) -> None:
    query.start().publish(records("a"), 0)
    killed = query.producer()
    killed.produce(query.topic, "b")
    killed.flush()
    topic = query.start()
    topic.publish(records("b", "c"), 1)
    assert query.values() == [b"a", b"b", b"c"]
    assert query.values("read_uncommitted") == [b"a", b"b", b"b", b"c"]


def test_a_driver_that_was_thought_dead_is_fenced(query: Query) -> None:
    zombie = query.start()
    zombie.publish(records("a"), 0)
    query.start().publish(records("b"), 1)
    with pytest.raises(KafkaException):
        zombie.publish(records("b"), 1)
    assert query.values() == [b"a", b"b"]


def test_a_batch_that_fails_half_way_is_aborted_and_runs_again(query: Query) -> None:
    def broken() -> Iterator[Record]:
        yield from records("a")
        raise ValueError("the task failed")

    topic = query.start()
    with pytest.raises(ValueError, match="the task failed"):
        topic.publish(broken(), 3)
    topic.publish(records("a", "b"), 3)
    assert query.values() == [b"a", b"b"]


def test_a_batch_without_records_has_no_transaction(query: Query) -> None:
    topic = query.start()
    topic.publish([], 0)
    topic.publish(records("a"), 0)
    assert query.values() == [b"a"]
