"""Task 6: the broker compacts a topic with your map, and confluent-kafka, an unmodified client, reads the result."""

import time

import pytest

from kafka_learn.labs.clients import TOPIC, create_topic, publish, read_all

KEYS = 40
MESSAGES = 4000
CLEANER = {"log.cleaner.backoff.ms": "50", "log.cleaner.dedupe.buffer.size": "1100000"}
LARGER_BATCHES = {"batch.num.messages": 20}
COMPACTED = {"cleanup.policy": "compact", "segment.bytes": "20000", "min.cleanable.dirty.ratio": "0.01"}


def keyed(number):
    """Message n has key n modulo KEYS."""
    return {"key": f"key-{number % KEYS}", "value": f"{number:06d}", "partition": 0}


def first_dirty_offset(broker):
    file = broker.log_dir / "cleaner-offset-checkpoint"
    lines = file.read_text().splitlines()[2:] if file.exists() else []
    return next((int(line.split()[2]) for line in lines if line.startswith(TOPIC)), 0)


def wait_until_clean(broker):
    """Wait until the cleaner has reached the active segment."""
    deadline = time.monotonic() + 60
    while True:
        active = max(int(file.stem) for file in broker.log_dir.glob(f"{TOPIC}-0/*.log"))
        if first_dirty_offset(broker) >= active:
            return
        assert time.monotonic() < deadline, (
            f"the log should be clean up to offset {active}, but is clean up to "
            f"{first_dirty_offset(broker)}: does the cleaner fail, or is it slow?\n{broker.log_tail()}"
        )
        time.sleep(0.1)


def must_be_compacted(broker, total):
    found = [(message.offset(), int(message.value())) for message in read_all(broker)[0]]
    moved = next(((offset, number) for offset, number in found if offset != number), None)
    assert moved is None, f"message {moved[1]} has moved to offset {moved[0]}: a message keeps its offset"
    there = {offset for offset, _ in found}
    lost = [number for number in range(total - KEYS, total) if number not in there]
    assert not lost, f"message {lost[0]} is the newest of key-{lost[0] % KEYS}, but it is missing: compaction lost it"
    active = max(int(file.stem) for file in broker.log_dir.glob(f"{TOPIC}-0/*.log"))
    clean = [offset for offset in there if offset < active]
    assert len(clean) <= KEYS, f"{len(clean)} messages of {KEYS} keys are in the clean part: older ones stayed"


@pytest.mark.points(6, task=6)
def test_the_newest_value_of_each_key_is_kept(start_broker):
    """Publish 4,000 messages with 40 keys, let the cleaner work, read"""
    broker = start_broker(**CLEANER)
    create_topic(broker, **COMPACTED)
    publish(broker, 0, MESSAGES, keyed, **LARGER_BATCHES)
    wait_until_clean(broker)
    must_be_compacted(broker, MESSAGES)
    broker.stop()


@pytest.mark.points(4, task=6)
def test_several_cleanings(start_broker):
    """Three rounds: every cleaning starts with an empty map"""
    broker = start_broker(**CLEANER)
    create_topic(broker, **COMPACTED)
    for first in (0, 1500, 3000):
        publish(broker, first, 1500, keyed, **LARGER_BATCHES)
        wait_until_clean(broker)
        must_be_compacted(broker, first + 1500)
    broker.stop()


@pytest.mark.points(5, task=6)
def test_after_kill_9(start_broker):
    """Kill the broker while it cleans, restart it, and continue"""
    broker = start_broker(**CLEANER)
    create_topic(broker, **COMPACTED)
    publish(broker, 0, 2000, keyed, **LARGER_BATCHES)
    broker.kill()
    broker.start()
    publish(broker, 2000, 2000, keyed, **LARGER_BATCHES)
    wait_until_clean(broker)
    must_be_compacted(broker, 4000)
    broker.stop()
