"""A producer of the second version that comes back after its transaction has timed out, as chapter 10 tells it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.producer import KafkaProducer, ProducerFencedError, ProducerRecord, TransactionError
from kafka_lite.testing.cluster import Cluster
from tests.support.transactional_producers import read_committed

TOPIC = "t"
TIMEOUT_S = 60


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster({"transaction.abort.timed.out.transaction.cleanup.interval.ms": "100"}) as running:
        running.create_topic(TOPIC)
        yield running


@pytest.fixture
def producer(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[KafkaProducer]:
    """It has sent a record in a transaction, which has timed out and was aborted by the coordinator."""
    configs = {"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": request.node.name}
    with KafkaProducer(configs) as made:
        made.init_transactions()
        made.begin_transaction()
        send(made, b"lost")
        cluster.time.advance(seconds=TIMEOUT_S + 1)
        assert b"lost" not in read_committed(cluster.bootstrap_servers, TOPIC, 1)  # waits for the marker
        yield made


def send(producer: KafkaProducer, value: bytes) -> None:
    producer.send(ProducerRecord(TOPIC, value)).get()


def test_it_aborts_and_goes_on(cluster: Cluster, producer: KafkaProducer) -> None:
    with pytest.raises(ApiError) as refused:
        send(producer, b"late")
    assert refused.value.error is Errors.INVALID_PRODUCER_EPOCH
    with pytest.raises(TransactionError) as failure:
        producer.commit_transaction()
    assert failure.value.requires_abort
    producer.abort_transaction()
    producer.begin_transaction()
    send(producer, b"next")
    producer.commit_transaction()
    assert read_committed(cluster.bootstrap_servers, TOPIC, 1) == [b"next"]


def test_its_commit_is_refused(producer: KafkaProducer) -> None:
    with pytest.raises(ApiError) as refused:
        producer.commit_transaction()
    assert refused.value.error is Errors.INVALID_TXN_STATE


def test_it_is_fenced_if_another_producer_has_taken_over(cluster: Cluster, producer: KafkaProducer) -> None:
    names = ("bootstrap.servers", "transactional.id")
    with KafkaProducer({name: producer.config[name] for name in names}) as heir:
        heir.init_transactions()
        heir.begin_transaction()
        send(heir, b"of the heir")
        with pytest.raises(ProducerFencedError):
            producer.abort_transaction()
        heir.commit_transaction()
    assert b"of the heir" in read_committed(cluster.bootstrap_servers, TOPIC, 1)
