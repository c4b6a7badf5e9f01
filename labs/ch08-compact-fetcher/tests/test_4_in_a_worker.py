"""Task 4: a worker with your code copies topics of a real broker."""

import time

import pytest

from kafka_learn.labs.clients import TIMEOUT_S, create_topic
from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.mirror.maker.mirror_maker_commits import MirrorMakerCommits
from kafka_lite.mirror.maker.mirror_maker_producer import MirrorMakerProducer
from kafka_lite.mirror.maker.mirror_maker_state import MirrorMakerState
from kafka_lite.mirror.maker.mirror_maker_thread import MirrorMakerThread
from kafka_lite.mirror.ureplicator.worker.kafka_connector import KafkaConnector
from kafka_lite.mirror.ureplicator.worker.topic_mappings import TopicMappingHandler
from kafka_lite.mirror.ureplicator.worker.worker_consumer import WorkerConsumer
from kafka_lite.old_consumer.consumer_config import ConsumerConfig
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.producer.producer_record import ProducerRecord

COUNT = 40
PARTITIONS = 2


class Worker:
    """A worker that does what a test says, instead of Helix. It copies a topic to another one of the broker."""

    def __init__(self, broker, zookeeper, topic):
        self.topic = topic
        state = MirrorMakerState()
        self._producer = KafkaProducer({"bootstrap.servers": broker.bootstrap_servers})
        producer = MirrorMakerProducer(self._producer, state, sync=False, abort_on_send_failure=True)
        commits = MirrorMakerCommits(producer, state, SYSTEM_TIME)
        config = {"zookeeper.connect": zookeeper, "group.id": topic, "auto.offset.reset": "smallest",
                  "auto.commit.enable": "false", "consumer.timeout.ms": "100"}  # fmt: skip
        self._connector = KafkaConnector(ConsumerConfig(config), commits)
        handler = TopicMappingHandler({topic: f"copy-of-{topic}"})
        consumer = WorkerConsumer(self._connector)
        self._thread = MirrorMakerThread(0, consumer, producer, handler, commits, state, 600_000)
        self._thread.start()

    def add(self, partition):
        self._connector.add_topic_partition(TopicPartition(self.topic, partition))

    def delete(self, partition):
        self._connector.delete_topic_partition(TopicPartition(self.topic, partition))

    def stop(self):
        self._thread.shutdown()
        self._producer.close()


@pytest.fixture
def worker(broker, zookeeper_port):
    """``worker(topic)``: a worker of a topic with records in two partitions; all stop after the test."""
    workers = []

    def make(topic):
        if not workers:
            for name in (topic, f"copy-of-{topic}"):
                create_topic(broker, name, partitions=PARTITIONS)
            publish(broker, topic, range(COUNT))
        workers.append(Worker(broker, f"127.0.0.1:{zookeeper_port}", topic))
        return workers[-1]

    yield make
    for each in workers:
        each.stop()


def publish(broker, topic, numbers):
    """Even numbers go to partition 0, odd ones to partition 1."""
    with KafkaProducer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
        for number in numbers:
            producer.send(ProducerRecord(topic, b"%d" % number, partition=number % PARTITIONS))


def copies(broker, topic):
    """The numbers in the copy of a topic."""
    with KafkaConsumer({"bootstrap.servers": broker.bootstrap_servers}) as consumer:
        partitions = [TopicPartition(f"copy-of-{topic}", number) for number in range(PARTITIONS)]
        ends = consumer.end_offsets(partitions)
        consumer.assign(partitions)
        consumer.seek_to_beginning(partitions)
        found = []
        while len(found) < sum(ends.values()):
            found += [int(each.value) for each in consumer.poll(1000)]
        return found


def wait_for(broker, topic, numbers):
    """Until the copy has these numbers; returns all that it has."""
    deadline = time.monotonic() + TIMEOUT_S
    while not set(numbers) <= set(found := copies(broker, topic)):
        missing = sorted(set(numbers) - set(found))
        assert time.monotonic() < deadline, f"{missing} are not copied after {TIMEOUT_S} s"
        time.sleep(0.05)
    return found


@pytest.mark.points(5, task=4)
def test_a_partition_comes_while_another_is_copied(broker, worker):
    """Partition 0, and then partition 1, too"""
    ours = worker("comes")
    ours.add(0)
    found = wait_for(broker, "comes", range(0, COUNT, 2))
    assert all(number % 2 == 0 for number in found), f"partition 1 is not added yet, but the copy has {sorted(found)}"
    ours.add(1)
    found = wait_for(broker, "comes", range(COUNT))
    assert len(found) == COUNT, f"{len(found) - COUNT} records are copied twice"


@pytest.mark.points(5, task=4)
def test_a_partition_goes_while_another_is_copied(broker, worker):
    """Partition 0 goes; more is published to both"""
    ours = worker("goes")
    for partition in range(PARTITIONS):
        ours.add(partition)
    wait_for(broker, "goes", range(COUNT))
    ours.delete(0)
    publish(broker, "goes", range(COUNT, COUNT + 10))
    found = wait_for(broker, "goes", range(COUNT + 1, COUNT + 10, 2))
    later = sorted(number for number in found if number >= COUNT and number % 2 == 0)
    assert later == [], f"partition 0 was deleted, and {later} of it are copied"


@pytest.mark.points(5, task=4)
def test_a_partition_moves(broker, worker):
    """From one worker to another one, and back"""
    first = worker("moves")
    second = worker("moves")
    first.add(0)
    wait_for(broker, "moves", range(0, COUNT, 2))
    for number, (old, new) in enumerate([(first, second), (second, first)]):
        old.delete(0)
        new.add(0)
        published = range(COUNT + 10 * number, COUNT + 10 * (number + 1), 2)
        publish(broker, "moves", published)
        wait_for(broker, "moves", published)
    found = copies(broker, "moves")
    twice = sorted(number for number in set(found) if found.count(number) > 1)
    assert twice == [], f"each worker begins at the offset that the other one has committed, but {twice} come twice"
