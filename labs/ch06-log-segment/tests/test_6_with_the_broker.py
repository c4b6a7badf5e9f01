"""Task 6: the broker uses your segments, and confluent-kafka, an unmodified client, writes and reads them."""

import pytest

from kafka_learn.labs.clients import TOPIC, must_read, publish

MESSAGES = 3000
# Small segments and an entry every few batches, so that reads use many entries of many indexes.
SMALL = {"log.segment.bytes": "65536", "log.index.interval.bytes": "512", "log.index.size.max.bytes": "4096"}


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
    assert not too_long, f"larger than segment.bytes: {too_long}"
    broker.stop()


@pytest.mark.points(4, task=6)
def test_after_a_clean_restart(start_broker):
    """Stop the broker, start it, read and continue"""
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
    """Kill the broker, start it, read and continue"""
    broker = start_broker(**SMALL)
    publish(broker, 0, 1000)
    broker.kill()
    broker.start()
    must_read(broker, 0, 1000)
    must_read(broker, 777, 20)
    publish(broker, 1000, 200)
    must_read(broker, 990, 210)
    broker.stop()
