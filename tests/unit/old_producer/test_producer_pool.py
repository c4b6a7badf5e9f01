"""Producers by broker id: what new metadata changes, and what it leaves open."""

from __future__ import annotations

import pytest

from kafka_lite.old_producer.producer_config import ProducerConfig
from kafka_lite.old_producer.producer_pool import ProducerPool, UnavailableProducerError
from kafka_lite.protocol.messages.api_00_produce import ProduceRequest, ProduceResponse
from kafka_lite.protocol.messages.api_03_metadata import MetadataResponseBroker
from tests.support.blocking_brokers import BlockingBrokers

REQUEST = ProduceRequest(acks=1, timeout_ms=1000)


@pytest.fixture
def pool(brokers: BlockingBrokers) -> ProducerPool:
    for port in (9001, 9002, 9003):
        brokers.answer(port, ProduceRequest, ProduceResponse())
    pool = ProducerPool(ProducerConfig({"metadata.broker.list": "127.0.0.1:9001"}))
    pool.update_producer([broker(1, 9001), broker(2, 9002)])
    return pool


def broker(number: int, port: int) -> MetadataResponseBroker:
    return MetadataResponseBroker(node_id=number, host="h", port=port)


def test_a_broker_is_connected_to_when_it_is_used(brokers: BlockingBrokers, pool: ProducerPool) -> None:
    assert brokers.opened == []
    pool.get_producer(2).send(REQUEST)
    assert brokers.opened == [9002]


def test_metadata_that_changes_nothing_keeps_the_connection(brokers: BlockingBrokers, pool: ProducerPool) -> None:
    pool.get_producer(2).send(REQUEST)
    pool.update_producer([broker(2, 9002)])
    pool.get_producer(2).send(REQUEST)
    assert brokers.opened == [9002]


def test_a_broker_that_moved_gets_a_new_producer_and_the_old_one_is_closed(
    brokers: BlockingBrokers, pool: ProducerPool
) -> None:
    old = pool.get_producer(2)
    old.send(REQUEST)
    pool.update_producer([broker(2, 9003)])
    assert brokers.open == 0
    pool.get_producer(2).send(REQUEST)
    assert brokers.opened == [9002, 9003]
    with pytest.raises(ConnectionError, match="closed"):
        old.send(REQUEST)


def test_a_broker_that_no_metadata_has_named_is_unavailable(pool: ProducerPool) -> None:
    with pytest.raises(UnavailableProducerError, match="broker id 7"):
        pool.get_producer(7)


def test_closing_closes_all(brokers: BlockingBrokers, pool: ProducerPool) -> None:
    for number in (1, 2):
        pool.get_producer(number).send(REQUEST)
    pool.close()
    assert brokers.open == 0
