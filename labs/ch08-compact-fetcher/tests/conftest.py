"""Partitions of a worker, and a stream of records of one of them."""

import threading
import time

import pytest

from kafka_learn.labs.groups import GROUP_BROKER
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.ureplicator.worker.compact_fetcher_maps import ManagerMaps
from kafka_lite.old_consumer.consumer_stats import ConsumerTopicStats
from kafka_lite.old_consumer.fetched_data_queue import FetchedDataQueue
from kafka_lite.old_consumer.partition_topic_info import PartitionTopicInfo
from kafka_lite.old_consumer.topic_count import ConsumerThreadId
from kafka_lite.server.broker_process import free_port

ZERO, ONE = TopicPartition("t", 0), TopicPartition("t", 1)


def an_info(partition=ZERO, offset=0):
    stats, thread = ConsumerTopicStats("c"), ConsumerThreadId("c", 0)
    return PartitionTopicInfo(*partition, FetchedDataQueue(9), offset, offset, stats, thread)


@pytest.fixture
def info():
    """A function that makes the state of a partition, by default t-0."""
    return an_info


@pytest.fixture
def zero():
    """t-0."""
    return ZERO


@pytest.fixture
def one():
    """t-1."""
    return ONE


@pytest.fixture
def owning():
    """A function that makes maps whose partitions are fetched."""

    def make(*partitions):
        maps = ManagerMaps()
        for partition in partitions:
            maps.add(an_info(partition))
        maps.begin_round()
        maps.leaders_found(partitions)
        return maps

    return make


class Stream:
    """An iterator over the records of t-0 from an offset on, as ConsumerIterator is one."""

    def __init__(self, offset):
        self.next_topic_info = an_info(offset=offset)

    def __next__(self):
        offset = self.next_topic_info.consume_offset
        self.next_topic_info.reset_consume_offset(offset + 1)
        return offset


@pytest.fixture
def stream():
    """Records from offset 7 on; each is its offset."""
    return Stream(7)


class GivingUp:
    """A thread that gives a partition up."""

    def __init__(self, hand, info):
        self.found = []
        self._thread = threading.Thread(target=lambda: self.found.append(hand.give_up(info)), daemon=True)
        self._thread.start()
        deadline = time.monotonic() + 5
        while not info.is_revoked and time.monotonic() < deadline:
            time.sleep(0.001)
        assert info.is_revoked, "give_up revokes the partition first, so that no further record of it is taken"

    def result(self, wait_s=5):
        """What it returned; None if it has not returned by then."""
        self._thread.join(wait_s)
        return self.found[0] if self.found else None


@pytest.fixture
def giving_up():
    """A function that starts such a thread."""
    return GivingUp


@pytest.fixture(scope="session")
def zookeeper_port():
    """The port of the broker's ZooKeeper."""
    return free_port()


@pytest.fixture(scope="session")
def broker_settings(zookeeper_port):
    """The worker finds the broker through ZooKeeper."""
    return {**GROUP_BROKER, "zookeeper.embedded.port": str(zookeeper_port)}
