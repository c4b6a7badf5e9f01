"""Task 6: the broker compacts a topic with your map, and confluent-kafka, an unmodified client, reads what is left."""

import time

import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

TOPIC = "lab"
KEYS = 40
MESSAGES = 4000
CLEANER = {"log.cleaner.backoff.ms": "50", "log.cleaner.dedupe.buffer.size": "1100000"}
COMPACTED = {"cleanup.policy": "compact", "segment.bytes": "20000", "min.cleanable.dirty.ratio": "0.01"}


def create_topic(broker):
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    admin.create_topics([NewTopic(TOPIC, 1, 1, config=COMPACTED)])[TOPIC].result(20)


def publish(broker, first, count):
    """Message n has key n modulo KEYS; all acknowledged when this returns."""
    failed = []
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "batch.num.messages": 20})
    for number in range(first, first + count):
        producer.produce(
            TOPIC,
            key=f"key-{number % KEYS}",
            value=f"{number:06d}",
            partition=0,
            on_delivery=lambda error, _message: failed.append(error) if error else None,
        )
        producer.poll(0)
    assert producer.flush(30) == 0, f"the broker has not acknowledged all messages\n{broker.log_tail()}"
    assert not failed, f"the broker refused messages: {failed[0]}\n{broker.log_tail()}"


def first_dirty_offset(broker):
    file = broker.log_dir / "cleaner-offset-checkpoint"
    lines = file.read_text().splitlines()[2:] if file.exists() else []
    return next((int(line.split()[2]) for line in lines if line.startswith(TOPIC)), 0)


def wait_until_clean(broker):
    """Until the cleaner has come to the active segment."""
    deadline = time.monotonic() + 20
    while True:
        active = max(int(file.stem) for file in broker.log_dir.glob(f"{TOPIC}-0/*.log"))
        if first_dirty_offset(broker) >= active:
            return
        assert time.monotonic() < deadline, (
            f"the log should be clean up to offset {active}, it is up to {first_dirty_offset(broker)}: "
            f"does the cleaner fail, or is it slow?\n{broker.log_tail()}"
        )
        time.sleep(0.1)


def read_all(broker):
    """(offset, key, number) of every message that is left."""
    consumer = Consumer({
        "bootstrap.servers": broker.bootstrap_servers, "group.id": "lab", "enable.auto.commit": False,
        "enable.partition.eof": True,
    })  # fmt: skip
    found = []
    try:
        consumer.assign([TopicPartition(TOPIC, 0, 0)])
        while True:
            message = consumer.poll(20)
            assert message is not None, f"nothing came for 20 seconds\n{broker.log_tail()}"
            if message.error():
                assert message.error().code() == KafkaError._PARTITION_EOF, f"{message.error()}\n{broker.log_tail()}"
                return found
            found.append((message.offset(), message.key().decode(), int(message.value())))
    finally:
        consumer.close()


def must_be_compacted(broker, total):
    found = read_all(broker)
    moved = next(((offset, number) for offset, _, number in found if offset != number), None)
    assert moved is None, f"message {moved[1]} has moved to offset {moved[0]}: a message keeps its offset"
    there = {offset for offset, *_ in found}
    lost = [number for number in range(total - KEYS, total) if number not in there]
    assert not lost, f"message {lost[0]} is the newest of key-{lost[0] % KEYS}, and it is gone: compaction lost it"
    active = max(int(file.stem) for file in broker.log_dir.glob(f"{TOPIC}-0/*.log"))
    clean = [offset for offset in there if offset < active]
    assert len(clean) <= KEYS, f"{len(clean)} messages of {KEYS} keys are left in what is clean: older ones stayed"


@pytest.mark.points(6, task=6)
def test_of_each_key_the_newest_value_is_left(start_broker):
    """Publish 4,000 messages with 40 keys, let the cleaner work, read"""
    broker = start_broker(**CLEANER)
    create_topic(broker)
    publish(broker, 0, MESSAGES)
    wait_until_clean(broker)
    must_be_compacted(broker, MESSAGES)
    broker.stop()


@pytest.mark.points(4, task=6)
def test_round_after_round(start_broker):
    """Three rounds: every cleaning begins with an empty map"""
    broker = start_broker(**CLEANER)
    create_topic(broker)
    for first in (0, 1500, 3000):
        publish(broker, first, 1500)
        wait_until_clean(broker)
        must_be_compacted(broker, first + 1500)
    broker.stop()


@pytest.mark.points(5, task=6)
def test_after_kill_9(start_broker):
    """Kill the broker while it cleans, start it, and go on"""
    broker = start_broker(**CLEANER)
    create_topic(broker)
    publish(broker, 0, 2000)
    broker.kill()
    broker.start()
    publish(broker, 2000, 2000)
    wait_until_clean(broker)
    must_be_compacted(broker, 4000)
    broker.stop()
