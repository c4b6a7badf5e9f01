"""Task 6: zombies at a broker with your code."""

import pytest
from confluent_kafka import KafkaException, Producer
from confluent_kafka import TopicPartition as Partition

from kafka_learn.labs.clients import TIMEOUT_S, consumer_of, create_topic
from kafka_lite.common.errors import KafkaError
from kafka_lite.producer import KafkaProducer, ProducerFencedError, ProducerRecord


def transactional(broker, name):
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "transactional.id": name})
    producer.init_transactions(TIMEOUT_S)
    return producer


def begin(producer, topic, *values):
    producer.begin_transaction()
    for value in values:
        producer.produce(topic, value.encode(), partition=0)
    assert producer.flush(TIMEOUT_S) == 0, "the broker has not acknowledged the records"


def is_fenced(zombie):
    """Whether its commit fails for good."""
    try:
        zombie.commit_transaction(TIMEOUT_S)
    except KafkaException as failure:
        return failure.args[0].fatal()
    return False


def read(broker, topic, isolation):
    settings = {"enable.partition.eof": True, "isolation.level": isolation}
    consumer, found = consumer_of(broker, **settings), []
    consumer.assign([Partition(topic, 0, 0)])
    while True:
        message = consumer.poll(TIMEOUT_S)
        assert message is not None, f"no message arrived within {TIMEOUT_S} s\n{broker.log_tail()}"
        if message.error():
            break
        found.append(message.value().decode())
    consumer.close()
    return " ".join(found)


def must_be_read(broker, topic, committed, uncommitted):
    for isolation, expected in (("read_committed", committed), ("read_uncommitted", uncommitted)):
        found = read(broker, topic, isolation)
        assert found == expected, f"{isolation}: {expected!r}, not {found!r}"


@pytest.mark.points(5, task=6)
def test_an_heir_takes_over(broker):
    """Two librdkafka producers with the same id"""
    create_topic(broker, "accounts")
    zombie = transactional(broker, "one")
    begin(zombie, "accounts", "a")
    heir = transactional(broker, "one")
    begin(heir, "accounts", "b")
    heir.commit_transaction(TIMEOUT_S)
    assert is_fenced(zombie), "the heir has the transactional id, but the zombie's commit has not failed for good"
    begin(heir, "accounts", "c")
    heir.commit_transaction(TIMEOUT_S)
    must_be_read(broker, "accounts", "b c", "a b c")


@pytest.mark.points(5, task=6)
def test_a_zombie_writes(broker):
    """Our producer sends another record after its transaction was aborted"""
    create_topic(broker, "late")
    configs = {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": "two"}
    with KafkaProducer(configs) as zombie, KafkaProducer(configs) as heir:
        zombie.init_transactions()
        zombie.begin_transaction()
        zombie.send(ProducerRecord("late", b"a", partition=0)).get()
        heir.init_transactions()
        with pytest.raises(KafkaError):
            zombie.send(ProducerRecord("late", b"too late", partition=0)).get()
        with pytest.raises(ProducerFencedError):
            zombie.abort_transaction()
        heir.begin_transaction()
        heir.send(ProducerRecord("late", b"b", partition=0)).get()
        heir.commit_transaction()
    must_be_read(broker, "late", "b", "a b")


@pytest.mark.points(5, task=6)
def test_epochs_survive_a_crash(start_broker, broker_settings):
    """kill -9 after the heir has started"""
    broker = start_broker(**broker_settings)
    create_topic(broker, "crash")
    zombie = transactional(broker, "three")
    begin(zombie, "crash", "a")
    heir = transactional(broker, "three")
    broker.kill()
    broker.start()
    assert is_fenced(zombie), (
        "the epoch of the heir is in __transaction_state: the zombie is fenced after a restart, too"
    )
    begin(heir, "crash", "b")
    heir.commit_transaction(TIMEOUT_S)
    must_be_read(broker, "crash", "b", "a b")
