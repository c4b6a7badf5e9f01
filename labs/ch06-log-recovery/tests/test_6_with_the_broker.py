"""Task 6: the broker runs with your recovery, is killed, and its files are damaged before it starts again."""

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

TOPIC = "lab"
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


def consumer_end(broker):
    """The log end offset, as a client sees it."""
    consumer = consumer_of(broker)
    try:
        return consumer.get_watermark_offsets(TopicPartition(TOPIC, 0), timeout=20)[1]
    finally:
        consumer.close()


def must_read(broker, offset, count):
    """Reading from an offset gives that message and those behind it, with none missing."""
    got, want = read(broker, offset, count), [(number, number) for number in range(offset, offset + count)]
    first_wrong = next((pair for pair in zip(got, want, strict=False) if pair[0] != pair[1]), None)
    assert first_wrong is None, f"reading from {offset}: got (offset, number) {first_wrong[0]}, not {first_wrong[1]}"
    assert len(got) == count, f"reading from {offset}: {len(got)} of {count} messages came\n{broker.log_tail()}"


def last_segment(broker):
    return max(broker.log_dir.glob(f"{TOPIC}-0/*.log"))


@pytest.mark.points(5, task=6)
def test_after_kill_9(start_broker):
    """Kill the broker twice: nothing that was acknowledged is lost"""
    broker = start_broker(**SMALL)
    for first in (0, 1000):
        publish(broker, first, 1000)
        broker.kill()
        broker.start()
        must_read(broker, 0, first + 1000)
    publish(broker, 2000, 200)
    must_read(broker, 1990, 210)
    broker.stop()


@pytest.mark.points(5, task=6)
def test_a_torn_tail(start_broker):
    """Kill it, and tear the last batch"""
    broker = start_broker(**SMALL)
    publish(broker, 0, 1000)
    broker.kill()
    file = last_segment(broker)
    file.write_bytes(file.read_bytes()[:-30])
    broker.start()
    end = consumer_end(broker)
    assert 980 <= end < 1000, f"the last batch was torn: the log should end a little before 1000, not at {end}"
    must_read(broker, 0, end)
    publish(broker, end, 100)
    must_read(broker, end - 5, 105)
    broker.stop()


@pytest.mark.points(5, task=6)
def test_damage_in_an_old_segment_and_a_lost_index(start_broker):
    """Kill it, flip a bit in the second segment, lose an index"""
    broker = start_broker(**SMALL)
    publish(broker, 0, 2000)
    broker.kill()
    files = sorted(broker.log_dir.glob(f"{TOPIC}-0/*.log"))
    assert len(files) > 3, "2000 messages make several segments"
    data = bytearray(files[1].read_bytes())
    data[len(data) // 2] ^= 1
    files[1].write_bytes(data)
    files[0].with_suffix(".index").unlink()
    broker.start()
    end = consumer_end(broker)
    first, second = int(files[1].stem), int(files[2].stem)
    assert first < end < second, f"the damage lies between {first} and {second}: the log ends there, not at {end}"
    must_read(broker, 0, end)
    publish(broker, end, 500)
    must_read(broker, 0, end + 500)
    broker.stop()
