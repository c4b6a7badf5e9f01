"""Consumers with fetch sessions: kafka-python's and ours. librdkafka has none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import kafka
import pytest
from confluent_kafka import Consumer
from confluent_kafka import TopicPartition as ConfluentTopicPartition

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer
from kafka_lite.testing import Cluster
from tests.support.eventually import eventually

PARTITIONS = 3
CLIENT_ID = "reader"

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")

Poll = Callable[[], list[bytes]]


@pytest.fixture
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A broker, with the settings of an indirect parameter."""
    with Cluster(getattr(request, "param", None)) as cluster:
        cluster.create_topic("t", partitions=PARTITIONS)
        yield cluster


@pytest.fixture
def kafka_python(cluster: Cluster) -> Iterator[Poll]:
    consumer = kafka.KafkaConsumer(
        bootstrap_servers=cluster.bootstrap_servers, client_id=CLIENT_ID, auto_offset_reset="earliest"
    )
    consumer.assign([kafka.TopicPartition("t", number) for number in range(PARTITIONS)])

    def poll() -> list[bytes]:
        return [record.value for records in consumer.poll(100).values() for record in records]

    yield poll
    consumer.close()


@pytest.fixture
def our_consumer(cluster: Cluster) -> Iterator[Poll]:
    settings = {"bootstrap.servers": cluster.bootstrap_servers, "client.id": CLIENT_ID, "auto.offset.reset": "earliest"}
    with KafkaConsumer(settings) as consumer:
        consumer.assign([TopicPartition("t", number) for number in range(PARTITIONS)])
        yield lambda: [record.value for record in consumer.poll(100)]


@pytest.fixture
def librdkafka(cluster: Cluster) -> Iterator[Poll]:
    settings = {"bootstrap.servers": cluster.bootstrap_servers, "client.id": CLIENT_ID, "group.id": "readers"}
    consumer = Consumer(settings | {"auto.offset.reset": "earliest"})
    consumer.assign([ConfluentTopicPartition("t", number, 0) for number in range(PARTITIONS)])
    yield lambda: [message.value() for message in consumer.consume(100, 0.1) if message.error() is None]
    consumer.close()


def fetches(cluster: Cluster) -> list[Any]:
    """The bodies of the reader's fetch requests."""
    return [seen.body for seen in cluster.requests.of("Fetch") if seen.client_id == CLIENT_ID]


def read(poll: Poll, count: int) -> set[bytes]:
    found: list[bytes] = []
    eventually(lambda: found.extend(poll()) or len(found) >= count)
    assert len(set(found)) == len(found), "a record was read twice"
    return set(found)


@pytest.mark.parametrize("client", ["kafka_python", "our_consumer"])
def test_a_consumer_names_only_what_has_changed(cluster: Cluster, client: str, request: pytest.FixtureRequest) -> None:
    poll: Poll = request.getfixturevalue(client)
    cluster.produce("t", *(f"{number}" for number in range(30)))
    assert read(poll, 30) == {b"%d" % number for number in range(30)}
    eventually(lambda: poll() == [] and fetches(cluster)[-1].session_epoch > 1 and not fetches(cluster)[-1].topics)
    cluster.produce("t", "one", partition=1)
    assert read(poll, 1) == {b"one"}
    sessions = {body.session_id for body in fetches(cluster) if body.session_id}
    assert len(sessions) == 1, "there is no reason for another session"
    named = [[part.partition for topic in body.topics for part in topic.partitions] for body in fetches(cluster)]
    assert len(named[0]) == PARTITIONS
    assert [] in named


@pytest.mark.parametrize("client", ["kafka_python", "our_consumer", "librdkafka"])
def test_a_consumer_goes_on_with_a_broker_that_has_forgotten_its_session(
    cluster: Cluster, client: str, request: pytest.FixtureRequest
) -> None:
    poll: Poll = request.getfixturevalue(client)
    cluster.produce("t", *(f"{number}" for number in range(10)))
    read(poll, 10)
    cluster.restart()
    cluster.produce("t", *(f"{number}" for number in range(10, 20)))
    assert read(poll, 10) == {b"%d" % number for number in range(10, 20)}


@pytest.mark.parametrize("cluster", [{"max.incremental.fetch.session.cache.slots": 0}], indirect=True)
@pytest.mark.parametrize("client", ["kafka_python", "our_consumer"])
def test_without_slots_consumers_name_everything(cluster: Cluster, client: str, request: pytest.FixtureRequest) -> None:
    poll: Poll = request.getfixturevalue(client)
    cluster.produce("t", *(f"{number}" for number in range(10)))
    read(poll, 10)
    assert {body.session_id for body in fetches(cluster)} == {0}


def test_a_consumer_that_closes_ends_its_session(cluster: Cluster) -> None:
    settings = {"bootstrap.servers": cluster.bootstrap_servers, "client.id": CLIENT_ID, "auto.offset.reset": "earliest"}
    cluster.produce("t", *(f"{number}" for number in range(30)), partition=0)
    with KafkaConsumer(settings | {"max.poll.records": 1}) as consumer:
        consumer.assign([TopicPartition("t", 0)])
        eventually(lambda: len(consumer.poll(100)) == 1)  # the others are buffered, so no fetch is in flight
    last = fetches(cluster)[-1]
    assert last.session_id > 0
    assert last.session_epoch == -1
