"""Task 5: confluent-kafka commits to a broker with your cache."""

import time

import pytest
from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from kafka_learn.labs.clients import TIMEOUT_S, consumer_of, create_topic
from kafka_learn.labs.groups import GROUP_BROKER

NOTHING = -1001
"""What confluent-kafka says when nothing is committed."""


def commit(consumer, topic, *offsets):
    """Commit for partitions 0, 1, …, and wait for the response."""
    places = [TopicPartition(topic, partition, offset) for partition, offset in enumerate(offsets)]
    failed = [each.error for each in consumer.commit(offsets=places, asynchronous=False) if each.error]
    assert not failed, f"the broker rejected the commit: {failed[0]}"


def committed(consumer, topic, partitions=1):
    """Retried while the coordinator is still loading, as after a start."""
    places = [TopicPartition(topic, partition) for partition in range(partitions)]
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        try:
            return [each.offset for each in consumer.committed(places, timeout=TIMEOUT_S)]
        except KafkaException as error:
            if time.monotonic() > deadline:
                pytest.fail(f"the broker does not return the committed offsets: {error}")
            time.sleep(0.05)


@pytest.mark.points(5, task=5)
def test_many_commits(broker):
    """300 commits, 100 of them asynchronous; back and forth"""
    create_topic(broker, "many", partitions=2)
    consumer = consumer_of(broker, **{"group.id": "many"})
    try:
        for number in range(200):
            commit(consumer, "many", number, 1000 - number)
        for number in range(100):
            consumer.commit(offsets=[TopicPartition("many", 0, 500 - number)], asynchronous=True)
        commit(consumer, "many", 42)
        found = committed(consumer, "many", 2)
    finally:
        consumer.close()
    assert found == [42, 801], f"42 and 801 were committed last, but the broker returns {found}"


@pytest.mark.points(5, task=5)
def test_kill_nine(start_broker):
    """Acknowledged commits survive kill -9"""
    broker = start_broker(**GROUP_BROKER)
    create_topic(broker, partitions=2)
    consumer = consumer_of(broker)
    try:
        commit(consumer, "lab", 50, 60)
        commit(consumer, "lab", 10)
        before = committed(consumer, "lab", 2)
        broker.kill()
        broker.start()
        after = committed(consumer, "lab", 2)
    finally:
        consumer.close()
    assert before == [10, 60], f"10 and 60 were committed, but the broker returns {before}"
    assert after == before, f"{before} were acknowledged; after kill -9 and a restart the broker returns {after}"


@pytest.mark.points(5, task=5)
def test_a_topic_is_deleted(broker):
    """Its offsets are deleted with it, and those of another topic stay"""
    for topic in ("gone", "stays"):
        create_topic(broker, topic)
    consumer = consumer_of(broker, **{"group.id": "deleting"})
    try:
        commit(consumer, "gone", 7)
        commit(consumer, "stays", 8)
        admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
        admin.delete_topics(["gone"])["gone"].result(TIMEOUT_S)
        deadline = time.monotonic() + TIMEOUT_S
        while (found := committed(consumer, "gone")) != [NOTHING] and time.monotonic() < deadline:
            time.sleep(0.05)
        assert found == [NOTHING], f"the topic is deleted, but the broker still returns {found}"
        assert committed(consumer, "stays") == [8], "the offset of the other topic has not changed"
    finally:
        consumer.close()
