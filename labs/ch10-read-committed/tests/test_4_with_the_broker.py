"""Task 4: the broker and our consumer with your code, and librdkafka on either side."""

import pytest
from confluent_kafka import Producer

from kafka_learn.labs.clients import TIMEOUT_S, consumer_of, create_topic
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer


def transactional(broker, name):
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "transactional.id": name})
    producer.init_transactions(TIMEOUT_S)
    return producer


def begin(producer, topic, *values):
    producer.begin_transaction()
    for value in values:
        producer.produce(topic, value.encode(), partition=0)
    assert producer.flush(TIMEOUT_S) == 0, "the broker has not acknowledged the records"


def read_with_ours(broker, topic):
    partition = TopicPartition(topic, 0)
    configs = {"isolation.level": "read_committed", "auto.offset.reset": "earliest"}
    with KafkaConsumer({"bootstrap.servers": broker.bootstrap_servers, **configs}) as consumer:
        consumer.assign([partition])
        end, found = consumer.end_offsets([partition])[partition], []
        while consumer.position(partition) < end:
            found += [record.value.decode() for record in consumer.poll(1000)]
        return " ".join(found)


def read_with_librdkafka(broker, topic):
    from confluent_kafka import TopicPartition as Partition

    consumer = consumer_of(broker, **{"enable.partition.eof": True, "isolation.level": "read_committed"})
    consumer.assign([Partition(topic, 0, 0)])
    found = []
    while True:
        message = consumer.poll(TIMEOUT_S)
        assert message is not None, f"no message arrived within {TIMEOUT_S} s\n{broker.log_tail()}"
        if message.error():
            break
        found.append(message.value().decode())
    consumer.close()
    return " ".join(found)


def end_all(topic, *producers):
    """Abort one more record of each, which waits until all markers of its last transaction are written."""
    for producer in producers:
        begin(producer, topic, "aborted at the end")
        producer.abort_transaction(TIMEOUT_S)


def must_be_read(broker, topic, expected, why):
    for reader in (read_with_ours, read_with_librdkafka):
        found = reader(broker, topic)
        assert found == expected, f"{reader.__name__}: {why}: {expected!r}, not {found!r}"


@pytest.mark.points(9, task=4)
def test_aborts_between_commits(broker):
    """a commit, b abort, c commit"""
    create_topic(broker, "committed")
    producer = transactional(broker, "one")
    begin(producer, "committed", "a")
    producer.commit_transaction(TIMEOUT_S)
    begin(producer, "committed", "b")
    producer.abort_transaction(TIMEOUT_S)
    begin(producer, "committed", "c")
    producer.commit_transaction(TIMEOUT_S)
    end_all("committed", producer)
    must_be_read(broker, "committed", "a c", "b was aborted")


@pytest.mark.points(8, task=4)
def test_behind_an_open_transaction(broker):
    """One producer commits while another's transaction is open"""
    create_topic(broker, "open")
    one, other = transactional(broker, "two"), transactional(broker, "three")
    begin(other, "open", "a")
    begin(one, "open", "b")
    one.commit_transaction(TIMEOUT_S)
    must_be_read(broker, "open", "", "a is in an open transaction, so b behind it must wait")
    other.commit_transaction(TIMEOUT_S)
    end_all("open", one, other)
    must_be_read(broker, "open", "a b", "both are committed")


@pytest.mark.points(8, task=4)
def test_after_a_crash(start_broker):
    """kill -9 after an abort and a commit, with a transaction open"""
    broker = start_broker()
    create_topic(broker, "crash")
    one, other = transactional(broker, "four"), transactional(broker, "five")
    begin(one, "crash", "a")
    one.abort_transaction(TIMEOUT_S)
    begin(one, "crash", "b")
    one.commit_transaction(TIMEOUT_S)
    end_all("crash", one)
    begin(other, "crash", "c")
    before = read_with_librdkafka(broker, "crash")
    broker.kill()
    broker.start()
    must_be_read(broker, "crash", before, "as before the crash")
    assert before == "b", f"a was aborted, and c is in an open transaction: b, not {before!r}"
