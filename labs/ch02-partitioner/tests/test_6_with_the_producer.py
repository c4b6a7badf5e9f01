"""Task 6: the producer uses your partitioner; librdkafka must choose the same partitions."""

import pytest

from kafka_learn.labs.clients import create_topic, publish, read_all, send
from kafka_lite.producer import ProducerRecord
from kafka_lite.record.records import batches

KEYS = [f"key-{number}" * (number % 4) for number in range(100)]


def batches_on_disk(broker, topic, partitions):
    logs = (broker.log_dir / f"{topic}-{partition}" for partition in range(partitions))
    return sum(len(list(batches(file.read_bytes()))) for log in logs for file in log.glob("*.log"))


@pytest.mark.points(6, task=6)
def test_librdkafka_chooses_the_same_partition(broker):
    """100 keys from our producer, and from confluent-kafka with partitioner=murmur2"""
    create_topic(broker, "keys", partitions=7)
    send(broker, (ProducerRecord("keys", b"ours", key.encode()) for key in KEYS))
    publish(broker, 0, 100, lambda n: {"key": KEYS[n], "value": "theirs"}, "keys", partitioner="murmur2")
    where = {b"ours": {}, b"theirs": {}}
    for partition, messages in read_all(broker, 7, "keys").items():
        for message in messages:
            where[message.value()][message.key() or b""] = partition
    differ = [key for key, partition in where[b"ours"].items() if where[b"theirs"].get(key) != partition]
    assert not differ, (
        f"{differ[0]!r}: partition {where[b'ours'][differ[0]]}, for librdkafka {where[b'theirs'][differ[0]]}"
    )


@pytest.mark.points(5, task=6)
def test_few_batches(broker):
    """30 records without a key, six partitions: one batch"""
    create_topic(broker, "sticky", partitions=6)
    send(broker, (ProducerRecord("sticky", b"%d" % n) for n in range(30)), **{"linger.ms": "60000"})
    count = batches_on_disk(broker, "sticky", 6)
    assert count == 1, f"30 small records sent at once share one batch; the broker got {count}: do they stick?"


@pytest.mark.points(4, task=6)
def test_many_batches(broker):
    """The same with RoundRobinPartitioner: six batches"""
    create_topic(broker, "round", partitions=6)
    name = "kafka_lite.producer.partitioner.RoundRobinPartitioner"
    configs = {"linger.ms": "60000", "partitioner.class": name}
    send(broker, (ProducerRecord("round", b"%d" % n) for n in range(30)), **configs)
    sizes = {partition: len(messages) for partition, messages in read_all(broker, 6, "round").items()}
    assert set(sizes.values()) == {5}, f"30 records, one partition after the other: five in each of six, not {sizes}"
    count = batches_on_disk(broker, "round", 6)
    assert count == 6, f"one batch for each of six partitions, not {count}"
