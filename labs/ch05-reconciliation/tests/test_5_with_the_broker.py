"""Task 5: groups of a real broker with your code."""

import time
from collections import Counter

import pytest
from confluent_kafka import Consumer

from kafka_learn.labs.clients import TIMEOUT_S, create_topic
from kafka_lite.consumer import ConsumerRebalanceListener, KafkaConsumer

PARTITIONS = 4


class Ours(ConsumerRebalanceListener):
    """A consumer of ours, which counts what it had to give up."""

    def __init__(self, broker, topic):
        self.revoked = 0
        self.consumer = KafkaConsumer(
            {
                "bootstrap.servers": broker.bootstrap_servers,
                "group.id": topic,
                "group.protocol": "consumer",
                "auto.offset.reset": "earliest",
            }
        )
        self.consumer.subscribe([topic], self)

    def on_partitions_revoked(self, partitions):
        self.revoked += len(partitions)

    def on_partitions_lost(self, partitions):
        self.revoked += len(partitions)

    def poll(self):
        self.consumer.poll(20)

    @property
    def owns(self):
        return sorted(each.partition for each in self.consumer.assignment)

    def close(self):
        self.consumer.close(5000)


class Theirs:
    """A consumer of confluent-kafka."""

    def __init__(self, broker, topic):
        self.consumer = Consumer(
            {
                "bootstrap.servers": broker.bootstrap_servers,
                "group.id": topic,
                "group.protocol": "consumer",
                "auto.offset.reset": "earliest",
            }
        )
        self.consumer.subscribe([topic])

    def poll(self):
        self.consumer.poll(0.02)

    @property
    def owns(self):
        return sorted(each.partition for each in self.consumer.assignment())

    def close(self):
        self.consumer.close()


def poll_until(broker, members, wanted):
    """Poll in turn until each of them has as many partitions as wanted; no partition may ever have two owners."""
    deadline = time.monotonic() + TIMEOUT_S
    while sorted(len(each.owns) for each in members) != sorted(wanted):
        assert time.monotonic() < deadline, (
            f"after {TIMEOUT_S} s the members have {[each.owns for each in members]}\n{broker.log_tail()}"
        )
        for each in members:
            each.poll()
        shared = [number for number, count in Counter(n for each in members for n in each.owns).items() if count > 1]
        assert not shared, f"partition {shared[0]} has two owners: {[each.owns for each in members]}"


@pytest.mark.points(5, task=5)
def test_a_third_member_joins(broker):
    """Four partitions, three consumers of ours"""
    create_topic(broker, "three", PARTITIONS)
    members = [Ours(broker, "three")]
    try:
        for wanted in ([4], [2, 2], [2, 1, 1]):
            if len(wanted) > 1:
                members.append(Ours(broker, "three"))
            poll_until(broker, members, wanted)
        revoked = sum(each.revoked for each in members)
        assert revoked == 3, f"two partitions move to the second member, one to the third: 3 in all, not {revoked}"
    finally:
        for each in members:
            each.close()


@pytest.mark.points(5, task=5)
def test_one_of_two_libraries_leaves(broker):
    """confluent-kafka's consumer leaves ours"""
    create_topic(broker, "two", PARTITIONS)
    ours, theirs = Ours(broker, "two"), Theirs(broker, "two")
    try:
        poll_until(broker, [ours, theirs], [2, 2])
        theirs.close()
        poll_until(broker, [ours], [4])
    finally:
        ours.close()


@pytest.mark.points(5, task=5)
def test_a_group_outlives_its_broker(start_broker, broker_settings):
    """The broker is killed and started again"""
    broker = start_broker(**broker_settings)
    create_topic(broker, "killed", PARTITIONS)
    members = [Ours(broker, "killed"), Ours(broker, "killed")]
    try:
        poll_until(broker, members, [2, 2])
        before = [each.owns for each in members]
        revoked = sum(each.revoked for each in members)
        broker.kill()
        broker.start()
        end = time.monotonic() + 1
        while time.monotonic() < end:
            for each in members:
                each.poll()
        poll_until(broker, members, [2, 2])
        assert [each.owns for each in members] == before, "the log has what each member has: nothing moves"
        assert sum(each.revoked for each in members) == revoked, "nobody had to give up anything because of a kill"
    finally:
        for each in members:
            each.close()
