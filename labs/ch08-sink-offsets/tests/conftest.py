"""The books of a task with two partitions."""

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.runtime.tasks.sink_offsets import SinkOffsets
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)


class Books:
    """``of.current`` and ``of.committed`` as plain numbers, partition 0 first."""

    def __init__(self):
        self.of = SinkOffsets()
        self.p0, self.p1 = P0, P1

    def at(self, first, second):
        """Both partitions have been put and committed up to here."""
        self.of.current = {P0: OffsetAndMetadata(first), P1: OffsetAndMetadata(second)}
        self.of.committed = dict(self.of.current)
        return self

    def put(self, first, second):
        """Both partitions have been put up to here."""
        self.of.current = {P0: OffsetAndMetadata(first), P1: OffsetAndMetadata(second)}
        return self

    def offsets(self, first=None, second=None):
        """What a task provides."""
        return {
            partition: OffsetAndMetadata(offset)
            for partition, offset in ((P0, first), (P1, second))
            if offset is not None
        }

    @staticmethod
    def numbers(offsets):
        """The offsets of both partitions."""
        return None if offsets is None else [offsets[each].offset if each in offsets else None for each in (P0, P1)]

    @property
    def current(self):
        return self.numbers(self.of.current)

    @property
    def committed(self):
        return self.numbers(self.of.committed)


@pytest.fixture
def books():
    """Nothing is assigned yet."""
    return Books()
