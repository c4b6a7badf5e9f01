"""Task 6: a broker coordinates with your code."""

import pytest
from confluent_kafka import Producer

from kafka_learn.labs.clients import TIMEOUT_S, create_topic
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer
from kafka_lite.coordinator.transaction.transaction_log import read_key, read_value
from kafka_lite.producer import KafkaProducer, ProducerFencedError, ProducerRecord

STATE_LOG = TopicPartition("__transaction_state", 0)


def transactional(broker, name, **settings):
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "transactional.id": name, **settings})
    producer.init_transactions(TIMEOUT_S)
    return producer


def begin(producer, topic, *values):
    producer.begin_transaction()
    for partition, value in enumerate(values):
        producer.produce(topic, value.encode(), partition=partition)
    assert producer.flush(TIMEOUT_S) == 0, "the broker has not acknowledged the records"


def states_until(broker, name, last, times=1):
    """The states of an id in ``__transaction_state``, read until ``last`` has come ``times`` times; without repeats."""
    found = []
    with KafkaConsumer({"bootstrap.servers": broker.bootstrap_servers, "auto.offset.reset": "earliest"}) as consumer:
        consumer.assign([STATE_LOG])
        while found.count(last) < times:
            for record in consumer.poll(500):
                state = read_value(record.value).state.title if record.value is not None else "none"
                if read_key(record.key) == name and found[-1:] != [state]:
                    found.append(state)
    return " ".join(found)


@pytest.mark.points(4, task=6)
def test_a_commit_and_an_abort(broker):
    """Two transactions of librdkafka over two partitions"""
    create_topic(broker, "accounts", 2)
    producer = transactional(broker, "one")
    begin(producer, "accounts", "-100", "+100")
    producer.commit_transaction(TIMEOUT_S)
    begin(producer, "accounts", "-7", "+7")
    producer.abort_transaction(TIMEOUT_S)
    states = states_until(broker, "one", "CompleteAbort")
    wanted = "Empty Ongoing PrepareCommit CompleteCommit Ongoing PrepareAbort CompleteAbort"
    assert states == wanted, f"__transaction_state: {wanted}; yours: {states}"


@pytest.mark.points(3, task=6)
def test_a_producer_that_does_nothing(broker):
    """A transaction ends by its timeout of a second"""
    create_topic(broker, "slow")
    configs = {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": "two", "transaction.timeout.ms": 1000}
    with KafkaProducer(configs) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(ProducerRecord("slow", b"too late", partition=0))
        states = states_until(broker, "two", "CompleteAbort")
        assert states == "Empty Ongoing PrepareAbort CompleteAbort", (
            f"the coordinator aborts after the timeout; __transaction_state: {states}"
        )
        with pytest.raises(ProducerFencedError):
            producer.commit_transaction()


@pytest.mark.points(3, task=6)
def test_the_coordinator_dies(start_broker, broker_settings):
    """kill -9 with a transaction open; the producer commits after the restart"""
    broker = start_broker(**broker_settings)
    create_topic(broker, "crash")
    producer = transactional(broker, "three")
    begin(producer, "crash", "a")
    broker.kill()
    broker.start()
    producer.commit_transaction(TIMEOUT_S)
    states = states_until(broker, "three", "CompleteCommit")
    assert states == "Empty Ongoing PrepareCommit CompleteCommit", (
        f"the restarted coordinator reads that the id is Ongoing, and commits; __transaction_state: {states}"
    )
