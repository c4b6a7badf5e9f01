"""Records, queues and groups of queues."""

import pytest

from kafka_learn.labs.groups import GROUP_BROKER
from kafka_lite.common.serialization import ByteArrayDeserializer
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.record.record import TimestampType
from kafka_lite.streams.processor.internals.topology.source_node import SourceNode
from kafka_lite.streams.processor.timestamp_extractor import LogAndSkipOnInvalidTimestamp
from kafka_lite.streams.tasks.partition_group import NextRecord, PartitionGroup
from kafka_lite.streams.tasks.record_queue import RecordQueue

TOPICS = ("left", "right")


@pytest.fixture(scope="session")
def broker_settings():
    """Groups start without delay."""
    return GROUP_BROKER


@pytest.fixture
def records():
    """``records("left", 7, 3)``: records of partition 0 with these timestamps; offsets count from 0."""

    def make(topic, *timestamps):
        return [
            ConsumerRecord(topic, 0, offset, timestamp, TimestampType.CREATE_TIME, b"k", b"%d" % timestamp)
            for offset, timestamp in enumerate(timestamps)
        ]

    return make


@pytest.fixture
def queue_of():
    """``queue_of("left")``: an empty queue. Records with a negative timestamp are to be skipped."""

    def make(topic, extractor=None, deserialize=None):
        source = SourceNode(topic, [topic], ByteArrayDeserializer(), ByteArrayDeserializer())
        return RecordQueue(TopicPartition(topic, 0), source, extractor or LogAndSkipOnInvalidTimestamp(), deserialize)

    return make


@pytest.fixture
def group(queue_of):
    """The queues of two topics."""
    return PartitionGroup({TopicPartition(topic, 0): queue_of(topic) for topic in TOPICS})


@pytest.fixture
def taken():
    """``taken(group)``: topic and timestamp of each next record, until there is none."""

    def following_of(group):
        try:
            following = group.next_record()
        except IndexError as error:
            pytest.fail(
                f"next_record returns None when all queues are empty, and none that is empty is in the heap: {error}"
            )
        assert following is None or isinstance(following, NextRecord), f"return a NextRecord, not {following!r}"
        assert following is None or hasattr(following.queue, "partition"), "NextRecord has the record, then its queue"
        return following

    def take(group):
        found = []
        while (following := following_of(group)) is not None:
            found.append((following.queue.partition.topic, following.stamped.timestamp))
            assert len(found) < 1000, "next_record returns None when all queues are empty: yours goes on for ever"
        return found

    return take
