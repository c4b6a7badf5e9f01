"""Task 7: the broker uses your index, and confluent-kafka, an unmodified client, reads through it."""

import pytest
from confluent_kafka import TopicPartition

from kafka_learn.labs.clients import TOPIC, consumer_of, must_read, publish

MESSAGES = 3000
# Small segments and an entry every few batches, so that reads use many entries of many indexes.
SMALL = {"log.segment.bytes": "65536", "log.index.interval.bytes": "512", "log.index.size.max.bytes": "4096"}


@pytest.mark.points(6, task=7)
def test_reading_from_any_offset(start_broker):
    """Produce 3,000 messages, read from many offsets"""
    broker = start_broker(**SMALL)
    publish(broker, 0, MESSAGES)
    must_read(broker, 0, MESSAGES)
    for offset in range(7, MESSAGES - 10, 239):
        must_read(broker, offset, 5)
    entries = sum(file.stat().st_size for file in broker.log_dir.glob(f"{TOPIC}-0/*.index"))
    assert entries > 0, "the broker has not written a single index entry"
    broker.stop()


@pytest.mark.points(4, task=7)
def test_after_a_clean_restart(start_broker):
    """Stop the broker, start it, read and continue"""
    broker = start_broker(**SMALL)
    publish(broker, 0, 1000)
    assert broker.stop() == 0, f"a clean stop ends with exit code 0\n{broker.log_tail()}"
    sizes = [file.stat().st_size for file in broker.log_dir.glob(f"{TOPIC}-0/*.index")]
    assert all(size % 8 == 0 and size < 4096 for size in sizes), (
        f"closed indexes are trimmed to their entries, not {sizes}"
    )
    broker.start()
    must_read(broker, 613, 20)
    publish(broker, 1000, 500)
    must_read(broker, 0, 1500)
    broker.stop()


@pytest.mark.points(5, task=7)
def test_after_kill_9(start_broker):
    """Kill the broker, start it: indexes are rebuilt, nothing is lost"""
    broker = start_broker(**SMALL)
    publish(broker, 0, 1000)
    broker.kill()
    broker.start()
    must_read(broker, 0, 1000)
    must_read(broker, 777, 20)
    publish(broker, 1000, 200)
    must_read(broker, 990, 210)
    broker.stop()


@pytest.mark.points(5, task=7)
def test_searching_by_time(start_broker):
    """offsets_for_times, which uses both indexes"""
    broker = start_broker(**SMALL)
    publish(broker, 0, 1000)
    consumer = consumer_of(broker)
    try:
        for number in (0, 1, 499, 998):
            asked = TopicPartition(TOPIC, 0, 1_000_000 + number)
            found = consumer.offsets_for_times([asked], timeout=20)[0].offset
            assert found == number, (
                f"the first message not older than message {number} is this message itself, not {found}"
            )
    finally:
        consumer.close()
    broker.stop()
