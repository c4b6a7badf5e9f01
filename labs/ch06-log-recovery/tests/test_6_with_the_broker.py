"""Task 6: the broker uses your recovery, is killed, and its files are damaged before it starts again."""

import pytest

from kafka_learn.labs.clients import TOPIC, log_end_offset, must_read, publish

SMALL = {"log.segment.bytes": "65536", "log.index.interval.bytes": "512", "log.index.size.max.bytes": "4096"}


def last_segment(broker):
    return max(broker.log_dir.glob(f"{TOPIC}-0/*.log"))


@pytest.mark.points(5, task=6)
def test_after_kill_9(start_broker):
    """Kill the broker twice: no acknowledged message is lost"""
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
    """Kill it, and truncate the last batch"""
    broker = start_broker(**SMALL)
    publish(broker, 0, 1000)
    broker.kill()
    file = last_segment(broker)
    file.write_bytes(file.read_bytes()[:-30])
    broker.start()
    end = log_end_offset(broker)
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
    end = log_end_offset(broker)
    first, second = int(files[1].stem), int(files[2].stem)
    assert first < end < second, f"the damage is between {first} and {second}: the log ends there, not at {end}"
    must_read(broker, 0, end)
    publish(broker, end, 500)
    must_read(broker, 0, end + 500)
    broker.stop()
