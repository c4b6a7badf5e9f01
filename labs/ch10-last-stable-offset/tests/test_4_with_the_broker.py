"""Task 4: a broker with your code; its ends for both kinds of readers."""

import pytest
from confluent_kafka import Producer

from kafka_learn.labs.clients import TIMEOUT_S, create_topic
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer


def transactional(broker, name):
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "transactional.id": name})
    producer.init_transactions(TIMEOUT_S)
    return producer


def begin(producer, topic, value):
    producer.begin_transaction()
    producer.produce(topic, value, partition=0)
    assert producer.flush(TIMEOUT_S) == 0, "the broker has not acknowledged the record"


def ends(broker, topic):
    """(high watermark, last stable offset), as consumers get them."""
    partition, found = TopicPartition(topic, 0), []
    for isolation in ("read_uncommitted", "read_committed"):
        with KafkaConsumer({"bootstrap.servers": broker.bootstrap_servers, "isolation.level": isolation}) as consumer:
            found.append(consumer.end_offsets([partition])[partition])
    return tuple(found)


def must_be(broker, topic, expected, why):
    found = ends(broker, topic)
    assert found == expected, f"{why}: high watermark and LSO are {expected}, not {found}"


@pytest.mark.points(7, task=4)
def test_commit(broker):
    """Open, then committed"""
    create_topic(broker, "one")
    producer = transactional(broker, "one")
    begin(producer, "one", b"a")
    must_be(broker, "one", (1, 0), "a transaction is open since 0")
    producer.commit_transaction(TIMEOUT_S)
    must_be(broker, "one", (2, 2), "its marker is at 1")


@pytest.mark.points(7, task=4)
def test_the_earliest_counts(broker):
    """Two transactions are open; the later one ends first"""
    create_topic(broker, "two")
    first, second = transactional(broker, "first"), transactional(broker, "second")
    begin(first, "two", b"a")
    begin(second, "two", b"b")
    second.commit_transaction(TIMEOUT_S)
    must_be(broker, "two", (3, 0), "the first transaction is still open")
    first.abort_transaction(TIMEOUT_S)
    must_be(broker, "two", (4, 4), "both have ended")


@pytest.mark.points(6, task=4)
def test_after_a_crash(start_broker, broker_settings):
    """kill -9 with a transaction open"""
    broker = start_broker(**broker_settings)
    create_topic(broker, "three")
    done, open_ = transactional(broker, "done"), transactional(broker, "open")
    begin(done, "three", b"a")
    done.commit_transaction(TIMEOUT_S)
    begin(open_, "three", b"b")
    broker.kill()
    broker.start()
    must_be(broker, "three", (3, 2), "after the restart the transaction is open since 2, as before")
