"""Task 6: the broker runs with your segments, and confluent-kafka, an unmodified client, writes and reads them."""

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

TOPIC = "lab"
MESSAGES = 3000
# Small segments and an entry for every few batches, so that reading goes through many entries of many indexes.
SMALL = {"log.segment.bytes": "65536", "log.index.interval.bytes": "512", "log.index.size.max.bytes": "4096"}


def publish(broker, first, count):
    """Messages ``first`` … with their number as value, in small batches; all acknowledged when this returns."""
    failed = []
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "linger.ms": 0, "batch.num.messages": 10})
    for number in range(first, first + count):
        producer.produce(
            TOPIC,
            value=f"{number:06d}".encode() * 20,
            timestamp=1_000_000 + number,
            on_delivery=lambda error, _message: failed.append(error) if error else None,
        )
        producer.poll(0)
    waiting = producer.flush(30)
    assert not failed, f"the broker refused messages: {failed[0]}\n{broker.log_tail()}"
    assert waiting == 0, f"the broker has not acknowledged {waiting} messages\n{broker.log_tail()}"


def consumer_of(broker):
    settings = {"group.id": "lab", "enable.auto.commit": False, "enable.partition.eof": False}
    return Consumer({"bootstrap.servers": broker.bootstrap_servers, "auto.offset.reset": "error", **settings})


def read(broker, offset, count):
    """``count`` messages from ``offset`` on: pairs of offset and number."""
    consumer = consumer_of(broker)
    try:
        consumer.assign([TopicPartition(TOPIC, 0, offset)])
        messages = consumer.consume(count, timeout=20)
        errors = [message.error() for message in messages if message.error()]
        assert not errors, f"reading from offset {offset}: {errors[0]}\n{broker.log_tail()}"
        return [(message.offset(), int(message.value()[:6])) for message in messages]
    finally:
        consumer.close()


def must_read(broker, offset, count):
    """Reading from an offset gives that message and those behind it, with none missing."""
    got, want = read(broker, offset, count), [(number, number) for number in range(offset, offset + count)]
    first_wrong = next((pair for pair in zip(got, want, strict=False) if pair[0] != pair[1]), None)
    assert first_wrong is None, f"reading from {offset}: got (offset, number) {first_wrong[0]}, not {first_wrong[1]}"
    assert len(got) == count, f"reading from {offset}: {len(got)} of {count} messages came\n{broker.log_tail()}"


@pytest.mark.points(6, task=6)
def test_writing_and_reading_many_segments(start_broker):
    """Produce 3,000 messages, read from many offsets"""
    broker = start_broker(**SMALL)
    publish(broker, 0, MESSAGES)
    must_read(broker, 0, MESSAGES)
    for offset in range(7, MESSAGES - 10, 239):
        must_read(broker, offset, 5)
    segments = sorted(broker.log_dir.glob(f"{TOPIC}-0/*.log"))
    assert len(segments) > 5, f"{MESSAGES} messages make several segments of 64 KiB, not {len(segments)}: should_roll?"
    too_long = [file.name for file in segments if file.stat().st_size > 65536]
    assert not too_long, f"longer than segment.bytes: {too_long}"
    broker.stop()


@pytest.mark.points(4, task=6)
def test_after_a_clean_restart(start_broker):
    """Stop the broker, start it, read and go on"""
    broker = start_broker(**SMALL)
    publish(broker, 0, 1000)
    assert broker.stop() == 0, f"a clean stop ends with exit code 0\n{broker.log_tail()}"
    broker.start()
    must_read(broker, 613, 20)
    publish(broker, 1000, 500)
    must_read(broker, 0, 1500)
    broker.stop()


@pytest.mark.points(5, task=6)
def test_after_kill_9(start_broker):
    """Kill the broker, start it, read and go on"""
    broker = start_broker(**SMALL)
    publish(broker, 0, 1000)
    broker.kill()
    broker.start()
    must_read(broker, 0, 1000)
    must_read(broker, 777, 20)
    publish(broker, 1000, 200)
    must_read(broker, 990, 210)
    broker.stop()
